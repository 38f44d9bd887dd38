import { isIP } from 'node:net';
import { spf } from 'mailauth/lib/spf/index.js';
import { boundLookups } from './bounded-lookups.ts';
import type { Resolve } from './dns-resolver.ts';
import { libraryResolver } from './library-resolver.ts';
import type { MethodResult } from './verdict.ts';

/** RFC 7208 §4.6.4: mechanisms that ask; mailauth counts them. Each `mx` may ask for ten hosts. */
const MAX_MECHANISMS = 10;
const MAX_VOID = 2;
const MAX_LOOKUPS = 60;

export interface SpfCheck {
  readonly result: MethodResult;
  /** The domain of the reverse-path, or of HELO for the null one (RFC 7208 §2.4). */
  readonly domain: string;
}

export interface SpfQuestion {
  readonly remoteAddress: string;
  readonly heloName: string;
  readonly envelopeFrom: string;
  readonly hostname: string;
}

/** RFC 7208. `none` when the message did not come from an address, by another door than SMTP. */
export async function checkSpf(question: SpfQuestion, resolve: Resolve): Promise<SpfCheck> {
  const { remoteAddress, heloName, envelopeFrom, hostname } = question;
  if (isIP(remoteAddress) === 0) return { result: 'none', domain: '' };
  const lookups = boundLookups(resolve, MAX_LOOKUPS);
  const found = await spf({
    sender: envelopeFrom,
    ip: remoteAddress,
    helo: heloName,
    mta: hostname,
    maxResolveCount: MAX_MECHANISMS,
    maxVoidCount: MAX_VOID,
    resolver: libraryResolver(lookups.resolve),
  });
  return { result: spfResult(found.status.result), domain: found.domain };
}

function spfResult(result: string): MethodResult {
  switch (result) {
    case 'pass':
    case 'fail':
    case 'softfail':
    case 'neutral':
    case 'none':
    case 'permerror':
      return result;
    default:
      return 'temperror';
  }
}
