import { createHash, timingSafeEqual } from 'node:crypto';
import type { ShopId } from '../../domain/ids.ts';

export interface TokenShop {
  readonly shopId: ShopId;
  readonly tokens: readonly string[];
}

/** Which shop a bearer token belongs to. */
export interface InboundTokens {
  /** Of an `Authorization` header (RFC 6750 §2.1); undefined when it names no shop. */
  shopOf(authorization: string | undefined): ShopId | undefined;
}

const BEARER = /^Bearer +([^\s]{1,1024}) *$/i;

/**
 * Compares hashes, and always with every token: neither the time of one comparison nor their
 * number tells anything of a token.
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
