import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import { asVisitorId, type ShopId, type VisitorId } from '../../domain/ids.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChatStore, VisitorRecord } from '../../spool/chat-store.ts';
import type { Signals } from '../../spool/signals.ts';
import { cleanName } from './receive.ts';
import type { ChatShop } from './shop.ts';
import type { ReplyPlatform } from './visitor-requests.ts';
import type { Visitors } from './visitors.ts';

/**
 * Identifies clients: by their token (`VisitorTokens`), by a JWT of the shop's own server
 * (`verifyIdentity`), and the resulting visitor of both (`Recognition`).
 */

export interface SigningKey {
  /** Letters, digits, `_` and `-`; part of the token. */
  readonly id: string;
  readonly secret: string;
}

export interface TokenBearer {
  readonly widgetKey: string;
  readonly visitorId: VisitorId;
  /** The token was issued to a visitor with a verified identity. */
  readonly verified: boolean;
  /** How often the visitor had logged out before (`VisitorRecord.logouts`). */
  readonly logouts: number;
}

const LIFETIME_MS = 365 * 24 * 60 * 60 * 1000;
const MAX_TOKEN_LENGTH = 512;
const MIN_SECRET_BYTES = 16;
const KEY_ID = /^[\w-]{1,32}$/;
const TOKEN =
  /^([\w-]{1,32})\.([0-9a-f]{32})(v?)(?:-([1-9]\d{0,8}))?\.([0-9a-z]{1,10})\.([\w-]{1,256})\.([\w-]{43})$/;

/** 128 random bits in hex. */
export const newVisitorId = (): VisitorId => asVisitorId(randomBytes(16).toString('hex'));

/**
 * The tokens that identify visitors: `<key id>.<visitor>.<expiry>.<widget key>.<HMAC-SHA256>`, with
 * a `v` after the visitor if the identity was verified, then `-` and the number of earlier logouts
 * if there was one. A token without `v` is not valid for a
 * verified visitor, because another person may have had it before the identification. The first key
 * signs and all keys verify, so a key can be replaced without losing visitors.
 */
export class VisitorTokens {
  readonly #keys: ReadonlyMap<string, string>;
  readonly #signing: SigningKey;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;

