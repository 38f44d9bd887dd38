import type { Endpoint } from '../domain/endpoint.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { ShopId } from '../domain/ids.ts';
import { sentence } from '../domain/reasons.ts';
import { type EndpointHealth, ENDPOINTS, type ShopHealth, shopHealthOf } from './shop-health.ts';
import type { PartTrial, ShopTrial } from '../domain/shop-trial.ts';
import type { Spool } from './spool.ts';

const LOOK_EVERY_MS = 100;
/** By then a result is stored: the gateway reads requests and stores the health every 500 ms. */
const TOLD_AFTER_MS = 1200;
/** How long to wait for a canary: one that is refused again is not reported. */
const CANARY_MS = 5000;

export interface TrialOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

type Asked = Pick<Spool, 'shopHealth' | 'requestProbe' | 'hasten' | 'counts'>;

/**
 * Makes the gateway try a shop at once, and waits for the result. Entries that wait for their next
 * attempt become due at once.
 * @throws the signal's reason when it is aborted
 */
export async function tryShop(
  spool: Asked,
  shopId: ShopId,
  { timeoutMs, signal }: TrialOptions,
): Promise<ShopTrial> {
  const askedAt = performance.now();
  const before = await shopHealthOf(spool, shopId);
  // Before the request, so that the probe finds these entries.
  const released = await spool.hasten(shopId, 1);
  await spool.requestProbe(shopId);
  let troubled = new Set<Endpoint>(before === undefined ? [] : inTrouble(before));
  const alike = new Set(before?.refusedAlike.map(({ words }) => words));
  const trials = ENDPOINTS.map((part) => new Trial(part, before?.[part]));
  let now = before;
  for (;;) {
    await delay(LOOK_EVERY_MS, undefined, { ...(signal && { signal }) });
    now = await shopHealthOf(spool, shopId);
    const waitedMs = performance.now() - askedAt;
    if (now !== undefined) troubled = new Set([...troubled, ...inTrouble(now)]);
    for (const trial of trials) trial.see(now);
    const isDone = trials.every(
      ({ part, outcome }) => !troubled.has(part) || outcome !== 'no_answer',
    );
    const hasCanaries = [...alike].some((words) => isAlike(now, words));
    if (waitedMs >= timeoutMs) break;
    if (isDone && waitedMs >= (hasCanaries ? CANARY_MS : TOLD_AFTER_MS)) break;
  }
  const queued = (await spool.counts()).filter(
    (each) => each.shopId === shopId && each.state === 'queued',
  );
  return {
    parts: trials.filter(({ part }) => troubled.has(part)).map((trial) => trial.result()),
    refusedAlike: [...alike].map((words) => ({ words, over: !isAlike(now, words) })),
    released,
    waiting: queued.reduce((sum, { count }) => sum + count, 0),
  };
}

const inTrouble = (health: ShopHealth): Endpoint[] =>
  ENDPOINTS.filter((part) => health[part].state !== 'steady');

const isAlike = (health: ShopHealth | undefined, words: string): boolean =>
  health?.refusedAlike.some((each) => each.words === words) === true;

type Probed = NonNullable<EndpointHealth['lastProbe']>['outcome'];

/**
 * One endpoint from the request on. Only a probe that began after the request counts. Earlier
 * probes are recognized by their start time as it was stored before, because the gateway's clock
 * may differ from ours.
 */
class Trial {
  readonly part: Endpoint;
  #earlier: number | undefined;
  #isOneUnderWay: boolean;
  /** Of the probe that was under way at the request. */
  #endedWith: Probed | undefined;
  #now: EndpointHealth | undefined;

  constructor(part: Endpoint, before: EndpointHealth | undefined) {
    this.part = part;
    this.#now = before;
    this.#earlier = before?.lastProbe?.begunAt;
    this.#isOneUnderWay = before?.probing === true;
  }

  see(health: ShopHealth | undefined): void {
    this.#now = health?.[this.part];
    if (!this.#isOneUnderWay || this.#probe === undefined) return;
    // This probe began before the request.
    this.#endedWith = this.#probe.outcome;
    this.#earlier = this.#probe.begunAt;
    this.#isOneUnderWay = false;
  }

  get #probe(): EndpointHealth['lastProbe'] {
    const probe = this.#now?.lastProbe;
    return probe?.begunAt === this.#earlier ? undefined : probe;
  }

  /** An endpoint that has recovered needs no probe. */
  get outcome(): PartTrial['outcome'] {
    const probed = this.#isOneUnderWay ? undefined : this.#probe?.outcome;
    if (this.#now?.state === 'steady') {
      return (probed ?? this.#endedWith) === 'nothing_to_try' ? 'nothing_to_try' : 'delivered';
    }
    return probed ?? 'no_answer';
  }

  result(): PartTrial {
    const { part, outcome } = this;
    const { lastProbe, nextProbeAt, reason = lastProbe?.reason } = this.#now ?? {};
    if (outcome === 'delivered' || outcome === 'nothing_to_try') return { part, outcome };
    return {
      part,
      outcome,
      ...(reason !== undefined && { reason: sentence(reason) }),
      ...(nextProbeAt !== undefined && { nextProbeAt }),
    };
  }
}
