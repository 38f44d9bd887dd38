import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { z } from 'zod';
import { ApiError } from './api-error.ts';

export interface Shop {
  readonly shopId: string;
  readonly apiKey: string;
  readonly name: string;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Checks `Authorization: Bearer` and `X-Shop-Id` of every request (API §5), in this order: 401
 * no or unknown key, 400 no shop, 403 the key of another shop. Keys are compared by their hashes,
 * in constant time.
 */
export function authenticate(shops: readonly Shop[]) {
  const known = shops.map(({ shopId, apiKey }) => ({
    shopId: shopId.toLowerCase(),
    key: digest(apiKey),
  }));
  return (request: Request, response: Response, next: NextFunction): void => {
    const [, bearer] = /^Bearer +(\S+) *$/i.exec(request.get('authorization') ?? '') ?? [];
    const key = digest(bearer ?? '');
    const owned = known.filter((shop) => timingSafeEqual(shop.key, key));
    if (bearer === undefined || owned.length === 0) {
      throw new ApiError(
        401,
        'the API key is missing or not known',
        {},
        {
          'WWW-Authenticate': 'Bearer',
        },
      );
    }
    const shopId = request.get('x-shop-id')?.toLowerCase();
    if (!z.guid().safeParse(shopId).success) {
      throw new ApiError(400, 'the request is not valid', { 'X-Shop-Id': 'expected a uuid' });
    }
    const shop = owned.find((candidate) => candidate.shopId === shopId);
    if (shop === undefined) throw new ApiError(403, 'the API key is not of this shop');
    response.locals['shop'] = shop.shopId;
    next();
  };
}

/** The shop that `authenticate` let in. */
export function shopOf(response: Response): string {
  const shop: unknown = response.locals['shop'];
  if (typeof shop !== 'string') throw new Error('a route without authentication');
  return shop;
}

/** At most this many requests a second and shop; 429 with `Retry-After` over it. */
export function limitRate(requestsPerSecond: number) {
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (_request: Request, response: Response, next: NextFunction): Promise<void> => {
    const refusal: unknown = await limiter.consume(shopOf(response)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (refusal instanceof RateLimiterRes) {
      throw new ApiError(
        429,
        'too many requests',
        {},
        {
          'Retry-After': String(Math.ceil(refusal.msBeforeNext / 1000)),
        },
      );
    }
    next();
  };
}
