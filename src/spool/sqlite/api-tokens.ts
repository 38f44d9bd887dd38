import type { ApiToken } from '../../domain/api-token.ts';
import type { Clock } from '../../runtime/clock.ts';
import { apiTokenOfRow, type ApiTokenRow } from '../api-token-row.ts';
import { type NewApiToken, TOKEN_USE_MS } from '../api-token-store.ts';
import type { Db } from './database.ts';

const COLUMNS = 'id, name, scope, made_by, made_at, ends_at, used_at';

/** Reads the tokens of the admin API (`api-token-store.ts`). */
export class ApiTokenQueries {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      byHash: db.prepare<[string], ApiTokenRow>(`SELECT ${COLUMNS} FROM api_tokens WHERE hash = ?`),
      all: db.prepare<[], ApiTokenRow>(`SELECT ${COLUMNS} FROM api_tokens ORDER BY name`),
    };
  }

  apiTokenOf(hash: string): ApiToken | undefined {
    const row = this.#sql.byHash.get(hash);
    return row && apiTokenOfRow(row);
  }

  apiTokens(): ApiToken[] {
    return this.#sql.all.all().map(apiTokenOfRow);
  }
}

/** Changes them. */
export class ApiTokenTable {
  readonly #clock: Clock;
  readonly #sql;

  constructor(db: Db, clock: Clock) {
    this.#clock = clock;
    this.#sql = {
      add: db.prepare(
        `INSERT INTO api_tokens (id, hash, name, scope, made_by, made_at, ends_at)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
      ),
      remove: db.prepare(`DELETE FROM api_tokens WHERE id = ?`),
      used: db.prepare(
        `UPDATE api_tokens SET used_at = @now
         WHERE id = @id AND (used_at IS NULL OR used_at <= @now - ${TOKEN_USE_MS})`,
      ),
    };
  }

  addApiToken({ id, hash, name, scope, madeBy, madeAt, endsAt }: NewApiToken): boolean {
    return this.#sql.add.run(id, hash, name, scope, madeBy, madeAt, endsAt ?? null).changes > 0;
  }

  removeApiToken(id: string): boolean {
    return this.#sql.remove.run(id).changes > 0;
  }

  apiTokenUsed(id: string): void {
    this.#sql.used.run({ id, now: this.#clock() });
  }
}
