import { isDeepStrictEqual } from 'node:util';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { ShopId, VisitorId } from '../../domain/ids.ts';
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
const UPLOAD_WINDOW_SECONDS = 3600;
/** The clock is read twice: when a window begins and when it is queried. */
const CLOCK_SLACK_MS = 100;
/** Page reloads and unstable connections cause many more handshakes than sockets. */
const HANDSHAKES_PER_SOCKET_PER_MIN = 6;

/** Counts one; returns undefined if the rate is not exceeded. */
type Rate<Key> = (key: Key) => Promise<Limited | undefined>;

/** The rates of one shop. */
export class ChatLimits {
  readonly message: Rate<VisitorId>;
  readonly call: Rate<VisitorId>;
  readonly upload: Rate<VisitorId>;
  readonly download: Rate<VisitorId>;
  readonly newVisitor: Rate<string>;
  readonly handshake: Rate<string>;
  readonly #uploadBytes;

  constructor(options: ChatLimitOptions) {
    this.message = rate(options.messagesPer10s, 10);
    this.call = rate(CALLS_PER_10S, 10);
    this.upload = rate(UPLOADS_PER_10_MIN, 600);
    this.download = rate(DOWNLOADS_PER_MIN, 60);
    this.newVisitor = rate(options.newVisitorsPerHourPerIp, 3600);
    this.handshake = rate(options.socketsPerIp * HANDSHAKES_PER_SOCKET_PER_MIN, 60);
    this.#uploadBytes = new RateLimiterMemory({
      points: options.uploadBytesPerHourPerIp,
      duration: UPLOAD_WINDOW_SECONDS,
    });
  }

  /** Counts the maximum size of an upload; `giveBack` returns the rest. */
  async uploadBytes(network: string, bytes: number): Promise<Limited | undefined> {
    const limited = await take(this.#uploadBytes, network, bytes);
    // The library also counts refused bytes, which would block smaller files for an hour.
    if (limited !== undefined) await this.giveBack(network, bytes);
    return limited;
  }

  /**
   * Returns counted bytes, unless their hour has passed: the current hour never counted them.
   * @param takenAt when `uploadBytes` counted them, in milliseconds since the epoch
   */
  async giveBack(network: string, bytes: number, takenAt = Date.now()): Promise<void> {
    const window = await this.#uploadBytes.get(network);
    if (window === null || window.msBeforeNext <= 0) return;
    const beganAt = Date.now() + window.msBeforeNext - UPLOAD_WINDOW_SECONDS * 1000;
    if (takenAt + CLOCK_SLACK_MS < beganAt) return;
    await this.#uploadBytes.reward(network, bytes);
  }
}

function rate(points: number, duration: number): Rate<string> {
  const limiter = new RateLimiterMemory({ points, duration });
  return (key) => take(limiter, key);
}

async function take(
  limiter: RateLimiterMemory,
  key: string,
  points = 1,
): Promise<Limited | undefined> {
  try {
    await limiter.consume(key, points);
    return undefined;
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return { retryAfter: Math.max(1, Math.ceil(error.msBeforeNext / 1000)) };
  }
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
  readonly #byShop = new Map<ShopId, Kept>();

  constructor(shops: readonly ChatShop[]) {
    this.serve(shops);
  }

  serve(shops: readonly ChatShop[]): void {
    for (const { shopId, limits: options } of shops) {
      const kept = this.#byShop.get(shopId);
      if (isDeepStrictEqual(kept?.options, options)) continue;
      this.#byShop.set(shopId, { options, limits: new ChatLimits(options) });
    }
  }

  of({ shopId }: ChatShop): ChatLimits {
    const kept = this.#byShop.get(shopId);
    if (kept === undefined) throw new Error('a shop that the chat was never told of');
    return kept.limits;
  }
}
