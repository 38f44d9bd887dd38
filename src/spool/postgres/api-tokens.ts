import type { ApiToken } from '../../domain/api-token.ts';
import { apiTokenOfRow, type ApiTokenRow } from '../api-token-row.ts';
import { type ApiTokenStore, type NewApiToken, TOKEN_USE_MS } from '../api-token-store.ts';
import type { Database } from './connection.ts';
import { isUuid, storable } from './rows.ts';
import { NOW } from './schema.ts';

const COLUMNS = 'id, name, scope, made_by, made_at, ends_at, used_at';

/** The tokens of the admin API. */
export class ApiTokenTable implements ApiTokenStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async addApiToken(token: NewApiToken): Promise<boolean> {
    const { id, hash, name, scope, madeBy, madeAt, endsAt = null } = token;
    const rows = await this.#database.query(
      `INSERT INTO api_token (id, hash, name, scope, made_by, made_at, ends_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO NOTHING RETURNING id`,
      [id, hash, name, scope, storable(madeBy), madeAt, endsAt],
    );
    return rows.length > 0;
  }

  async apiTokenOf(hash: string): Promise<ApiToken | undefined> {
    const [row] = await this.#database.query<ApiTokenRow>(
      `SELECT ${COLUMNS} FROM api_token WHERE hash = $1`,
      [hash],
    );
    return row && apiTokenOfRow(row);
  }

  async apiTokens(): Promise<readonly ApiToken[]> {
    const rows = await this.#database.query<ApiTokenRow>(
      `SELECT ${COLUMNS} FROM api_token ORDER BY name COLLATE "C"`,
    );
    return rows.map(apiTokenOfRow);
  }

  async removeApiToken(id: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    const removed = await this.#database.query('DELETE FROM api_token WHERE id = $1 RETURNING id', [
      id,
    ]);
    return removed.length > 0;
  }

  async apiTokenUsed(id: string): Promise<void> {
    await this.#database.query(
      `UPDATE api_token SET used_at = ${NOW.name}()
       WHERE id = $1 AND (used_at IS NULL OR used_at <= ${NOW.name}() - ${TOKEN_USE_MS})`,
      [id],
    );
  }
}
