import { dmarc } from 'mailauth/lib/dmarc/index.js';
import { boundLookups } from './bounded-lookups.ts';
import type { Resolve } from './dns-resolver.ts';
import { libraryResolver } from './library-resolver.ts';
import type { PublishedPolicy } from './verdict.ts';

export type DmarcRecord =
  | { readonly kind: 'none' | 'temperror' }
  | {
      readonly kind: 'found';
      readonly policy: PublishedPolicy;
      readonly strictSpf: boolean;
      readonly strictDkim: boolean;
    };

const MAX_LOOKUPS = 4;

/** What a domain publishes, or the organization that it belongs to (RFC 7489 §6.6.3). */
export async function readDmarcRecord(domain: string, resolve: Resolve): Promise<DmarcRecord> {
  if (!domain.includes('.')) return { kind: 'none' };
  const lookups = boundLookups(resolve, MAX_LOOKUPS);
  const found = await dmarc({
    headerFrom: `author@${domain}`,
    spfDomains: [],
    dkimDomains: [],
    resolver: libraryResolver(lookups.resolve),
  });
  if (found === false || found.status.result === 'none') return { kind: 'none' };
  if (found.status.result === 'temperror') return { kind: 'temperror' };
  const tags = readTags(found.rr ?? '');
  return {
    kind: 'found',
    policy: effectivePolicy(found.policy, tags.get('pct')),
    strictSpf: tags.get('aspf') === 's',
    strictDkim: tags.get('adkim') === 's',
  };
}

/**
 * `pct` is no lottery here, as in DMARC's revision; only `pct=0`, by which domains say that they
 * are still testing, takes the next milder policy (RFC 7489 §6.6.4).
 */
function effectivePolicy(published: string | undefined, pct: string | undefined): PublishedPolicy {
  const policy = published?.trim().toLowerCase();
  if (policy !== 'reject' && policy !== 'quarantine') return 'none';
  if (pct !== '0') return policy;
  return policy === 'reject' ? 'quarantine' : 'none';
}

function readTags(record: string): ReadonlyMap<string, string> {
  return new Map(
    record.split(';').map((tag) => {
      const [name = '', value = ''] = tag.split('=');
      return [name.trim().toLowerCase(), value.trim().toLowerCase()];
    }),
  );
}
