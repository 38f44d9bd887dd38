import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { matchesHash, parsePasswordHash, type PasswordHash } from '../../runtime/password-hash.ts';

/** Whoever signs in with the console's one password. */
export const OPERATOR = 'operator';

export interface OperatorAccount {
  readonly name: string;
  /** As configured: the password itself, or its scrypt hash. */
  readonly password: string;
}

type Known =
  | { readonly kind: 'plain'; readonly digest: Buffer; readonly configured: string }
  | { readonly kind: 'hash'; readonly hash: PasswordHash; readonly configured: string };

/** A digest of fixed length, so that the comparison's time reveals nothing. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Who may use the console. How long an answer takes does not tell which names there are. */
export class Operators {
  #accounts: ReadonlyMap<string, Known> = new Map();
  /** Checked in place of an account that does not exist. */
  #nobody: Known = nobodyLike([]);
  /** What was found right already, by name: a scraper need not pay for scrypt each time. */
  readonly #right = new Map<string, Buffer>();
  #key = randomBytes(32);
  #hashing: Promise<unknown> = Promise.resolve();

  constructor(accounts: readonly OperatorAccount[]) {
    this.replace(accounts);
  }

  /** Those who may from now on. Answers whose password is another one, or gone. */
  replace(accounts: readonly OperatorAccount[]): readonly string[] {
    const before = this.#accounts;
    this.#accounts = new Map(accounts.map(({ name, password }) => [name, knownOf(password)]));
    this.#nobody = nobodyLike([...this.#accounts.values()]);
    this.#right.clear();
    this.#key = randomBytes(32);
    return [...before].flatMap(([name, { configured }]) =>
      this.passwordOf(name) === configured ? [] : [name],
    );
  }

  has(name: string): boolean {
    return this.#accounts.has(name);
  }

  /** What a session is bound to: it ends when this changes. Undefined for nobody. */
  passwordOf(name: string): string | undefined {
    return this.#accounts.get(name)?.configured;
  }

  /** The same for the same name and password until the accounts are replaced; tells neither. */
  markOf(name: string, password: string): string {
    return this.#seen(`${name}\0${password}`).toString('base64');
  }

  /** Whether this is the password of that operator. */
  async verify(name: string, password: string): Promise<boolean> {
    const account = this.#accounts.get(name);
    const known = account ?? this.#nobody;
    if (known.kind === 'plain') {
      const right = timingSafeEqual(digestOf(password), known.digest) && account !== undefined;
      if (!right && this.#nobody.kind === 'hash')
        await this.#matchesHash(password, this.#nobody.hash);
      return right;
    }
    const seen = this.#seen(password);
    const before = this.#right.get(name);
    if (before !== undefined && timingSafeEqual(before, seen)) return true;
    const right = (await this.#matchesHash(password, known.hash)) && account !== undefined;
    // Another password may have been configured meanwhile.
    if (right && this.#accounts.get(name) === account) this.#right.set(name, seen);
    return right;
  }

  /**
   * One at a time: each takes 64 MiB and one of the four threads on which the spool's files are
   * written too. How many may wait is bounded by the limits on wrong passwords.
   */
  #matchesHash(password: string, hash: PasswordHash): Promise<boolean> {
    const mine = this.#hashing.then(() => matchesHash(password, hash));
    this.#hashing = mine.catch(() => undefined);
    return mine;
  }

  #seen(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

/** Hashes against the slowest account, so that the time does not show which names exist. */
function nobodyLike(accounts: readonly Known[]): Known {
  const slowest = accounts.find(({ kind }) => kind === 'hash');
  const configured = randomBytes(32).toString('hex');
  return slowest?.kind === 'hash'
    ? { ...slowest, configured }
    : { kind: 'plain', digest: digestOf(configured), configured };
}

function knownOf(configured: string): Known {
  const hash = parsePasswordHash(configured);
  return hash === undefined
    ? { kind: 'plain', digest: digestOf(configured), configured }
    : { kind: 'hash', hash, configured };
}
