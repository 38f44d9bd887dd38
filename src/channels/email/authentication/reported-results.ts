import type { HeaderBlock } from '../header-block.ts';
import { isAligned } from './alignment.ts';
import {
  type AuthenticationResults,
  parseAuthenticationResults,
} from './authentication-results.ts';
import type { SignatureCheck } from './check-signatures.ts';
import type { SpfCheck } from './check-spf.ts';
import type { SignedHead } from './signed-head.ts';
import type { MethodResult } from './verdict.ts';

/** The nearest relay's own line stands on top; a few others may have been added above it. */
const MAX_LINES = 20;

/**
 * What a trusted relay found. Only its own line counts, the topmost with a configured id: RFC 8601
 * §5 has it remove those that claim to be its own. Ours never counts, whoever sends it.
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

/** SPF as the relay saw it (RFC 8601 §2.7.2). */
export function reportedSpf(results: AuthenticationResults | undefined): SpfCheck {
  const spf = results?.methods.find(({ method }) => method === 'spf');
  if (spf === undefined) return { result: 'skipped', domain: '' };
  const sender = spf.properties.get('smtp.mailfrom') ?? spf.properties.get('smtp.helo') ?? '';
  const result: MethodResult = spf.result === 'pass' ? 'pass' : 'fail';
  return { result, domain: sender.slice(sender.lastIndexOf('@') + 1) };
}

/** Whether somebody who is trusted found that the domain in From is the sender's. */
export function vouchesFor(
  results: AuthenticationResults | undefined,
  fromDomain: string,
): boolean {
  return (results?.methods ?? []).some(({ method, result, properties }) => {
    if (result !== 'pass') return false;
    const domain = properties.get('header.from') ?? '';
    return (
      method === 'dmarc' && isAligned(fromDomain, domain.slice(domain.lastIndexOf('@') + 1), false)
    );
  });
}

/** What the sealers whom the shop trusts found, when their seals hold (RFC 8617 §7.2). */
export function carriedBy(
  { arc }: SignedHead,
  signatures: SignatureCheck,
  fromDomain: string,
): 'pass' | 'none' | 'undecided' {
  if (signatures.arc === 'temperror') return 'undecided';
  if (signatures.arc !== 'pass') return 'none';
  const vouched = arc.some(({ results }) =>
    vouchesFor(parseAuthenticationResults(results), fromDomain),
  );
  return vouched ? 'pass' : 'none';
}
