import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type ApiTokenStore,
  isTokenSecret,
  makeToken,
  TokenRefused,
  tokenHash,
} from '../../src/spool/api-token-store.ts';

interface Opened {
  readonly apiTokens: ApiTokenStore;
}

export interface ApiTokenStoreUnderTest extends Opened {
  /** Ends the process that had it and starts another. */
  reopen(): Promise<Opened>;
  /** Lets time pass since the uses that were noted. */
  pass(ms: number): Promise<void> | void;
  /** Everything that is stored about tokens, as a text. */
  stored(): Promise<string> | string;
  remove(): Promise<void>;
}

const WANTED = { name: 'ci', scope: 'read', madeBy: 'ann', madeAt: 1000 } as const;

/** What `api-token-store.ts` says in words. */
export function describeApiTokens(
  backend: string,
  open: () => Promise<ApiTokenStoreUnderTest>,
): void {
  describe(`tokens of the admin API on ${backend}`, () => {
    let under: ApiTokenStoreUnderTest;
    let tokens: ApiTokenStore;

    beforeEach(async () => {
      under = await open();
      tokens = under.apiTokens;
    });
    afterEach(() => under.remove());

    const usedAt = async () => (await tokens.apiTokens())[0]?.usedAt;

    test('a token is found by the hash of its secret, over a restart', async () => {
      const { secret, token } = await makeToken(tokens, { ...WANTED, endsAt: 2000 });
      expect(isTokenSecret(secret)).toBe(true);
      ({ apiTokens: tokens } = await under.reopen());
      expect(await tokens.apiTokenOf(tokenHash(secret))).toEqual({
        ...{ ...WANTED, endsAt: 2000, id: token.id },
      });
      for (const wrong of ['', secret, token.id, 'ci', tokenHash(tokenHash(secret)), '%']) {
        expect(await tokens.apiTokenOf(wrong)).toBeUndefined();
      }
    });

    test('the secret is not stored', async () => {
      const { secret } = await makeToken(tokens, WANTED);
      const stored = await under.stored();
      expect(stored).toContain('ci');
      expect(stored).toContain(tokenHash(secret));
      expect(stored).not.toContain(secret.slice('sluice_'.length));
    });

    test('all are listed by name; a name is taken once', async () => {
      for (const name of ['b', 'C', 'a']) await makeToken(tokens, { ...WANTED, name });
      expect((await tokens.apiTokens()).map(({ name }) => name)).toEqual(['C', 'a', 'b']);
      await expect(makeToken(tokens, { ...WANTED, name: 'a' })).rejects.toThrow(TokenRefused);
      const made = await Promise.allSettled(
        Array.from({ length: 10 }, () => makeToken(tokens, { ...WANTED, name: 'same' })),
      );
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('a removed token is gone, and its name is free', async () => {
      const { secret, token } = await makeToken(tokens, WANTED);
      expect(await tokens.removeApiToken(token.id)).toBe(true);
      expect(await tokens.apiTokenOf(tokenHash(secret))).toBeUndefined();
      expect(await tokens.removeApiToken(token.id)).toBe(false);
      for (const id of [randomUUID(), 'ci', '', `' OR 1=1 --`]) {
        expect(await tokens.removeApiToken(id)).toBe(false);
      }
      await makeToken(tokens, WANTED);
      expect(await tokens.apiTokens()).toHaveLength(1);
    });

    test('a use is noted once a minute', async () => {
      const { token } = await makeToken(tokens, WANTED);
      expect(await usedAt()).toBeUndefined();
      await Promise.all(Array.from({ length: 20 }, () => tokens.apiTokenUsed(token.id)));
      const first = await usedAt();
      expect(first).toBeGreaterThan(1.6e12);
      await under.pass(50_000);
      const before = await usedAt();
      await tokens.apiTokenUsed(token.id);
      expect(await usedAt()).toBe(before);
      await under.pass(20_000);
      await tokens.apiTokenUsed(token.id);
      expect(await usedAt()).toBeGreaterThanOrEqual(first ?? Infinity);
      await tokens.apiTokenUsed(randomUUID());
    });

    test('there are at most 200', async () => {
      for (let n = 0; n < 200; n += 1) await makeToken(tokens, { ...WANTED, name: `t${n}` });
      await expect(makeToken(tokens, WANTED)).rejects.toThrow('There are 200 tokens');
    });
  });
}
