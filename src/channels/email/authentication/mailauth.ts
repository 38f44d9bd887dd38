/**
 * SPF by mailauth; the only file that imports the library. DMARC is in dmarc.ts.
 *
 * `spf` and `arc` are documented. The undocumented members are declared in
 * mailauth-internals.d.ts; the version is pinned, and test/channels/email/library-shape.test.ts
 * fails if one of them changes:
 *
 * | member | why |
 * | --- | --- |
 * | `DkimVerifier`: `messageHeaders`, `nextChunk`, `finalChunk`, `results`, `arc` | the library's own reader searches for line ends byte by byte and has no limit |
 * | `signingHeaders.keys` of a result | the fields that a signature covers |
 * | `parseHeaders` | creates the input of `messageHeaders` |
 */
import { isIP } from 'node:net';
import { spf } from 'mailauth/lib/spf/index.js';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import { parseHeaders } from 'mailauth/lib/tools.js';
import type { DNSResolver } from 'mailauth';
import { DnsError, type Resolve } from './dns-resolver.ts';
import type { MethodResult } from './verdict.ts';

export { arc } from 'mailauth/lib/arc/index.js';
export { DkimVerifier, parseHeaders };

/**
 * RFC 7208 §4.6.4: the number of mechanisms with look-ups, which mailauth counts. Each `mx` may
 * look up ten hosts.
 */
const MAX_MECHANISMS = 10;
const MAX_VOID = 2;
const MAX_SPF_LOOKUPS = 60;

export interface SpfCheck {
  readonly result: MethodResult;
  /** The domain of the reverse-path, or of HELO for the null one (RFC 7208 §2.4). */
  readonly domain: string;
}

interface SpfQuestion {
  readonly remoteAddress: string;
  readonly heloName: string;
  readonly envelopeFrom: string;
  readonly hostname: string;
}

/**
 * RFC 7208. `none` if the message arrived through another door than SMTP, without a client address.
 */
export async function checkSpf(question: SpfQuestion, resolve: Resolve): Promise<SpfCheck> {
  const { remoteAddress, heloName, envelopeFrom, hostname } = question;
  if (isIP(remoteAddress) === 0) return { result: 'none', domain: '' };
  const lookups = boundLookups(resolve, MAX_SPF_LOOKUPS);
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

/** The look-ups of one part of a check. */
interface BoundedLookups {
  readonly resolve: Resolve;
  /** A server failed to answer one of them. */
  readonly hadTrouble: () => boolean;
}

/**
 * Allows at most `maxLookups`, and only for names that `isWorthAsking`. Any other look-up gets
 * ENOTFOUND: a message that needs more is hostile, and that is not a DNS failure.
 */
export function boundLookups(
  resolve: Resolve,
  maxLookups: number,
  isWorthAsking: (name: string) => boolean = () => true,
): BoundedLookups {
  let asked = 0;
  let trouble = false;
  return {
    hadTrouble: () => trouble,
    async resolve(name, type) {
      asked += 1;
      if (asked > maxLookups || !isWorthAsking(name)) throw new DnsError('ENOTFOUND');
      try {
        return await resolve(name, type);
      } catch (error) {
        const { code } = error instanceof DnsError ? error : new DnsError('ESERVFAIL');
        trouble ||= code === 'ETIMEOUT' || code === 'ESERVFAIL';
        throw error;
      }
    },
  };
}

/**
 * The resolver with the library's type, which lacks MX records. The library sorts the lists that it
 * gets, so it receives copies; the originals are in a cache.
 */
export function libraryResolver(resolve: Resolve): DNSResolver {
  // MX records are objects, and the library reads them as such.
  return async (name, type) => [...(await resolve(name, type))] as string[];
}
