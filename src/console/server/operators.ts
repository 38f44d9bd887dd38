import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Role } from './roles.ts';
import { matchesHash, parsePasswordHash, type PasswordHash } from '../../runtime/password-hash.ts';

/** The name of the operator who uses the console's single password. */
export const OPERATOR = 'operator';

export interface OperatorAccount {
  readonly name: string;
  /** As configured: the password itself, or its scrypt hash. */
  readonly password: string;
  /** Default: operator. */
  readonly role?: Role;
}

type Known =
  | { readonly kind: 'plain'; readonly digest: Buffer; readonly configured: string }
  | { readonly kind: 'hash'; readonly hash: PasswordHash; readonly configured: string };

/** A digest of fixed length, so that the comparison's time reveals nothing. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The operators of the console. The duration of a check does not reveal which names exist. */
export class Operators {
  #accounts: ReadonlyMap<string, Known> = new Map();
  #roles: ReadonlyMap<string, Role> = new Map();
  /** Checked when the account does not exist. */
  #decoy: Known = decoyFor([]);
  /** The digest of each verified password, so that scrypt need not run for every request. */
  readonly #verified = new Map<string, Buffer>();
  #key = randomBytes(32);
  #hashing: Promise<unknown> = Promise.resolve();

  constructor(accounts: readonly OperatorAccount[]) {
    this.replace(accounts);
  }

  /** Replaces the accounts. Returns those whose password or role changed or that were removed. */
  replace(accounts: readonly OperatorAccount[]): readonly string[] {
    const before = this.#accounts;
    const roles = this.#roles;
    this.#roles = new Map(accounts.map(({ name, role = 'operator' }) => [name, role]));
    this.#accounts = new Map(accounts.map(({ name, password }) => [name, knownOf(password)]));
    this.#decoy = decoyFor([...this.#accounts.values()]);
    this.#verified.clear();
    this.#key = randomBytes(32);
    return [...before].flatMap(([name, { configured }]) =>
      this.passwordOf(name) === configured && this.#roles.get(name) === roles.get(name)
        ? []
        : [name],
    );
  }

  has(name: string): boolean {
    return this.#accounts.has(name);
  }

  /** In the order of the configuration. */
  get names(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  roleOf(name: string): Role {
    return this.#roles.get(name) ?? 'desk';
  }

  /**
   * The role of a token by its maker: the maker's own, none once they are no longer configured.
   * Those who were never an account keep what their token's scope permits.
   */
  roleOfMaker(name: string): Role | undefined {
    const isAccount = name !== OPERATOR && !name.startsWith('terminal:');
    return this.#roles.get(name) ?? (isAccount ? undefined : 'operator');
  }

  /** The configured password, to which sessions are bound; undefined for an unknown operator. */
  passwordOf(name: string): string | undefined {
    return this.#accounts.get(name)?.configured;
  }

  /** A keyed digest of name and password, stable until the accounts are replaced. */
  fingerprintOf(name: string, password: string): string {
    return this.#digest(`${name}\0${password}`).toString('base64');
  }

  /** Whether the password is right. */
  async verify(name: string, password: string): Promise<boolean> {
    const account = this.#accounts.get(name);
    const known = account ?? this.#decoy;
    if (known.kind === 'plain') {
      const right = timingSafeEqual(digestOf(password), known.digest) && account !== undefined;
      if (!right && this.#decoy.kind === 'hash')
        await this.#matchesHash(password, this.#decoy.hash);
      return right;
    }
    const digest = this.#digest(password);
    const before = this.#verified.get(name);
    if (before !== undefined && timingSafeEqual(before, digest)) return true;
    const right = (await this.#matchesHash(password, known.hash)) && account !== undefined;
    // The password may have been replaced during the check.
    if (right && this.#accounts.get(name) === account) this.#verified.set(name, digest);
    return right;
  }

  /**
   * One at a time: each uses 64 MiB and one of the four threads that also write the spool's files.
   * The login limits bound the number of waiting checks.
   */
  #matchesHash(password: string, hash: PasswordHash): Promise<boolean> {
    const mine = this.#hashing.then(() => matchesHash(password, hash));
    this.#hashing = mine.catch(() => undefined);
    return mine;
  }

  #digest(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

/** Uses the slowest kind of account, so that the duration does not reveal which names exist. */
function decoyFor(accounts: readonly Known[]): Known {
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
