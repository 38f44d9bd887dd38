import { addLatest } from '../../runtime/keep-latest.ts';
import type { Budget, OpenBudget } from '../../runtime/budgets.ts';

/**
 * What is given, and where: a password on the sign-in page, or a password or a token with each
 * request of a program.
 */
export type LoginSource = 'page' | 'program' | 'token';

/**
 * Limits of wrong passwords over all addresses. Unknown clients may check at most 100 passwords in
 * an hour (OWASP ASVS 4.0.3, 2.2.1): twice the two bursts.
 */
const TOTAL = {
  page: { burst: 30, perHour: 30 },
  program: { burst: 20, perHour: 20 },
  // No one guesses a token. This bounds how often strangers make the store look for one, and is too much for a few
  // of them to use up: a right token that this gateway has not seen yet needs a part of it.
  token: { burst: 3000, perHour: 36_000 },
} as const;
const PER_ADDRESS = { burst: 15, perHour: 15 } as const;
const PER_DEVICE = { burst: 10, perHour: 10 } as const;
const ALL = 'all';
/** Limit of known addresses: those of recent sign-ins, which are exempt from the total limits. */
const MAX_KNOWN = 1000;
/** Limit of remembered wrong passwords. */
const MAX_WRONG = 1000;

export interface LoginAttempt {
  readonly address: string;
  readonly source: LoginSource;
  /** Equal for equal names and passwords while the accounts are unchanged. */
  readonly fingerprint: string;
  /** The id of a browser in which this operator has signed in before. */
  readonly device?: string | undefined;
}

/** The result of an attempt; with `too_many` the password was not checked. */
type LoginResult =
  | { readonly kind: 'right' | 'wrong' }
  | { readonly kind: 'too_many'; readonly retryAfter: number };

/** A budget and a key in it. */
type BudgetKey = readonly [budget: Budget, key: string];

/**
 * Limits guessing of passwords (docs/decisions/0026-password-rate-limits.md). Above a
 * limit no password is checked, since accepting only the right one would allow guessing to
 * continue. Limits are separate for browsers that have signed in before, for the sign-in page and
 * programs, and for each address.
 *
 * Right passwords do not count, and neither does the same wrong one again: a scraper with an
 * outdated password is not guessing. Tokens have limits of their own, so that neither can be used up
 * by the other.
 */
export class LoginLimits {
  readonly #perDevice: Budget;
  readonly #perAddress: Budget;
  readonly #total: Readonly<Record<LoginSource, Budget>>;
  readonly #known = new Set<string>();
  readonly #wrong = new Set<string>();
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(open: OpenBudget) {
    this.#perDevice = open('passwords of a device', PER_DEVICE);
    this.#perAddress = open('passwords of an address', PER_ADDRESS);
    this.#total = {
      page: open('passwords on the page', TOTAL.page),
      program: open('passwords of programs', TOTAL.program),
      token: open('tokens of programs', TOTAL.token),
    };
  }

  /**
   * Checks a password, unless a limit is reached. Attempts of one client are checked one after the
   * other, so that concurrent right ones do not reach the limit.
   */
  async check(attempt: LoginAttempt, isRight: () => Promise<boolean>): Promise<LoginResult> {
    const client = attempt.device ?? `${attempt.source} ${attempt.address}`;
    const before = this.#queues.get(client) ?? Promise.resolve();
    const mine = before.then(() => this.#check(attempt, isRight));
    const ended = mine.catch(() => undefined);
    this.#queues.set(client, ended);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(client) === ended) this.#queues.delete(client);
    }
  }

  async #check(attempt: LoginAttempt, isRight: () => Promise<boolean>): Promise<LoginResult> {
    const wrong = `${attempt.address} ${attempt.fingerprint}`;
    if (this.#wrong.has(wrong)) return { kind: 'wrong' };
    // Spent before the check, since other addresses are checked concurrently.
    const spent: BudgetKey[] = [];
    const refund = async () => {
      for (const [budget, key] of spent) await budget.refund(key);
    };
    for (const [budget, key] of this.#budgetsOf(attempt)) {
      const waitMs = await budget.spend(key);
      if (waitMs > 0) {
        await refund();
        return { kind: 'too_many', retryAfter: Math.ceil(waitMs / 1000) };
      }
      spent.push([budget, key]);
    }
    if (await isRight()) {
      await refund();
      // Who has a token has not shown that they know a password.
      if (attempt.source !== 'token') addLatest(this.#known, attempt.address, MAX_KNOWN);
      return { kind: 'right' };
    }
    addLatest(this.#wrong, wrong, MAX_WRONG);
    return { kind: 'wrong' };
  }

  #budgetsOf({ address, source, device }: LoginAttempt): readonly BudgetKey[] {
    if (device !== undefined) return [[this.#perDevice, device]];
    const own: BudgetKey = [this.#perAddress, `${source} ${address}`];
    return this.#known.has(address) ? [own] : [own, [this.#total[source], ALL]];
  }
}
