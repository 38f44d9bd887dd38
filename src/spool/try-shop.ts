import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import type { ShopId } from '../types/ids.ts';
import type { PartTrial, ShopTrial } from '../types/shop-trial.ts';
import { type HealthPart, PARTS, type ShopHealth, shopHealthOf } from './shop-health.ts';
import type { Spool } from './spool.ts';

const LOOK_EVERY_MS = 100;
/** The gateway takes requests and tells the store twice a second. */
const TOLD_AFTER_MS = 1200;
/** A canary that is refused again is not told of. */
const CANARY_MS = 5000;

export interface TrialOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

type Asked = Pick<Spool, 'shopHealth' | 'requestProbe' | 'hasten' | 'counts'>;

/**
 * Has the gateway try a shop at once, and waits for what comes of it. What waits for a time of its
 * own is due at once.
 * @throws the reason of the signal when that is aborted
 */
export async function tryShop(
  spool: Asked,
  shopId: ShopId,
  { clock, timeoutMs, signal }: TrialOptions,
): Promise<ShopTrial> {
  const askedAt = clock();
  const before = await shopHealthOf(spool, shopId);
  // First, so that the probe finds them.
  const released = await spool.hasten(shopId, 1);
  await spool.requestProbe(shopId);
  let troubled = new Set<HealthPart>(before === undefined ? [] : inTrouble(before));
  const alike = new Set(before?.refusedAlike.map(({ words }) => words));
  let now = before;
  for (;;) {
    await delay(LOOK_EVERY_MS, undefined, { ...(signal && { signal }) });
    now = await shopHealthOf(spool, shopId);
    const waitedMs = clock() - askedAt;
    if (now !== undefined) troubled = new Set([...troubled, ...inTrouble(now)]);
    const isDone = [...troubled].every((part) => outcomeOf(part, now, askedAt) !== 'no_answer');
    const hasCanaries = [...alike].some((words) => isAlike(now, words));
    if (waitedMs >= timeoutMs) break;
    if (isDone && waitedMs >= (hasCanaries ? CANARY_MS : TOLD_AFTER_MS)) break;
  }
  const parts = PARTS.filter((part) => troubled.has(part)).map((part) =>
    trialOf(part, now, askedAt),
  );
  const queued = (await spool.counts()).filter(
    (each) => each.shopId === shopId && each.state === 'queued',
  );
  return {
    parts,
    refusedAlike: [...alike].map((words) => ({ words, over: !isAlike(now, words) })),
    released,
    waiting: queued.reduce((sum, { count }) => sum + count, 0),
  };
}

const inTrouble = (health: ShopHealth): HealthPart[] =>
  PARTS.filter((part) => health[part].state !== 'steady');

const isAlike = (health: ShopHealth | undefined, words: string): boolean =>
  health?.refusedAlike.some((each) => each.words === words) === true;

/** Only a probe that began after the request counts; what is well again needs none. */
function outcomeOf(
  part: HealthPart,
  health: ShopHealth | undefined,
  askedAt: number,
): PartTrial['outcome'] {
  const { state, lastProbe } = health?.[part] ?? {};
  const probed = lastProbe && lastProbe.begunAt >= askedAt ? lastProbe.outcome : undefined;
  if (state === 'steady') return probed === 'nothing_to_try' ? probed : 'delivered';
  return probed ?? 'no_answer';
}

function trialOf(part: HealthPart, health: ShopHealth | undefined, askedAt: number): PartTrial {
  const outcome = outcomeOf(part, health, askedAt);
  const { lastProbe, nextProbeAt, reason = lastProbe?.reason } = health?.[part] ?? {};
  if (outcome === 'delivered' || outcome === 'nothing_to_try') return { part, outcome };
  return {
    part,
    outcome,
    ...(reason !== undefined && { reason }),
    ...(nextProbeAt !== undefined && { nextProbeAt }),
  };
}
