import { canonicalDomain, domainOf } from '../../../domain/email-addresses.ts';
import type { HeaderBlock } from '../header-block.ts';
import { inSameOrganization } from './dmarc.ts';
import type { SpfCheck } from './mailauth.ts';
import type { SignatureCheck } from './check-signatures.ts';
import type { SignedHead } from './signed-head.ts';
import type { MethodResult } from './verdict.ts';

/** The nearest relay's own header is on top; a few others may have been added above it. */
const MAX_LINES = 20;

/**
 * The results of a trusted relay. Only its own header counts, the topmost with a configured id:
 * according to RFC 8601 §5, the relay removes others that claim its id. A header with our own id
 * never counts.
 */
export function relayResults(
  head: HeaderBlock,
  trustedIds: readonly string[],
  ownId: string,
): AuthenticationResults | undefined {
  const trusted = new Set(trustedIds.map((id) => id.toLowerCase()));
  trusted.delete(ownId.toLowerCase());
  if (trusted.size === 0) return undefined;
  return head
    .all('authentication-results')
    .slice(0, MAX_LINES)
    .map(parseAuthenticationResults)
    .find((results) => results !== undefined && trusted.has(results.authservId));
}

/** The relay's SPF result (RFC 8601 §2.7.2). */
export function reportedSpf(results: AuthenticationResults | undefined): SpfCheck {
  const spf = results?.methods.find(({ method }) => method === 'spf');
  if (spf === undefined) return { result: 'skipped', domain: '' };
  const sender = spf.properties.get('smtp.mailfrom') ?? spf.properties.get('smtp.helo') ?? '';
  const result: MethodResult = spf.result === 'pass' ? 'pass' : 'fail';
  return { result, domain: domainOf(sender) };
}

/** Whether a trusted host confirmed the domain in From. */
export function confirmsSender(
  results: AuthenticationResults | undefined,
  fromDomain: string,
): boolean {
  return (results?.methods ?? []).some(({ method, result, properties }) => {
    if (method !== 'dmarc' || result !== 'pass') return false;
    return inSameOrganization(fromDomain, domainOf(properties.get('header.from') ?? ''));
  });
}

/** The results of the sealers that the shop trusts, if their seals are valid (RFC 8617 §7.2). */
export function sealedResults(
  { arc }: SignedHead,
  signatures: SignatureCheck,
  fromDomain: string,
): 'pass' | 'none' | 'undecided' {
  if (signatures.arc === 'temperror') return 'undecided';
  if (signatures.arc !== 'pass') return 'none';
  const vouched = arc.some(({ results }) =>
    confirmsSender(parseAuthenticationResults(results), fromDomain),
  );
  return vouched ? 'pass' : 'none';
}

/**
 * The fields that such a sealer got from the domain's own server, since it saw SPF pass for it.
 * Anyone who has the sealed message can add others and send it again, as with a DKIM signature.
 */
export function sealedFields(
  { arc }: SignedHead,
  signatures: SignatureCheck,
  fromDomain: string,
  strict: boolean,
): readonly (readonly string[])[] {
  if (signatures.arc !== 'pass') return [];
  return arc.flatMap(({ results, signedFields }) => {
    const { result, domain } = reportedSpf(parseAuthenticationResults(results));
    const isOwn = strict
      ? canonicalDomain(domain) === fromDomain
      : inSameOrganization(fromDomain, domain);
    return result === 'pass' && isOwn ? [[...signedFields]] : [];
  });
}

/** One `method=result property=value ...` (RFC 8601 §2.2). */
interface ReportedMethod {
  readonly method: string;
  readonly result: string;
  /** `header.from`, `smtp.mailfrom` and similar, in lower case. */
  readonly properties: ReadonlyMap<string, string>;
}

interface AuthenticationResults {
  readonly authservId: string;
  readonly methods: readonly ReportedMethod[];
}

const MAX_LENGTH = 8 * 1024;
const MAX_METHODS = 50;

/**
 * Parses the value of Authentication-Results (RFC 8601 §2.2), or of ARC-Authentication-Results,
 * which has `i=` before the id (RFC 8617 §4.1.1). Linear; undefined without an id.
 */
export function parseAuthenticationResults(value: string): AuthenticationResults | undefined {
  const [first = '', ...rest] = split(withoutComments(value.slice(0, MAX_LENGTH)));
  const parts = /^i\s*=\s*\d+$/.test(first) ? rest : [first, ...rest];
  const authservId = parts[0]?.split(/\s+/)[0]?.replace(/^"|"$/g, '').toLowerCase();
  if (authservId === undefined || authservId === '' || authservId.includes('=')) return undefined;
  return { authservId, methods: parts.slice(1, MAX_METHODS).flatMap(readMethod) };
}

function readMethod(part: string): ReportedMethod[] {
  const unspaced = part.split('=').map((each) => each.trim());
  const [head = '', ...words] = unspaced.join('=').split(/\s+/);
  const [name = '', result = ''] = head.split('=');
  if (name === '' || result === '') return [];
  const properties = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals <= 0) continue;
    const value = word.slice(equals + 1).replace(/^"|"$/g, '');
    properties.set(word.slice(0, equals).toLowerCase(), value.toLowerCase());
  }
  const method = name.toLowerCase().split('/')[0] ?? '';
  return [{ method, result: result.toLowerCase(), properties }];
}

/** RFC 5322 §3.2.2: comments can be nested, and quoted strings contain none. */
function withoutComments(value: string): string {
  let depth = 0;
  let quoted = false;
  let kept = '';
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (char === '\\') {
      if (depth === 0) kept += value.slice(at, at + 2);
      at += 1;
    } else if (char === '"' && depth === 0) {
      quoted = !quoted;
      kept += char;
    } else if (!quoted && char === '(') {
      depth += 1;
    } else if (!quoted && char === ')' && depth > 0) {
      depth -= 1;
    } else if (depth === 0) {
      kept += char;
    }
  }
  return kept;
}

/** Splits at semicolons outside of quoted strings. */
function split(value: string): string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === ';' && !quoted) {
      parts.push(value.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(value.slice(start).trim());
  return parts;
}
