import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { ApiToken } from '../domain/api-token.ts';

/** A use is noted at most this often, so that a script does not write with every request. */
export const TOKEN_USE_MS = 60_000;
/** More than people can tell apart in a list. */
const MAX_TOKENS = 200;
const SECRET = /^sluice_[\w-]{43}$/;

export interface NewApiToken extends Omit<ApiToken, 'usedAt'> {
  /** `tokenHash` of the secret, which is not stored. */
  readonly hash: string;
}

/**
 * The tokens of the admin API. All gateways with the store see a new or removed one at their next
 * call.
 */
export interface ApiTokenStore {
  /** False: there is one with this name. */
  addApiToken(token: NewApiToken): Promise<boolean>;
  /** Also one that has ended. */
  apiTokenOf(hash: string): Promise<ApiToken | undefined>;
  /** By name. */
  apiTokens(): Promise<readonly ApiToken[]>;
  /** False: there is none with this id. */
  removeApiToken(id: string): Promise<boolean>;
  /** Notes a use, unless one was noted within `TOKEN_USE_MS`. */
  apiTokenUsed(id: string): Promise<void>;
}

/** Whether a text has the form of a token, so that it is no password. */
export const isTokenSecret = (text: string): boolean => SECRET.test(text);

/** A token is random, so its hash needs neither salt nor cost. */
export const tokenHash = (secret: string): string => hash('sha256', secret, 'hex');

/** No token was made: the message says why. */
export class TokenRefused extends Error {
  override name = 'TokenRefused';
}

/**
 * Makes a token. Its secret is returned here and never again. The prefix lets scanners recognize it
 * in a repository or a log.
 * @throws {TokenRefused} the name is taken, or there are too many tokens
 */
export async function makeToken(
  store: Pick<ApiTokenStore, 'addApiToken' | 'apiTokens'>,
  wanted: Omit<ApiToken, 'id' | 'usedAt'>,
): Promise<{ readonly secret: string; readonly token: ApiToken }> {
  const { length } = await store.apiTokens();
  if (length >= MAX_TOKENS) {
    throw new TokenRefused(`There are ${length} tokens: revoke those that nobody uses`);
  }
  const secret = `sluice_${randomBytes(32).toString('base64url')}`;
  const token = { id: randomUUID(), ...wanted };
  if (!(await store.addApiToken({ ...token, hash: tokenHash(secret) }))) {
    throw new TokenRefused(
      `There is a token ${wanted.name}: revoke it first, or choose another name`,
    );
  }
  return { secret, token };
}
