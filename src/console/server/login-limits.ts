import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Wrong passwords in `WINDOW_SECONDS`, from one address and from all of them. */
const PER_ADDRESS = 10;
const IN_ALL = 200;
const WINDOW_SECONDS = 600;
const ONE = 'all';
/** Addresses from which somebody signed in of late: what others try does not lock them out. */
const MAX_KNOWN = 1000;
/** Wrong tries that are remembered. */
const MAX_WRONG = 1000;

export interface Try {
  readonly address: string;
  /** The same for the same name and password, as long as they mean the same. */
  readonly mark: string;
}

/** How a try ended; with too many before it nobody looked. */
export type Tried =
  | { readonly kind: 'right' | 'wrong' }
  | { readonly kind: 'too_many'; readonly retryAfter: number };

/**
 * How often a password may be guessed. A right one costs nothing, and neither does the same wrong
 * one again: a scraper that nobody told of a new password guesses nothing, and must not keep out
 * whoever signs in from the same machine.
 */
export class LoginLimits {
  readonly #perAddress = new RateLimiterMemory({ points: PER_ADDRESS, duration: WINDOW_SECONDS });
  readonly #inAll = new RateLimiterMemory({ points: IN_ALL, duration: WINDOW_SECONDS });
  readonly #known = new Set<string>();
  readonly #wrong = new Set<string>();
  readonly #turns = new Map<string, Promise<unknown>>();

  /**
   * Looks, unless there were too many wrong ones. Tries of one address are looked at one after the
   * other: many at once are neither more guesses, nor too many when they are right.
   */
  async look(attempt: Try, isRight: () => Promise<boolean>): Promise<Tried> {
    const { address } = attempt;
    const before = this.#turns.get(address) ?? Promise.resolve();
    const mine = before.then(() => this.#look(attempt, isRight));
    const ended = mine.catch(() => undefined);
    this.#turns.set(address, ended);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(address) === ended) this.#turns.delete(address);
    }
  }

  async #look({ address, mark }: Try, isRight: () => Promise<boolean>): Promise<Tried> {
    const spent = await this.#perAddress.get(address);
    if (spent !== null && spent.consumedPoints >= PER_ADDRESS) return tooMany(spent);
    const wrong = `${address} ${mark}`;
    if (this.#wrong.has(wrong)) return { kind: 'wrong' };
    const refused = await this.#take(address);
    if (refused !== undefined) return tooMany(refused);
    if (await isRight()) {
      await this.#giveBack(address);
      return { kind: 'right' };
    }
    keep(this.#wrong, wrong, MAX_WRONG);
    return { kind: 'wrong' };
  }

  /** Counted before anybody looks: addresses do not wait for one another. */
  async #take(address: string): Promise<RateLimiterRes | undefined> {
    const refused = this.#known.has(address) ? undefined : await consume(this.#inAll, ONE);
    return refused ?? consume(this.#perAddress, address);
  }

  async #giveBack(address: string): Promise<void> {
    await this.#perAddress.reward(address);
    if (!this.#known.has(address)) await this.#inAll.reward(ONE);
    keep(this.#known, address, MAX_KNOWN);
  }
}

/** The last added are kept. */
function keep(set: Set<string>, value: string, most: number): void {
  set.delete(value);
  set.add(value);
  for (const oldest of set) {
    if (set.size <= most) break;
    set.delete(oldest);
  }
}

const tooMany = ({ msBeforeNext }: RateLimiterRes): Tried => ({
  kind: 'too_many',
  retryAfter: Math.max(1, Math.ceil(msBeforeNext / 1000)),
});

async function consume(
  limiter: RateLimiterMemory,
  key: string,
): Promise<RateLimiterRes | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return error;
  }
}
