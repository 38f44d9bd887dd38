import { createHash, timingSafeEqual } from 'node:crypto';
import { canonicalAddress } from '../../domain/email-addresses.ts';
import type { AddressDirectory } from './routing.ts';
import type { ShopId } from '../../domain/ids.ts';
import { InboundRefusal } from './refusals.ts';
import type { TokenShop } from './shop.ts';

export interface InboundEnvelope {
  /** Empty for the null sender of bounces. */
  readonly from: string;
  /** At least one, without duplicates. */
  readonly recipients: readonly string[];
}

/**
 * Reads `?from=&to=` of a request target. `+` is literal and not a space, because addresses contain
 * no spaces and people write `support+order@acme.example` into such a URL.
 * @throws {InboundRefusal}
 */
export function readEnvelope(target: string, maxRecipients: number): InboundEnvelope {
  const froms: string[] = [];
  const recipients = new Set<string>();
  for (const [name, value] of parameters(target)) {
    if (name === 'from') froms.push(value);
    else if (name === 'to') recipients.add(address(value, 'to'));
  }
  const [from, ...others] = froms;
  if (from === undefined || others.length > 0) {
    throw new InboundRefusal('envelope', 'Give one from=, empty for the null sender');
  }
  if (recipients.size === 0) throw new InboundRefusal('envelope', 'Give at least one to=');
  if (recipients.size > maxRecipients) {
    const text = `Give at most ${maxRecipients} to=, the rest in another request`;
    throw new InboundRefusal('too_many_recipients', text);
  }
  return { from: from === '' ? '' : address(from, 'from'), recipients: [...recipients] };
}

/**
 * All recipients must belong to this shop: the token is for its mail only, and the response must
 * not reveal which addresses other shops have.
 * @throws {InboundRefusal}
 */
export function assertOwnRecipients(
  { recipients }: InboundEnvelope,
  shopId: ShopId,
  directory: AddressDirectory,
): void {
  for (const [index, recipient] of recipients.entries()) {
    const route = directory.route(recipient);
    if (typeof route !== 'string' && route.shopId === shopId) continue;
    const which = recipients.length === 1 ? 'The recipient' : `Recipient ${index + 1}`;
    throw new InboundRefusal('unknown_recipient', `${which} is no mailbox of this shop`);
  }
}

function parameters(target: string): [name: string, value: string][] {
  const [, query = ''] = /\?([^#]*)/.exec(target) ?? [];
  return query.split('&').map((pair) => {
    const at = pair.indexOf('=');
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    try {
      return [decodeURIComponent(name), decodeURIComponent(value)];
    } catch (cause) {
      throw new InboundRefusal('envelope', 'The query is not percent-encoded UTF-8', { cause });
    }
  });
}

function address(value: string, name: string): string {
  // RFC 5321 §4.1.1.3: a bare postmaster is a recipient.
  const bare = name === 'to' && value.toLowerCase() === 'postmaster';
  const canonical = bare ? value : canonicalAddress(value.replace(/^<(.*)>$/s, '$1'));
  if (canonical === undefined) throw new InboundRefusal('envelope', `${name}= is no address`);
  return canonical;
}

/** Finds the shop of a bearer token. */
interface InboundTokens {
  /** For an `Authorization` header (RFC 6750 §2.1); undefined if it matches no shop. */
  shopOf(authorization: string | undefined): ShopId | undefined;
}

const BEARER = /^Bearer +([^\s]{1,1024}) *$/i;

/**
 * Compares hashes, and always with all tokens, so that neither the duration nor the number of
 * comparisons reveals anything about a token.
 */
export function createInboundTokens(shops: readonly TokenShop[]): InboundTokens {
  const known = shops.flatMap(({ shopId, tokens }) =>
    tokens.map((token) => ({ shopId, digest: sha256(token) })),
  );
  return {
    shopOf(authorization) {
      const token = BEARER.exec(authorization ?? '')?.[1];
      if (token === undefined) return undefined;
      const digest = sha256(token);
      let found: ShopId | undefined;
      for (const each of known) {
        if (timingSafeEqual(each.digest, digest)) found ??= each.shopId;
      }
      return found;
    },
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
