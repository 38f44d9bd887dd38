import { errorFields } from '../observability/logger.ts';
import {
  type Claimed,
  type ClaimRequest,
  type ClaimSource,
  type Lease,
  WAITS_FOR,
} from '../spool/entry.ts';
import type { ShopId } from '../domain/ids.ts';
import { attempt, type AttemptOptions, type AttemptParts } from './attempt.ts';
import { KeptOutcome } from './kept-outcome.ts';
import { Damage } from './damage.ts';
import { Probing, type ProbingParts } from './probing.ts';
import type { ShopPlatform } from './shop-platform.ts';
import { Watchdog } from './watchdog.ts';

const LEASE_MS = 45_000;
const RENEW_EVERY_MS = 10_000;
const LOOK_EVERY_MS = 250;
/** Once no attempt has begun for a while. */
const LOOK_AT_REST_MS = 2000;
const AT_REST_AFTER_MS = 10_000;
/** The largest share of the slots for one shop, so that a slow platform does not use all. */
const SHARE_OF_ONE_SHOP = 0.75;
/** The largest share of a shop's slots for retries, so that these do not displace others. */
const SHARE_OF_RETRIES = 0.5;

export interface DispatcherOptions {
  /** The maximum number of attempts in flight, probes not included. */
  readonly concurrency: number;
  /** No entry is claimed. */
  readonly paused?: boolean;
  /**
   * The polling interval: how late retries and commands of other processes may be noticed. Default 250 ms,
   * and two seconds when no attempt has begun for ten.
   */
  readonly lookEveryMs?: number;
}

type DispatcherParts = Omit<AttemptParts, 'damage'> & ProbingParts;

interface InFlight {
  readonly lease: Lease;
  readonly shopId: ShopId;
  /** The entry failed before, while other entries of its shop were delivered. */
  readonly isRetry: boolean;
  readonly abort: AbortController;
  /** Until then no other gateway can have claimed the entry. */
  readonly leased: { until: number };
  readonly done: Promise<void>;
}

/**
 * Claims the heads of ready lanes and keeps up to `concurrency` attempts in flight. Shops with the
 * fewest attempts in flight come first. It is woken when a message was accepted, and also polls every 250 ms. Each
 * shop's `Health` limits that shop's attempts in flight. Probes (`probing.ts`) do not count toward
 * the limit.
 */
export class Dispatcher {
  readonly #parts: AttemptParts & ProbingParts;
  readonly #probing: Probing;
  readonly #watchdog: Watchdog;
  #shops: ReadonlyMap<ShopId, ShopPlatform> = new Map();
  #options: DispatcherOptions;
  readonly #inFlight = new Map<string, InFlight>();
  /** Attempts without an outcome, in total and per shop; probes not included. */
  #busy = 0;
  readonly #perShop = new Map<ShopId, number>();
  readonly #lastClaimAt = new Map<ShopId, number>();
  #turn = 0;
  #stopping = false;
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #woken = false;
  /** When the last attempt began. */
  #begunAt = 0;
  /** When the leases in flight were last renewed, and when they are next due for renewal. */
  #renewedAt = 0;
  #renewAt = 0;
  #renewal: Promise<void> | undefined;
  /** Outcomes that the store has not taken yet. */
  readonly #kept = new Map<string, KeptOutcome>();
  readonly #stopped = new AbortController();

  constructor(shops: readonly ShopPlatform[], parts: DispatcherParts, options: DispatcherOptions) {
    this.#parts = { ...parts, damage: new Damage(parts.clock) };
    this.#options = options;
    this.#probing = new Probing(parts, (request) => this.#try(request));
    this.#watchdog = new Watchdog(parts, () => this.wake());
    this.serve(shops, options);
  }

  /**
   * Replaces the shops and the options. Attempts in flight finish with the old ones. Entries of a
   * shop that is not in the list wait in the spool until it is.
   */
  serve(shops: readonly ShopPlatform[], options: DispatcherOptions): void {
    this.#shops = new Map(shops.map((shop) => [shop.settings.shopId, shop]));
    this.#options = options;
    this.wake();
  }

  start(): void {
    this.#renewedAt = this.#parts.clock();
    this.#renewAt = this.#renewedAt + RENEW_EVERY_MS;
    this.#loop = this.#run();
  }

