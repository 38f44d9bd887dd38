import { errorFields } from '../observability/logger.ts';
import type { Claimed, Lease } from '../spool/entry.ts';
import type { ShopId } from '../types/ids.ts';
import { attempt, type AttemptParts } from './attempt.ts';
import type { ShopPlatform } from './shop-platform.ts';

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
/** How late a retry may start, and how soon a command from another process (`queue retry`) is noticed. */
const LOOK_EVERY_MS = 250;
/** One shop leaves room for the others, however slow its platform is. */
const SHARE_OF_ONE_SHOP = 0.75;

export interface DispatcherOptions {
  /** Attempts under way at the most. */
  readonly concurrency: number;
  /** Nothing is claimed. */
  readonly paused?: boolean;
}

interface InFlight {
  readonly lease: Lease;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/**
 * Claims the heads of ready lanes and keeps up to `concurrency` attempts in flight, taking the
 * shops in turn. Woken by the intake; looks by itself four times a second.
 */
export class Dispatcher {
  readonly #parts: AttemptParts;
  #shops: ReadonlyMap<ShopId, ShopPlatform> = new Map();
  #options: DispatcherOptions;
  readonly #inFlight = new Map<string, InFlight>();
  /** Attempts without an outcome, in all and by shop. */
  #busy = 0;
  readonly #perShop = new Map<ShopId, number>();
  #stopping = false;
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #woken = false;
  #renewal: NodeJS.Timeout | undefined;

  constructor(shops: readonly ShopPlatform[], parts: AttemptParts, options: DispatcherOptions) {
    this.#parts = parts;
    this.#options = options;
    this.serve(shops, options);
  }

  /**
   * The shops from now on. What is in flight ends as it began; entries of a shop that is not among
   * them wait in the spool until it is.
   */
  serve(shops: readonly ShopPlatform[], options: DispatcherOptions): void {
    this.#shops = new Map(shops.map((shop) => [shop.settings.shopId, shop]));
    this.#options = options;
    this.wake();
  }

  start(): void {
    this.#renewal = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    this.#loop = this.#run();
  }

  /** Something may be ready. Cheap: any number of calls in a turn make one claim. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Claims nothing more, lets what is in flight finish for `graceMs`, then interrupts it. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#loop;
    const all = Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    const timer = setTimeout(() => {
      for (const { abort } of this.#inFlight.values()) abort.abort();
    }, graceMs);
    await all;
    clearTimeout(timer);
    clearInterval(this.#renewal);
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false;
      let claimed = 0;
      try {
        claimed = await this.#claimRound();
      } catch (error) {
        this.#parts.logger.error('dispatcher.claim_failed', errorFields(error));
      }
      if (claimed === 0) await this.#sleep();
    }
  }

  async #claimRound(): Promise<number> {
    if (this.#options.paused === true) return 0;
    let claimed = 0;
    for (const [shopId, known] of this.#shops) {
      const limit = this.#room(shopId, known);
      if (limit === 0) continue;
      const entries = await this.#parts.spool.claim(shopId, limit, LEASE_MS);
      // It may have a new key by now.
      const shop = this.#shops.get(shopId) ?? known;
      if (entries.length > 0 && shop.breakers.messages.isOpen) shop.breakers.messages.startProbe();
      for (const entry of entries) this.#begin(entry, shop);
      claimed += entries.length;
    }
    return claimed;
  }

  #room(shopId: ShopId, shop: ShopPlatform): number {
    const { concurrency } = this.#options;
    const free = concurrency - this.#busy;
    const share = this.#shops.size === 1 ? concurrency : Math.ceil(concurrency * SHARE_OF_ONE_SHOP);
    const own = share - (this.#perShop.get(shopId) ?? 0);
    return shop.breakers.messages.allowance(Math.max(0, Math.min(free, own)));
  }

  #begin(claimed: Claimed, shop: ShopPlatform): void {
    const { id, generation } = claimed.lease;
    const key = `${id}/${generation}`;
    const shopId = claimed.entry.shopId;
    const abort = new AbortController();
    this.#occupy(shopId, 1);
    // What only waits for its commit takes no room, so that the next claim shares that commit.
    let occupied = true;
    const release = () => {
      if (!occupied) return;
      occupied = false;
      this.#occupy(shopId, -1);
      this.wake();
    };
    const done = attempt(claimed, shop, this.#parts, abort.signal, release).finally(() => {
      release();
      this.#inFlight.delete(key);
      this.wake();
    });
    this.#inFlight.set(key, { lease: claimed.lease, abort, done });
  }

  #occupy(shopId: ShopId, change: 1 | -1): void {
    this.#busy += change;
    this.#perShop.set(shopId, (this.#perShop.get(shopId) ?? 0) + change);
  }

  async #renew(): Promise<void> {
    const leases = [...this.#inFlight.values()].map(({ lease }) => lease);
    if (leases.length === 0) return;
    try {
      const lost = await this.#parts.spool.renew(leases, LEASE_MS);
      for (const { id, generation } of lost)
        this.#inFlight.get(`${id}/${generation}`)?.abort.abort();
    } catch (error) {
      this.#parts.logger.error('dispatcher.renew_failed', errorFields(error));
    }
  }

  async #sleep(): Promise<void> {
    if (this.#woken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_EVERY_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
