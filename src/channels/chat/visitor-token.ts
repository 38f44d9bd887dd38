import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { asVisitorId, type VisitorId } from '../../domain/ids.ts';

export interface SigningKey {
  /** Letters, digits, `_` and `-`; stands in the token. */
  readonly id: string;
  readonly secret: string;
}

export interface TokenBearer {
  readonly widgetKey: string;
  readonly visitorId: VisitorId;
  /** It was minted for a visitor whose identity was verified. */
  readonly verified: boolean;
}

const LIFETIME_MS = 365 * 24 * 60 * 60 * 1000;
const MAX_LENGTH = 512;
const MIN_SECRET_BYTES = 16;
const KEY_ID = /^[\w-]{1,32}$/;
const TOKEN = /^([\w-]{1,32})\.([0-9a-f]{32})(v?)\.([0-9a-z]{1,10})\.([\w-]{1,256})\.([\w-]{43})$/;

/** 128 random bits in hex. */
export const newVisitorId = (): VisitorId => asVisitorId(randomBytes(16).toString('hex'));

/**
 * The tokens that visitors are known by: `<key id>.<visitor>.<expiry>.<widget key>.<HMAC-SHA256>`,
 * with a `v` behind the visitor when his identity was verified. One without it does not stand for a
 * verified visitor: whoever had it before he said who he is must not read on.
 * The first key signs, all of them verify, so that a key can be replaced without losing anyone.
 */
export class VisitorTokens {
  readonly #keys: ReadonlyMap<string, string>;
  readonly #signing: SigningKey;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;

  /** @throws {RangeError} no key, or one that is too weak or badly named */
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

  mint({ widgetKey, visitorId, verified }: TokenBearer): string {
    const expiry = Math.floor((this.#clock() + this.#lifetimeMs) / 1000).toString(36);
    const key = Buffer.from(widgetKey).toString('base64url');
    const visitor = verified ? `${visitorId}v` : visitorId;
    const body = `${this.#signing.id}.${visitor}.${expiry}.${key}`;
    return `${body}.${mac(this.#signing.secret, body).toString('base64url')}`;
  }

  /** Who bears this token; undefined when it is not ours, was changed, or has expired. */
  verify(token: string): TokenBearer | undefined {
    if (token.length > MAX_LENGTH) return undefined;
    const [, keyId, visitor, verified, expiry, widgetKey, signature] = TOKEN.exec(token) ?? [];
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
    };
  }
}

/** The prefix keeps these signatures apart from anything else signed with the same secret. */
const mac = (secret: string, body: string): Buffer =>
  createHmac('sha256', secret).update(`sluice visitor token\n${body}`).digest();
