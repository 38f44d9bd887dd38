import type { ShopId } from '../../domain/ids.ts';
import type { EntryMeta } from '../entry.ts';
import type { AuditLine, NewAuditLine, OperatorStore } from '../operator-store.ts';
import type { Database } from './connection.ts';
import { jsonOf, storable } from './rows.ts';
import { NEVER, NOW, sqlFunction } from './schema.ts';

/** The lock decides which of two gateways is the first one. */
const ADMIT_KEYS = sqlFunction(
  'admit_keys',
  `(fingerprints text[]) RETURNS boolean LANGUAGE plpgsql AS $$
   BEGIN
     LOCK TABLE known_key IN SHARE ROW EXCLUSIVE MODE;
     IF EXISTS (SELECT FROM known_key) AND
       NOT EXISTS (SELECT FROM known_key WHERE fingerprint = ANY (fingerprints)) THEN
       RETURN false;
     END IF;
     INSERT INTO known_key SELECT unnest(fingerprints) ON CONFLICT DO NOTHING;
     RETURN true;
   END $$`,
);

export const RECORD_FUNCTIONS = [ADMIT_KEYS];

/** What the gateway and the commands exchange about shops, named numbers, and the audit log. */
export class Records {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async saveShopHealth(shopId: ShopId, health: EntryMeta): Promise<void> {
    await this.#database.query(
      `INSERT INTO shop_health (shop, health) VALUES ($1, $2)
       ON CONFLICT (shop) DO UPDATE SET health = EXCLUDED.health`,
      [shopId, jsonOf(health)],
    );
  }

  async shopHealth(shopId: ShopId): Promise<EntryMeta | undefined> {
    const [row] = await this.#database.query<{ health: string }>(
      'SELECT health FROM shop_health WHERE shop = $1',
      [shopId],
    );
    // Written by `saveShopHealth`.
    return row && (JSON.parse(row.health) as EntryMeta);
  }

  async requestProbe(shopId: ShopId): Promise<void> {
    await this.#database.query(
      `INSERT INTO probe_request AS before (shop, at) VALUES ($1, ${NOW.name}())
       ON CONFLICT (shop) DO UPDATE SET at = greatest(before.at + 1, EXCLUDED.at)`,
      [shopId],
    );
  }

  async mark(name: string): Promise<number | undefined> {
    const [row] = await this.#database.query<{ at: number }>(
      'SELECT at FROM mark WHERE name = $1',
      [name],
    );
    return row?.at;
  }

  async setMark(name: string, value: number): Promise<void> {
    await this.#database.query(
      `INSERT INTO mark (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = EXCLUDED.at`,
      [name, value],
    );
  }

  async raiseMark(name: string, most: number): Promise<boolean> {
    const raised = await this.#database.query(
      `INSERT INTO mark (name, at) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET at = mark.at + 1
         WHERE mark.at >= 0 AND mark.at < $2 RETURNING name`,
      [name, most],
    );
    return raised.length > 0;
  }

  /**
   * Whether a gateway with these keys may use the database: the first one may, and each one that
   * has a key of another. Then its other keys count, too, so keys can be replaced one after the
   * other.
   */
  async admitKeys(fingerprints: readonly string[]): Promise<boolean> {
    const rows = await this.#database.query<{ admitted: boolean }>(
      `SELECT ${ADMIT_KEYS.name}($1) AS admitted`,
      [fingerprints],
    );
    return rows[0]?.admitted === true;
  }

  async audit({ who, action, target, outcome, address }: NewAuditLine): Promise<void> {
    await this.#database.query(
      `INSERT INTO audit (at, who, action, target, outcome, address)
       VALUES (${NOW.name}(), $1, $2, $3, $4, $5)`,
      [...[who, action, target, outcome].map(storable), address ?? null],
    );
  }

  async auditLines({
    before,
    limit,
    text,
    actions,
    from,
    to,
  }: Parameters<OperatorStore['auditLines']>[0]): Promise<readonly AuditLine[]> {
    const rows = await this.#database.query<
      Omit<AuditLine, 'address'> & { readonly address: string | null }
    >(
      `SELECT no, at, who, action, target, outcome, address FROM audit
       WHERE no < coalesce($1::bigint, ${NEVER}) AND at >= coalesce($2::bigint, 0)
         AND at < coalesce($3::bigint, ${NEVER}) AND ($4::text[] IS NULL OR action = ANY ($4))
         AND ($5::text IS NULL
           OR strpos(lower(concat_ws(E'\\n', who, target, outcome, address)), lower($5)) > 0)
       ORDER BY no DESC LIMIT $6`,
      [
        before ?? null,
        from ?? null,
        to ?? null,
        actions?.map(storable) ?? null,
        text === undefined ? null : storable(text),
        limit,
      ],
    );
    return rows.map(({ address, ...line }) => ({ ...line, ...(address !== null && { address }) }));
  }
}
