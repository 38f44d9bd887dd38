import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Wrong passwords in `WINDOW_SECONDS`, from one address and from all of them. */
const PER_ADDRESS = 10;
const IN_ALL = 200;
const WINDOW_SECONDS = 600;
const ONE = 'all';
/** Addresses from which somebody signed in of late: what others try does not lock them out. */
const MAX_KNOWN = 1000;

/** How often a password may be guessed. A right one costs nothing. */
export class LoginLimits {
  readonly #perAddress = new RateLimiterMemory({ points: PER_ADDRESS, duration: WINDOW_SECONDS });
  readonly #inAll = new RateLimiterMemory({ points: IN_ALL, duration: WINDOW_SECONDS });
  readonly #known = new Set<string>();

  /**
   * Counts one try before it is made, so that many at once are not looked at before the first has
   * failed. Answers the seconds to wait when there have been too many.
   */
  async take(address: string): Promise<number | undefined> {
    const wait = await consume(this.#perAddress, address);
    if (wait !== undefined) return wait;
    return this.#known.has(address) ? undefined : consume(this.#inAll, ONE);
  }

  /** The password was right: the try does not count. */
  async giveBack(address: string): Promise<void> {
    await this.#perAddress.reward(address);
    if (!this.#known.has(address)) await this.#inAll.reward(ONE);
    this.#known.delete(address);
    this.#known.add(address);
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
  }
}

async function consume(limiter: RateLimiterMemory, key: string): Promise<number | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return Math.max(1, Math.ceil(error.msBeforeNext / 1000));
  }
}
