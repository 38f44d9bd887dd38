import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { z } from 'zod';
import { type AddressMatcher, createAddressMatcher, domainOf } from '../domain/email-addresses.ts';
import { ApiError, invalidRequest } from './api-error.ts';

export interface Shop {
  readonly shopId: string;
  readonly apiKey: string;
  readonly name: string;
  /**
   * All mail to these comes to the shop: addresses and `*@domain`. From the first address it writes to
   * people who have not written to it.
   */
  readonly emailAddresses?: readonly string[];
  readonly unverifiedAnswers?: UnverifiedAnswers;
}

/** How many automatic answers in an hour leave through a relay to senders whom nothing confirms. */
export interface UnverifiedAnswers {
  readonly perHourPerNetwork: number;
  readonly perHourPerShop: number;
}

const UNVERIFIED_ANSWERS: UnverifiedAnswers = { perHourPerNetwork: 10, perHourPerShop: 60 };

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Authenticates a request by its `Authorization` and `X-Shop-Id` headers and returns its shop.
 * @throws {ApiError} 401, 400, 403
 */
export type ShopOfKey = (authorization: string | undefined, shopId: string | undefined) => string;

/**
 * Checks the key and the shop (API §5) in this order: 401 for no key or an unknown one, 400 without a
 * shop, 403 for the key of another shop. Keys are compared by their hashes, in constant time.
 */
export function shopOfKey(shops: readonly Shop[]): ShopOfKey {
  const known = shops.map(({ shopId, apiKey }) => ({
    shopId: shopId.toLowerCase(),
    key: digest(apiKey),
  }));
  return (authorization, header) => {
    const [, bearer] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (bearer === undefined) throw unauthorized('the API key is missing');
    const key = digest(bearer);
    const owned = known.filter((shop) => timingSafeEqual(shop.key, key));
    if (owned.length === 0) throw unauthorized('the API key is not known');
    const shopId = header?.trim().toLowerCase() ?? '';
    if (!z.guid().safeParse(shopId).success) {
      const words = shopId === '' ? 'required: the uuid of the shop' : 'expected a uuid';
      throw invalidRequest({ 'X-Shop-Id': words });
    }
    const shop = owned.find((candidate) => candidate.shopId === shopId);
    if (shop === undefined) {
      throw new ApiError(403, 'the API key is not of this shop', {
        'X-Shop-Id': 'expected the shop of this API key',
      });
    }
    return shop.shopId;
  };
}

/** Middleware that authenticates every request. */
export function authenticate(shopOfRequest: ShopOfKey) {
  return (request: Request, response: Response, next: NextFunction): void => {
    response.locals['shop'] = shopOfRequest(request.get('authorization'), request.get('x-shop-id'));
    next();
  };
}

const unauthorized = (message: string) =>
  new ApiError(
    401,
    message,
    { Authorization: 'expected Bearer and the API key of the shop' },
    { 'WWW-Authenticate': 'Bearer' },
  );

/** The shop of an authenticated request. */
export function shopOf(response: Response): string {
  const shop: unknown = response.locals['shop'];
  if (typeof shop !== 'string') throw new Error('the route has no authentication');
  return shop;
}

/** Limits the requests per second and shop; answers 429 with `Retry-After` above the limit. */
export function limitRate(requestsPerSecond: number) {
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (_request: Request, response: Response, next: NextFunction): Promise<void> => {
    const refusal: unknown = await limiter.consume(shopOf(response)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (refusal instanceof RateLimiterRes) {
      const seconds = String(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)));
      throw new ApiError(
        429,
        `too many requests: at most ${requestsPerSecond} per second are allowed`,
        {},
        { 'Retry-After': seconds },
      );
    }
    next();
  };
}

/** The shops that the platform currently serves. Ids are in lower case. */
export class ServedShops {
  readonly #names = new Map<string, string>();
  #emails: ReadonlyMap<
    string,
    { address: string | undefined; own: AddressMatcher; unverified: UnverifiedAnswers }
  > = new Map();
  #ofKey: ShopOfKey = shopOfKey([]);
  #withoutAgent: ReadonlySet<string> = new Set();

  constructor(shops: readonly Shop[], withoutAgent?: readonly string[]) {
    this.replace(shops, withoutAgent);
  }

  replace(shops: readonly Shop[], withoutAgent: readonly string[] = []): void {
    this.#ofKey = shopOfKey(shops);
    this.#withoutAgent = new Set(withoutAgent.map((id) => id.toLowerCase()));
    this.#emails = new Map(
      shops.map(({ shopId, emailAddresses = [], unverifiedAnswers }) => [
        shopId.toLowerCase(),
        {
          address: emailAddresses.find((each) => !each.startsWith('*@')),
          own: createAddressMatcher(emailAddresses),
          unverified: unverifiedAnswers ?? UNVERIFIED_ANSWERS,
        },
      ]),
    );
    // Updated in place, because other objects refer to the map. Names of removed shops are kept,
    // because their replies need them.
    for (const { shopId, name } of shops) this.#names.set(shopId.toLowerCase(), name);
  }

  /** Whether it is served now. */
  has(shop: string): boolean {
    return this.#emails.has(shop);
  }

  /** The configured address of a shop that is served now. */
  emailOf(shop: string): string | undefined {
    return this.#emails.get(shop)?.address;
  }

  /**
   * The address that an email was written to if it is listed; else the configured one, since whoever
   * writes to `*@domain` chooses the words before the `@`. Undefined if none is configured.
   */
  listedEmail(shop: string, writtenTo: string | null): string | undefined {
    const { address, own } = this.#emails.get(shop) ?? {};
    const match = own?.match(writtenTo ?? '');
    if (match?.kind === 'exact') return match.address;
    return address ?? (match && `support@${domainOf(match.address)}`);
  }

  unverifiedAnswersOf(shop: string): UnverifiedAnswers {
    return this.#emails.get(shop)?.unverified ?? UNVERIFIED_ANSWERS;
  }

  /** Whether a shop that is served now gets all mail to this address. */
  isOwnEmail(shop: string, email: string): boolean {
    return this.#emails.get(shop)?.own.has(email) ?? false;
  }

  /** By id; also of shops that are no longer served. */
  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  readonly ofKey: ShopOfKey = (authorization, shopId) => this.#ofKey(authorization, shopId);

  isWithoutAgent(shop: string): boolean {
    return this.#withoutAgent.has(shop);
  }
}
