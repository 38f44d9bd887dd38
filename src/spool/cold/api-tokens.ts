import type { ApiToken } from '../../domain/api-token.ts';
import { type NewApiToken, TOKEN_USE_MS } from '../api-token-store.ts';
import { type Dialect, type Operation, rowsOf } from './operation.ts';

interface ApiTokenRow extends Omit<ApiToken, 'endsAt' | 'usedAt'> {
  readonly endsAt: number | null;
  readonly usedAt: number | null;
}

const COLUMNS = `id, name, scope, made_by AS "madeBy", made_at AS "madeAt", ends_at AS "endsAt", used_at AS "usedAt"`;

/** The tokens of the admin API. `ApiTokenStore` documents the methods. */
export const apiTokenOperations = ({ tables: { apiTokens }, now }: Dialect) => ({
  *addApiToken(token: NewApiToken): Operation<boolean> {
    const { id, hash, name, scope, madeBy, madeAt, endsAt = null } = token;
    const added = yield* rowsOf(
      `INSERT INTO ${apiTokens} (id, hash, name, scope, made_by, made_at, ends_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO NOTHING RETURNING id`,
      ...[id, hash, name, scope, madeBy, madeAt, endsAt],
    );
    return added.length > 0;
  },

  *apiTokenOf(hash: string): Operation<ApiToken | undefined> {
    const sql = `SELECT ${COLUMNS} FROM ${apiTokens} WHERE hash = $1`;
    const [row] = yield* rowsOf<ApiTokenRow>(sql, hash);
    return row && apiTokenOfRow(row);
  },

  *apiTokens(): Operation<readonly ApiToken[]> {
    const rows = yield* rowsOf<ApiTokenRow>(`SELECT ${COLUMNS} FROM ${apiTokens}`);
    // The databases order texts by different rules.
    return rows.map(apiTokenOfRow).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  },

  *removeApiToken(id: string): Operation<boolean> {
    // PostgreSQL refuses to compare a uuid with a text that is none.
    const sql = `DELETE FROM ${apiTokens} WHERE CAST(id AS text) = $1 RETURNING id`;
    return (yield* rowsOf(sql, id)).length > 0;
  },

  *apiTokenUsed(id: string): Operation<void> {
    yield* rowsOf(
      `UPDATE ${apiTokens} SET used_at = ${now}
       WHERE id = $1 AND (used_at IS NULL OR used_at <= ${now} - ${TOKEN_USE_MS})`,
      id,
    );
  },
});

const apiTokenOfRow = ({ endsAt, usedAt, ...token }: ApiTokenRow): ApiToken => ({
  ...token,
  ...(endsAt !== null && { endsAt }),
  ...(usedAt !== null && { usedAt }),
});
