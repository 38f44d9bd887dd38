/** The look-ups of DMARC (RFC 9989); the rules, and where they come from, are in dmarc.ts. */
import { canonicalDomain } from '../../../domain/email-addresses.ts';
import { DnsError, type Resolve } from './dns-resolver.ts';
import {
  type FoundRecord,
  inSameOrganization,
  mayAlign,
  organizationalDomain,
  policyRecord,
  type PolicyRecord,
  recordAmong,
  walkNames,
} from './dmarc.ts';
import type { PublishedPolicy } from './verdict.ts';

/** For all walks of a message: two of `read`, of eight each, and what these leave for alignment. */
const MAX_LOOKUPS = 16;

export type DmarcRecord =
  | { readonly kind: 'none' | 'temperror' }
  | {
      readonly kind: 'found';
      readonly policy: PublishedPolicy;
      readonly strictSpf: boolean;
      readonly strictDkim: boolean;
    };

/** `unknown`: a DNS failure leaves it open. */
export type Alignment = 'aligned' | 'unaligned' | 'unknown';

interface Walk {
  /** The longest name first. */
  readonly found: readonly FoundRecord[];
  /** A look-up failed, and what is above was not asked. */
  readonly isCut: boolean;
}

/** The look-ups of DMARC for one message; each name is asked once. */
export class DmarcLookups {
  readonly #resolve: Resolve;
  readonly #answers = new Map<string, Promise<PolicyRecord | 'none' | 'trouble'>>();
  #asked = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /**
   * The record that applies to a domain (§4.10.1). If a look-up fails, the records below it decide;
   * without any, it is `temperror`. The names above the domain's own record are not asked. For two
   * domains at most: the one in From, and that of a claimed person.
   */
  async read(domain: string): Promise<DmarcRecord> {
    // An address literal, or a host of one's own network.
    const isPublic = !domain.startsWith('[') && domain.includes('.');
    const found = isPublic ? await this.#discover(domain) : 'none';
    if (found === 'none' || found === 'temperror') return { kind: found };
    const { policies, strictSpf, strictDkim } = found.record;
    if (policies === undefined) return { kind: 'none' };
    const { own, subdomain, nonexistent } = policies;
    const record = { kind: 'found', strictSpf, strictDkim } as const;
    if (found.domain === domain) return { ...record, policy: own };
    if (subdomain === nonexistent) return { ...record, policy: subdomain };
    const exists = await this.#exists(domain);
    if (exists === 'unknown') return { kind: 'temperror' };
    return { ...record, policy: exists ? subdomain : nonexistent };
  }

  /**
   * Whether an authenticated domain is aligned with the one in From (§4.4, §4.10.2). Strict: they are
   * equal. Relaxed: they have the same organizational domain, which is that of the public suffix list
   * if From has no record. If that may need more look-ups than are left, they are unaligned. To be
   * called after `read`, and not concurrently.
   */
  async alignment(
    from: string,
    { kind }: DmarcRecord,
    authenticated: string,
    isStrict: boolean,
  ): Promise<Alignment> {
    const other = canonicalDomain(authenticated);
    if (other === from) return 'aligned';
    if (other === undefined || isStrict || !mayAlign(from, other)) return 'unaligned';
    if (kind !== 'found') return inSameOrganization(from, other) ? 'aligned' : 'unaligned';
    if (!this.#canWalk(from)) return 'unaligned';
    const author = await this.#walk(from);
    const organization = organizationalDomain(from, author.found);
    const isBelow = other === organization || other.endsWith(`.${organization}`);
    if (!isBelow && !author.isCut) return 'unaligned';
    if (!this.#canWalk(other)) return 'unaligned';
    const walk = await this.#walk(other);
    // Records above it, also those that could not be read, are above both names.
    if (organizationalDomain(other, walk.found) === organization) return 'aligned';
    return author.isCut || walk.isCut ? 'unknown' : 'unaligned';
  }

  async #discover(domain: string): Promise<FoundRecord | 'none' | 'temperror'> {
    const record = await this.#ask(domain);
    if (typeof record !== 'string') return { domain, record };
    const { found, isCut } = await this.#walk(domain);
    return policyRecord(domain, found) ?? (isCut ? 'temperror' : 'none');
  }

  async #walk(domain: string): Promise<Walk> {
    const found: FoundRecord[] = [];
    for (const name of walkNames(domain)) {
      const record = await this.#ask(name);
      if (record === 'trouble') return { found, isCut: true };
      if (record === 'none') continue;
      found.push({ domain: name, record });
      if (record.psd !== 'u') break;
    }
    return { found, isCut: false };
  }

  #canWalk(domain: string): boolean {
    const further = walkNames(domain).filter((name) => !this.#answers.has(name)).length;
    return this.#asked + further <= MAX_LOOKUPS;
  }

  #ask(domain: string): Promise<PolicyRecord | 'none' | 'trouble'> {
    const answer = this.#answers.get(domain) ?? this.#query(domain);
    this.#answers.set(domain, answer);
    return answer;
  }

  async #query(domain: string): Promise<PolicyRecord | 'none' | 'trouble'> {
    this.#asked += 1;
    try {
      const records = await this.#resolve(`_dmarc.${domain}`, 'TXT');
      const texts = records.map((each) => (Array.isArray(each) ? each.join('') : ''));
      return recordAmong(texts) ?? 'none';
    } catch (error) {
      return isAbsent(error) || hasNoRecord(error) ? 'none' : 'trouble';
    }
  }

  /** §3.2.13, appendix A.4: only NXDOMAIN says that a name does not exist, whatever was asked. */
  async #exists(domain: string): Promise<boolean | 'unknown'> {
    let isUnknown = false;
    for (const type of ['A', 'AAAA', 'MX']) {
      this.#asked += 1;
      try {
        await this.#resolve(domain, type);
        return true;
      } catch (error) {
        if (hasNoRecord(error)) return true;
        isUnknown ||= !isAbsent(error);
      }
    }
    return isUnknown ? 'unknown' : false;
  }
}

const isAbsent = (error: unknown) => error instanceof DnsError && error.code === 'ENOTFOUND';
const hasNoRecord = (error: unknown) => error instanceof DnsError && error.code === 'ENODATA';