  /** Call it when an entry may be ready. Calls in one turn of the event loop share one claim. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Stops claiming, lets attempts in flight finish for up to `graceMs`, then aborts the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#loop;
    const timer = setTimeout(() => this.#interrupt(), graceMs);
    const renewal = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    await Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    await this.#probing.ended();
    clearTimeout(timer);
    clearInterval(renewal);
  }

  #interrupt(): void {
    this.#stopped.abort();
    for (const { abort } of this.#inFlight.values()) abort.abort();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false;
      let claimed = 0;
      try {
        claimed = await this.#round();
      } catch (error) {
        this.#parts.logger.error('dispatcher.claim_failed', errorFields(error));
      }
      if (claimed === 0) await this.#sleep();
    }
  }

  async #round(): Promise<number> {
    if (this.#parts.clock() >= this.#renewAt) await this.#renew();
    const shops = [...this.#shops.values()];
    if (this.#options.paused === true) return 0;
    // A failure of either must not stop deliveries.
    await this.#look('dispatcher.probing_failed', () => this.#probing.look(shops));
    await this.#look('dispatcher.watchdog_failed', () =>
      this.#watchdog.look(shops, (shopId) => this.#lastBusyAt(shopId)),
    );
    return this.#claim(shops);
  }

  async #look(event: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.logger.error(event, errorFields(error));
    }
  }

  /** When entries of the shop were last claimed; the current time if the shop has no free slot. */
  #lastBusyAt(shopId: ShopId): number {
    const own = this.#perShop.get(shopId) ?? 0;
    const allowance = this.#shops.get(shopId)?.health.messages.allowance ?? 0;
    const isFull = this.#busy >= this.#options.concurrency || own >= this.#share(allowance);
    return isFull ? this.#parts.clock() : (this.#lastClaimAt.get(shopId) ?? 0);
  }

  /** How many attempts of one shop may be in flight. */
  #share(allowance: number): number {
    const { concurrency } = this.#options;
    const share = this.#shops.size === 1 ? concurrency : Math.ceil(concurrency * SHARE_OF_ONE_SHOP);
    return Math.min(share, allowance);
  }

  async #claim(shops: readonly ShopPlatform[]): Promise<number> {
    const free = this.#options.concurrency - this.#busy;
    const asked = free > 0 ? this.#inTurn(shops, free) : [];
    if (asked.length === 0) return 0;
    const leased = this.#leaseFromNow();
    const answers = await this.#parts.spool.claim(
      asked.map(({ request }) => request),
      LEASE_MS,
      free,
      this.#renewedAt,
    );
    let claimed = 0;
    for (const [index, { shop }] of asked.entries()) {
      const isIdle = (this.#perShop.get(shop.settings.shopId) ?? 0) === 0;
      if (isIdle && answers[index]?.length === 0) shop.health.messages.caughtUp();
      for (const entry of answers[index] ?? []) {
        this.#lastClaimAt.set(entry.entry.shopId, this.#parts.clock());
        void this.#begin(entry, this.#current(shop), { counted: true, leased: { ...leased } });
        claimed += 1;
      }
    }
    return claimed;
  }

  /** Claim requests: shops with the fewest attempts in flight first; equal ones rotate. */
  #inTurn(
    shops: readonly ShopPlatform[],
    free: number,
  ): { readonly shop: ShopPlatform; readonly request: ClaimRequest }[] {
    this.#turn = (this.#turn + 1) % Math.max(1, shops.length);
    return [...shops.slice(this.#turn), ...shops.slice(0, this.#turn)]
      .map((shop) => ({ shop, own: this.#perShop.get(shop.settings.shopId) ?? 0 }))
      .toSorted((a, b) => a.own - b.own)
      .flatMap(({ shop, own }) => {
        const { state, allowance, room } = shop.health.messages;
        const limit = Math.min(free, this.#share(allowance) - own, room);
        if (limit <= 0) return [];
        const { shopId } = shop.settings;
        const mayRetry = state !== 'open';
        const share = this.#share(Infinity);
        const retries = Math.ceil(share * SHARE_OF_RETRIES) - this.#retrying(shopId);
        return [
          {
            shop,
            request: {
              ...{ shopId, limit, from: sourcesOf(shop) },
              ...(mayRetry && retries > 0 && { retries }),
            },
          },
        ];
      });
  }

  #retrying(shopId: ShopId): number {
    return [...this.#inFlight.values()].filter((each) => each.shopId === shopId && each.isRetry)
      .length;
  }

  /** The shop's current settings: its key may have changed since the claim was requested. */
  #current(shop: ShopPlatform): ShopPlatform {
    return this.#shops.get(shop.settings.shopId) ?? shop;
  }

  /** For probes: claims one entry and makes one attempt; false if there was none to claim. */
  async #try({
    shop,
    from,
    probe,
  }: {
    readonly shop: ShopPlatform;
    readonly from: readonly ClaimSource[];
    readonly probe?: AttemptOptions['probe'];
  }): Promise<boolean> {
    if (this.#stopping) return false;
    const { shopId } = shop.settings;
    const one = [{ shopId, limit: 1, from }];
    const leased = this.#leaseFromNow();
    const answers = await this.#parts.spool.claim(one, LEASE_MS, 1, this.#renewedAt);
    const [claimed] = answers[0] ?? [];
    if (claimed === undefined) return false;
    const options = { counted: false, leased, ...(probe && { probe }) };
    await this.#begin(claimed, this.#current(shop), options);
    return true;
  }

  /** Of a claim or renewal that begins now. The store counts from later on. */
  #leaseFromNow(): { until: number } {
    return { until: this.#parts.clock() + LEASE_MS };
  }

  #begin(
    claimed: Claimed,
    shop: ShopPlatform,
    {
      counted,
      leased,
      probe,
    }: {
      readonly counted: boolean;
      readonly leased: InFlight['leased'];
      readonly probe?: AttemptOptions['probe'];
    },
  ): Promise<void> {
    const { id, generation } = claimed.lease;
    const known = this.#kept.get(id);
    if (known !== undefined) {
      known.takeOver(claimed.lease, () => {
        void this.#begin(claimed, shop, { counted, leased, ...(probe && { probe }) });
      });
      return Promise.resolve();
    }
    const key = `${id}/${generation}`;
    const { shopId } = claimed.entry;
    const abort = new AbortController();
    this.#begunAt = this.#parts.clock();
    shop.health.messages.begun();
    if (this.#stopped.signal.aborted) abort.abort();
    // An attempt that awaits its commit has no slot, so that the next claim shares that commit.
    let occupies = counted;
    if (occupies) this.#occupy(shopId, 1);
    const onOutcome = () => {
      if (!occupies) return;
      occupies = false;
      this.#occupy(shopId, -1);
      this.wake();
    };
    const { spool, metrics, logger, random } = this.#parts;
    const kept = new KeptOutcome(spool, claimed.lease, {
      stopped: this.#stopped.signal,
      random,
      onKept: () => {
        this.#kept.set(id, kept);
        logger.warn('entry.outcome_kept', { entry: id });
        if (!counted || occupies) return;
        occupies = true;
        this.#occupy(shopId, 1);
      },
      onRefused: (error) => {
        metrics.alarms.inc({ alarm: 'outcome_refused' });
        logger.error('entry.outcome_refused', { entry: id, ...errorFields(error) });
      },
    });
    const confirmLease = async () => {
      if (this.#parts.clock() < leased.until) return;
      await this.#renew();
      if (this.#parts.clock() >= leased.until) abort.abort();
    };
    const options = {
      signal: abort.signal,
      confirmLease,
      onOutcome,
      kept,
      ...(probe && { probe }),
    };
    const done = attempt(claimed, shop, this.#parts, options).finally(() => {
      onOutcome();
      this.#kept.delete(id);
      kept.end();
      this.#inFlight.delete(key);
      this.wake();
    });
    // `attempts`, not `failures`: an entry that only failed with its shop is no retry.
    const isRetry = claimed.entry.attempts > 0;
    this.#inFlight.set(key, { lease: claimed.lease, shopId, isRetry, abort, leased, done });
    return done;
  }

  #occupy(shopId: ShopId, change: 1 | -1): void {
    this.#busy += change;
    this.#perShop.set(shopId, (this.#perShop.get(shopId) ?? 0) + change);
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#renewAll().finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  async #renewAll(): Promise<void> {
    const begunAt = this.#parts.clock();
    this.#renewAt = begunAt + RENEW_EVERY_MS;
    const { until } = this.#leaseFromNow();
    const renewed = [...this.#inFlight.values()];
    const leases = renewed.map(({ lease }) => lease);
    try {
      const lost = leases.length === 0 ? [] : await this.#parts.spool.renew(leases, LEASE_MS);
      this.#renewedAt = begunAt;
      for (const { leased } of renewed) leased.until = until;
      for (const { id, generation } of lost)
        this.#inFlight.get(`${id}/${generation}`)?.abort.abort();
    } catch (error) {
      this.#parts.logger.error('dispatcher.renew_failed', errorFields(error));
    }
  }

  async #sleep(): Promise<void> {
    if (this.#woken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#lookEveryMs());
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  #lookEveryMs(): number {
    const isAtRest = this.#parts.clock() - this.#begunAt > AT_REST_AFTER_MS;
    return this.#options.lookEveryMs ?? (isAtRest ? LOOK_AT_REST_MS : LOOK_EVERY_MS);
  }
}

/**
 * Claim order: first entries that waited for the shop or for its media, which are older, then
 * untried ones. Retries of entries that failed on their own come last; `retries` limits them.
 */
function sourcesOf({ health: { messages, media } }: ShopPlatform): ClaimSource[] {
  if (messages.state === 'open') return ['untried'];
  return [
    ...(messages.state === 'steady' ? [WAITS_FOR.shop] : []),
    ...(media.state === 'steady' ? [WAITS_FOR.media] : []),
    'untried',
  ];
}