  /** @throws {RangeError} there is no key, or one is too weak or has an invalid id */
  constructor(keys: readonly SigningKey[], clock: Clock, lifetimeMs = LIFETIME_MS) {
    const [first] = keys;
    if (first === undefined) throw new RangeError('expected at least one signing key');
    for (const { id, secret } of keys) {
      if (!KEY_ID.test(id)) throw new RangeError('expected a key id of letters, digits, _ and -');
      if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) {
        throw new RangeError(`expected a signing secret of at least ${MIN_SECRET_BYTES} bytes`);
      }
    }
    this.#signing = first;
    this.#keys = new Map(keys.map(({ id, secret }) => [id, secret]));
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
  }

  mint({ widgetKey, visitorId, verified, logouts }: TokenBearer): string {
    const expiry = Math.floor((this.#clock() + this.#lifetimeMs) / 1000).toString(36);
    const key = Buffer.from(widgetKey).toString('base64url');
    const visitor = `${visitorId}${verified ? 'v' : ''}${logouts > 0 ? `-${logouts}` : ''}`;
    const body = `${this.#signing.id}.${visitor}.${expiry}.${key}`;
    return `${body}.${mac(this.#signing.secret, body).toString('base64url')}`;
  }

  /** The bearer of the token; undefined if the token is invalid or expired. */
  verify(token: string): TokenBearer | undefined {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const [, keyId, visitor, verified, logouts = '0', expiry, widgetKey, signature] =
      TOKEN.exec(token) ?? [];
    const secret = keyId === undefined ? undefined : this.#keys.get(keyId);
    if (
      secret === undefined ||
      visitor === undefined ||
      expiry === undefined ||
      widgetKey === undefined ||
      signature === undefined
    ) {
      return undefined;
    }
    const body = token.slice(0, token.length - signature.length - 1);
    const given = Buffer.from(signature, 'base64url');
    const expected = mac(secret, body);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    if (parseInt(expiry, 36) * 1000 <= this.#clock()) return undefined;
    return {
      widgetKey: Buffer.from(widgetKey, 'base64url').toString(),
      visitorId: asVisitorId(visitor),
      verified: verified === 'v',
      logouts: Number(logouts),
    };
  }
}

/** The prefix separates these signatures from other uses of the same secret. */
const mac = (secret: string, body: string): Buffer =>
  createHmac('sha256', secret).update(`sluice visitor token\n${body}`).digest();

/** The visitor's identity according to the shop's own server. */
export interface Identity {
  readonly subject: string;
  readonly email?: string;
  readonly name?: string;
}

export interface VerifiedIdentity {
  readonly identity: Identity;
  /** It was valid once: it says who a client is only beside a token of the same visitor. */
  readonly hasExpired: boolean;
}

const MAX_JWT_LENGTH = 8 * 1024;
const MAX_LIFETIME_SECONDS = 3600;
const CLOCK_TOLERANCE_SECONDS = 60;

/** An unusable name or address is dropped; the identity remains valid. */
const claimsSchema = z.object({
  sub: z.string().min(1).max(255),
  exp: z.number(),
  email: z.string().max(254).pipe(z.email()).optional().catch(undefined),
  name: z.string().overwrite(cleanName).min(1).max(200).optional().catch(undefined),
});

/**
 * Verifies an identity JWT. The algorithm is fixed (RFC 8725 §3.1): a token with another one,
 * especially `none`, is rejected before any secret is used.
 * @returns undefined if no secret signed it, it is for another widget, or it is not valid yet
 */
export async function verifyIdentity(
  jwt: string,
  expected: { secrets: readonly string[]; audience: string; now: number },
): Promise<VerifiedIdentity | undefined> {
  if (jwt.length > MAX_JWT_LENGTH) return undefined;
  for (const secret of expected.secrets) {
    const signed = await claimsOf(jwt, secret, expected.audience, expected.now);
    if (signed === undefined) continue;
    const { claims, hasExpired } = signed;
    const remaining = claims.exp - expected.now / 1000;
    if (remaining > MAX_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS) return undefined;
    const identity = {
      subject: claims.sub,
      ...(claims.email !== undefined && { email: claims.email }),
      ...(claims.name !== undefined && { name: claims.name }),
    };
    return { identity, hasExpired };
  }
  return undefined;
}

async function claimsOf(
  jwt: string,
  secret: string,
  audience: string,
  now: number,
): Promise<{ claims: z.output<typeof claimsSchema>; hasExpired: boolean } | undefined> {
  let payload: JWTPayload;
  let hasExpired = false;
  try {
    ({ payload } = await jwtVerify(jwt, new TextEncoder().encode(secret), {
      algorithms: ['HS256'],
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    }));
  } catch (error) {
    // The visitor gets the same error code for every other reason. `exp` is checked last.
    if (!(error instanceof errors.JWTExpired)) return undefined;
    ({ payload } = error);
    hasExpired = true;
  }
  const claims = claimsSchema.safeParse(payload).data;
  return claims && { claims, hasExpired };
}

export interface RecognitionParts {
  readonly store: ChatStore;
  readonly visitors: Visitors;
  readonly signals: Signals;
  readonly replies?: Pick<ReplyPlatform, 'forgetAddress'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The recognised visitor; without a record, nothing is stored yet. */
export interface Recognised {
  readonly visitorId: VisitorId;
  readonly record: VisitorRecord | undefined;
}

/**
 * After a guest was identified in one tab, other tabs may still use the guest's token. During this
 * time they are told to reconnect with the token that the first tab received.
 */
const SUPERSEDED_MS = 60_000;

/**
 * Finds visitors by their tokens and identities.
 *
 * A guest's token becomes invalid once the guest is identified. Another person may have had it (on
 * a shared computer, or by planting it), and it would open all of the verified visitor's messages,
 * past and future. It can therefore neither read nor write there, and cannot be merged a second
 * time. An identity takes over only the history of the guest whose own token comes with it.
 */
export class Recognition {
  readonly #parts: RecognitionParts;
  readonly #supersededUntil = new Map<string, number>();

  constructor(parts: RecognitionParts) {
    this.#parts = parts;
  }

  /** @returns `superseded`: a token that was just replaced */
  async byToken(
    shop: ChatShop,
    bearer: TokenBearer | undefined,
  ): Promise<Recognised | 'superseded'> {
    if (bearer === undefined) return { visitorId: newVisitorId(), record: undefined };
    const { visitorId } = bearer;
    const record = await this.#parts.store.visitor(shop.shopId, visitorId);
    if (isCurrent(bearer, record)) return { visitorId, record };
    if (this.isSuperseded(shop, visitorId)) return 'superseded';
    return { visitorId: newVisitorId(), record: undefined };
  }

  /**
   * The visitor of a JWT that has expired, as a page from the browser's cache may have it: the token
   * stands on its own, so its bearer stays who they are, and nobody else is let in.
   */
  async byExpired(
    shop: ChatShop,
    { subject }: Identity,
    bearer: TokenBearer | undefined,
  ): Promise<Recognised | undefined> {
    if (bearer?.verified !== true) return undefined;
    const { visitorId } = bearer;
    const record = await this.#parts.store.visitor(shop.shopId, visitorId);
    return record?.subject === subject && isCurrent(bearer, record)
      ? { visitorId, record }
      : undefined;
  }

  /** The visitor with this identity, the same on every device. */
  async byIdentity(
    shop: ChatShop,
    identity: Identity,
    bearer: TokenBearer | undefined,
  ): Promise<Recognised> {
    const { store, visitors, signals, replies, clock, logger } = this.#parts;
    const guestId = await this.#guestOf(shop, bearer);
    // Whoever left an address before may be another person, who must not get the customer's replies.
    // Before, so that it is durable, and after, since a tab of the guest may have been asking.
    const forget = async (): Promise<void> => {
      if (guestId !== undefined) await replies?.forgetAddress(shop.shopId, guestId);
    };
    await forget();
    const { visitor, superseded, joinedLines } = await store.identifyVisitor({
      ...{ ...identity, shopId: shop.shopId, newId: newVisitorId(), at: clock() },
      ...(guestId !== undefined && { guestId }),
    });
    visitors.remember(visitor);
    await forget();
    if (superseded !== undefined) {
      this.supersede(shop.shopId, superseded);
      logger.info('chat.identified', { visitor: visitor.id, guest: superseded, joinedLines });
    }
    if (joinedLines > 0) visitors.catchUp(shop.shopId, visitor.id);
    if (superseded !== undefined) {
      const { shopId } = shop;
      signals.publish({ shopId, visitorId: superseded, what: 'identified' });
      signals.publish({ shopId, visitorId: visitor.id, what: 'line', seq: visitor.lastSeq });
    }
    return { visitorId: visitor.id, record: visitor };
  }

  /** The guest whose own token this is. */
  async #guestOf(shop: ChatShop, bearer: TokenBearer | undefined): Promise<VisitorId | undefined> {
    if (bearer?.verified !== false) return undefined;
    const record = await this.#parts.store.visitor(shop.shopId, bearer.visitorId);
    return isCurrent(bearer, record) ? bearer.visitorId : undefined;
  }

  /** Whether this guest was identified within the last minute. */
  isSuperseded(shop: ChatShop, visitorId: VisitorId): boolean {
    const until = this.#supersededUntil.get(`${shop.shopId}/${visitorId}`);
    return until !== undefined && until > this.#parts.clock();
  }

  /** A guest was identified, here or at another gateway. */
  supersede(shopId: ShopId, guestId: VisitorId): void {
    const now = this.#parts.clock();
    for (const [key, until] of this.#supersededUntil) {
      if (until > now) break;
      this.#supersededUntil.delete(key);
    }
    this.#supersededUntil.set(`${shopId}/${guestId}`, now + SUPERSEDED_MS);
    this.#parts.visitors.closeTabs(shopId, guestId);
  }
}

/** Whether a token is still valid for the visitor that it names. */
export function isCurrent(
  { verified, logouts }: Pick<TokenBearer, 'verified' | 'logouts'>,
  record: VisitorRecord | undefined,
): boolean {
  if (record === undefined) return true;
  if (logouts < record.logouts) return false;
  return record.joined === undefined && (verified || record.subject === undefined);
}
