import { addLatest } from '../../runtime/keep-latest.ts';
import { type ApiToken, hasEnded } from '../../domain/api-token.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ApiTokenStore, TOKEN_USE_MS } from '../../spool/api-token-store.ts';

/** Limit of remembered hashes of tokens that were right. */
const MAX_KNOWN = 1000;

interface ApiTokenParts {
  readonly store: ApiTokenStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The tokens of the admin API, for the sign-in and the stream. The store is asked at each request, so
 * that a token is revoked at all gateways at once.
 */
export class ApiTokens {
  readonly #parts: ApiTokenParts;
  /** Hashes that were those of a token. */
  readonly #known = new Set<string>();

  constructor(parts: ApiTokenParts) {
    this.#parts = parts;
  }

  /** Whether the hash was that of a token when it was last looked for. */
  isKnown(hash: string): boolean {
    return this.#known.has(hash);
  }

  /** Also one that has ended. */
  async find(hash: string): Promise<ApiToken | undefined> {
    const token = await this.#parts.store.apiTokenOf(hash);
    if (token === undefined) this.#known.delete(hash);
    else addLatest(this.#known, hash, MAX_KNOWN);
    return token;
  }

  /** A use that cannot be noted, as on a full disk, is only logged. */
  async noteUse({ id, usedAt = 0 }: ApiToken): Promise<void> {
    const { store, clock, logger } = this.#parts;
    if (clock() - usedAt < TOKEN_USE_MS) return;
    try {
      await store.apiTokenUsed(id);
    } catch (error) {
      logger.warn('console.failed', errorFields(error));
    }
  }

  /** The ids of those that are neither revoked nor ended. */
  async validIds(): Promise<ReadonlySet<string>> {
    const now = this.#parts.clock();
    const tokens = await this.#parts.store.apiTokens();
    return new Set(tokens.filter((token) => !hasEnded(token, now)).map(({ id }) => id));
  }
}
