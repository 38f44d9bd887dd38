/**
 * DMARC as RFC 9989 defines it, whose sections are named here: records, the DNS tree walk, the
 * policy, alignment. The look-ups are in dmarc-lookups.ts. mailauth 4 has RFC 7489; its newer
 * versions need a newer Node.
 */
import { getDomain } from 'tldts';
import { canonicalDomain } from '../../../domain/email-addresses.ts';
import type { PublishedPolicy } from './verdict.ts';

/** §4.10, step 4: at most as many labels remain after the first look-up. */
const MAX_PARENT_LABELS = 7;

/** A record, with its defaults. */
export interface PolicyRecord {
  /** As applied to mail that fails, after `t`; undefined if there is no DMARC with this record. */
  readonly policies:
    | {
        readonly own: PublishedPolicy;
        readonly subdomain: PublishedPolicy;
        readonly nonexistent: PublishedPolicy;
      }
    | undefined;
  readonly psd: 'y' | 'n' | 'u';
  readonly strictSpf: boolean;
  readonly strictDkim: boolean;
}

/** §4.8: the name of a tag is not case-sensitive, the version is. */
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*$/;
const REPORT_URI = /^[a-z][a-z0-9+.-]*:[^\s]/;
const MILDER = { reject: 'quarantine', quarantine: 'none', none: 'none' } as const;
const isPolicy = (value: string | undefined): value is PublishedPolicy =>
  value === 'none' || value === 'quarantine' || value === 'reject';

/**
 * Parses a TXT record (§4.7, §4.8). Unknown tags are ignored, and wrong values of known ones are
 * replaced by their defaults, except for a policy (§4.10.1): then it is none if reports are wanted,
 * and otherwise there is no DMARC. Linear; undefined if it is no DMARC record.
 */
export function parseRecord(text: string): PolicyRecord | undefined {
  const [version = '', ...rest] = text.split(';');
  if (!VERSION.test(version)) return undefined;
  const tags = new Map<string, string>();
  for (const tag of rest) {
    const equals = tag.indexOf('=');
    if (equals === -1) continue;
    tags.set(
      tag.slice(0, equals).trim().toLowerCase(),
      tag
        .slice(equals + 1)
        .trim()
        .toLowerCase(),
    );
  }
  const psd = tags.get('psd');
  return {
    policies: policiesOf(tags),
    psd: psd === 'y' || psd === 'n' ? psd : 'u',
    strictSpf: tags.get('aspf') === 's',
    strictDkim: tags.get('adkim') === 's',
  };
}

function policiesOf(tags: ReadonlyMap<string, string>): PolicyRecord['policies'] {
  const [p, sp, np] = ['p', 'sp', 'np'].map((name) => tags.get(name));
  const areValid = [sp, np].every((each) => each === undefined || isPolicy(each));
  const reports = (tags.get('rua') ?? '').split(',').some((uri) => REPORT_URI.test(uri.trim()));
  if (!isPolicy(p) || !areValid) {
    return reports ? { own: 'none', subdomain: 'none', nonexistent: 'none' } : undefined;
  }
  const t = tags.get('t');
  // Appendix A.6: `t=y` replaces `pct=0`, with which domains still say that they are testing.
  const isTesting = t === 'y' || (t !== 'n' && /^0{1,3}$/.test(tags.get('pct') ?? ''));
  const applied = (policy: PublishedPolicy) => (isTesting ? MILDER[policy] : policy);
  const subdomain = isPolicy(sp) ? sp : p;
  return {
    own: applied(p),
    subdomain: applied(subdomain),
    nonexistent: applied(isPolicy(np) ? np : subdomain),
  };
}

/** The record of a name; several count as none (§4.10, step 2). */
export function recordAmong(texts: readonly string[]): PolicyRecord | undefined {
  const records = texts.map(parseRecord).filter((each) => each !== undefined);
  return records.length === 1 ? records[0] : undefined;
}

/** The names that a walk asks, without `_dmarc.`, in order; at most eight (§4.10). */
export function walkNames(domain: string): readonly string[] {
  const parents = domain.split('.').slice(1).slice(-MAX_PARENT_LABELS);
  return [domain, ...parents.map((_, at) => parents.slice(at).join('.'))];
}

export interface FoundRecord {
  readonly domain: string;
  readonly record: PolicyRecord;
}

/** §4.10.2. @param found what the walk from `domain` found, the longest name first */
export function organizationalDomain(domain: string, found: readonly FoundRecord[]): string {
  for (const each of found) {
    if (each.record.psd === 'n') return each.domain;
    if (each.record.psd === 'y') {
      // One label more, or the domain itself if that is where the walk started.
      const below = each.domain.split('.').length + 1;
      return domain.split('.').slice(-below).join('.');
    }
  }
  return found.at(-1)?.domain ?? domain;
}

/** §4.10.1: the record of the domain itself, of its organization, or of its public suffix. */
export function policyRecord(
  domain: string,
  found: readonly FoundRecord[],
): FoundRecord | undefined {
  const organization = organizationalDomain(domain, found);
  const suffix = found.at(-1);
  return (
    found.find((each) => each.domain === domain) ??
    found.find((each) => each.domain === organization) ??
    (suffix?.record.psd === 'y' ? suffix : undefined)
  );
}

/**
 * Whether two names belong to one organization by the public suffix list, private suffixes
 * included. For domains without a record, and for what other hosts report.
 */
export const inSameOrganization = (one: string, other: string): boolean =>
  isSameBySuffix(one, other, true);

/**
 * Whether two names can be aligned, whatever their records say: no registry's customers are one
 * organization, even if the registry has a record without `psd=y`. Names that are not cost no
 * look-ups.
 */
export const mayAlign = (one: string, other: string): boolean => isSameBySuffix(one, other, false);

function isSameBySuffix(one: string, other: string, allowPrivateDomains: boolean): boolean {
  // Not a name with a slash: DNS has `victim.example/.evil.example`, and a URL begins like it.
  const [first, second] = [one, other].map(canonicalDomain);
  if (first === undefined || second === undefined) return false;
  if (first === second) return true;
  const options = { extractHostname: false, allowPrivateDomains };
  const organization = getDomain(first, options) ?? first;
  return organization === (getDomain(second, options) ?? second);
}
