import { isDeepStrictEqual } from 'node:util';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { Budget, OpenBudget } from '../../runtime/budgets.ts';
import type { ChatLimitOptions, ChatShop } from './shop.ts';

/** A limit was exceeded: try again after this many seconds. */
export interface Limited {
  readonly retryAfter: number;
}

/** All calls except messages; reading history, profiles and so on access the store too. */
const CALLS_PER_10S = 60;
const UPLOADS_PER_10_MIN = 60;
/** Enough for a long record with many pictures that is displayed at once. */
const DOWNLOADS_PER_MIN = 300;
/** Page reloads and unstable connections cause many more handshakes than sockets. */
const HANDSHAKES_PER_SOCKET_PER_MIN = 6;

/** Counts one; returns undefined if the rate is not exceeded. */
type Rate<Key> = (key: Key) => Promise<Limited | undefined>;

/**
 * The limits of one shop. Those of a network in an hour are budgets, which all gateways share; the
 * others are rates of this gateway.
 */
export class ChatLimits {
  readonly message: Rate<VisitorId>;
  readonly call: Rate<VisitorId>;
  readonly upload: Rate<VisitorId>;
  readonly download: Rate<VisitorId>;
  readonly handshake: Rate<string>;
  readonly #newVisitors: Budget;
  readonly #uploadBytes: Budget;

  constructor({ shopId, limits: options }: ChatShop, open: OpenBudget) {
    this.message = rate(options.messagesPer10s, 10);
    this.call = rate(CALLS_PER_10S, 10);
    this.upload = rate(UPLOADS_PER_10_MIN, 600);
    this.download = rate(DOWNLOADS_PER_MIN, 60);
    this.handshake = rate(options.socketsPerIp * HANDSHAKES_PER_SOCKET_PER_MIN, 60);
    this.#newVisitors = open(`visitors of ${shopId}`, hourly(options.newVisitorsPerHourPerIp));
    this.#uploadBytes = open(`uploads of ${shopId}`, hourly(options.uploadBytesPerHourPerIp));
  }

  newVisitor(network: string): Promise<Limited | undefined> {
    return spend(this.#newVisitors, network, 1);
  }

  /** Counts the maximum size of an upload; `giveBack` returns the rest. */
  uploadBytes(network: string, bytes: number): Promise<Limited | undefined> {
    return spend(this.#uploadBytes, network, bytes);
  }

  giveBack(network: string, bytes: number): Promise<void> {
    return this.#uploadBytes.refund(network, bytes);
  }
}

const hourly = (most: number) => ({ burst: most, perHour: most });

async function spend(budget: Budget, key: string, amount: number): Promise<Limited | undefined> {
  const waitMs = await budget.spend(key, amount);
  return waitMs === 0 ? undefined : { retryAfter: Math.ceil(waitMs / 1000) };
}

function rate(points: number, duration: number): Rate<string> {
  const limiter = new RateLimiterMemory({ points, duration });
  return async (key) => {
    try {
      await limiter.consume(key);
      return undefined;
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      return { retryAfter: Math.max(1, Math.ceil(error.msBeforeNext / 1000)) };
    }
  };
}

interface Kept {
  readonly options: ChatLimitOptions;
  readonly limits: ChatLimits;
}

/**
 * The rates of each shop. Counts are kept when the shops change, unless the shop's rates have
 * changed. Those of a removed shop are kept too, because its last requests still use them.
 */
export class ShopLimits {
  readonly #open: OpenBudget;
  readonly #byShop = new Map<ShopId, Kept>();

  constructor(shops: readonly ChatShop[], open: OpenBudget) {
    this.#open = open;
    this.serve(shops);
  }

  serve(shops: readonly ChatShop[]): void {
    for (const shop of shops) {
      const { shopId, limits: options } = shop;
      const kept = this.#byShop.get(shopId);
      if (isDeepStrictEqual(kept?.options, options)) continue;
      this.#byShop.set(shopId, { options, limits: new ChatLimits(shop, this.#open) });
    }
  }

  of({ shopId }: ChatShop): ChatLimits {
    const kept = this.#byShop.get(shopId);
    if (kept === undefined) throw new Error('a shop that the chat was never told of');
    return kept.limits;
  }
}
