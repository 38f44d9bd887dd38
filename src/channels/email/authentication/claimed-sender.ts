import { matchKey, parseAddressList } from '../../../domain/email-addresses.ts';
import type { HeaderBlock } from '../header-block.ts';
import { isSharedDomain } from '../../../domain/shared-domains.ts';
import { sealedResults, parseAuthenticationResults, confirmsSender } from './reported-results.ts';
import type { SignatureCheck } from './check-signatures.ts';
import type { DmarcRecord } from './dmarc-lookups.ts';
import type { Claim } from './named-senders.ts';
import type { SignedHead } from './signed-head.ts';
import type { AuthenticationVerdict } from './verdict.ts';

/** Headers in which a group that rewrites From keeps the author. */
const ORIGINAL_SENDER = ['x-original-from', 'x-original-sender'];

/**
 * Whether a sealer that the shop trusts found that the message is from the claimed domain;
 * `temperror` if a DNS failure leaves the seal undecided. For a shared domain this does not
 * identify the address: there, the sealer must name the address itself, in the reverse-path that it
 * saw, or in a header that its signature covers and that senders cannot set (a group replaces it).
 */
export function sealedFor(
  { address, domain }: Claim,
  head: HeaderBlock,
  signed: SignedHead,
  signatures: SignatureCheck,
): 'verified' | 'none' | 'temperror' {
  const carried = sealedResults(signed, signatures, domain);
  if (carried === 'undecided') return 'temperror';
  if (carried === 'none') return 'none';
  return !isSharedDomain(domain) || namesAddress(signed, head, address, domain)
    ? 'verified'
    : 'none';
}

function namesAddress(
  signed: SignedHead,
  head: HeaderBlock,
  address: string,
  domain: string,
): boolean {
  const key = matchKey(address);
  const isNamedIn = (name: string): boolean =>
    head.count(name) === 1 &&
    parseAddressList(head.first(name) ?? '').some((each) => matchKey(each.address) === key);
  return signed.arc.some(({ results, signedFields }) => {
    const found = parseAuthenticationResults(results);
    if (!confirmsSender(found, domain)) return false;
    const spf = found?.methods.find(({ method }) => method === 'spf');
    const mailFrom = spf?.result === 'pass' ? spf.properties.get('smtp.mailfrom') : undefined;
    if (mailFrom !== undefined && matchKey(mailFrom) === key) return true;
    return ORIGINAL_SENDER.some((name) => signedFields.has(name) && isNamedIn(name));
  });
}

/** The policy of the claimed domain, in the terms of the verdict. */
export function policyOf(record: DmarcRecord | undefined): AuthenticationVerdict['claimed'] {
  if (record === undefined) return undefined;
  return record.kind === 'found' ? record.policy : record.kind;
}
