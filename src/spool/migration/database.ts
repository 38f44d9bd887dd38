import type pg from 'pg';
import type { BlobStore } from '../blobs.ts';
import { SpoolUnusable } from '../errors.ts';
import type { Move } from '../move.ts';
import type { ScratchFiles } from '../scratch.ts';
import { Database, INTEGERS } from '../postgres/connection.ts';
import { erasureKeyRow } from '../postgres/erased-keys.ts';
import { databaseMove } from '../postgres/moved.ts';
import { makeStoreSchema, openBlobs } from '../postgres/open.ts';
import { jsonOf } from '../postgres/rows.ts';
import { NOW } from '../postgres/schema.ts';
import {
  type Digest,
  type Key,
  keyOf,
  type NamedBlob,
  type Progress,
  sumOf,
  type Target,
} from './rows.ts';
import { quoted, type Row, type Table, TABLES } from './tables.ts';

/** Raw forms have up to 64 KiB each. */
const ROWS_PER_PAGE = { plain: 2000, bytes: 200 };
/** Statements that compare or complete everything take minutes; the pool's have to be answered sooner. */
const APPLICATION = 'sluice migrate';

const NAMED_BLOBS = `(SELECT blob AS name, raw_size AS size FROM entry WHERE blob IS NOT NULL
  UNION SELECT blob, size FROM upload)`;

export interface DatabaseOptions {
  readonly url: string;
  readonly s3?: string | undefined;
  readonly scratch: ScratchFiles;
}

/** A store in PostgreSQL, which no gateway uses meanwhile. */
export class SharedDatabase implements Target {
  readonly name: string;
  readonly blobs: BlobStore;
  readonly #database: Database;
  readonly #client: pg.Client;

  private constructor(name: string, database: Database, client: pg.Client, blobs: BlobStore) {
    this.name = name;
    this.#database = database;
    this.#client = client;
    this.blobs = blobs;
  }

  /** @throws {SpoolUnusable} {SpoolUnavailable} */
  static async open({ url, s3, scratch }: DatabaseOptions): Promise<SharedDatabase> {
    const database = new Database(url, APPLICATION);
    try {
      await makeStoreSchema(database);
      const client = await database.connectAlone({ types: INTEGERS });
      const blobs = await openBlobs({ database, s3, scratch });
      return new SharedDatabase(withoutPassword(url), database, client, blobs);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async #rows<Found extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
  ): Promise<Found[]> {
    return (await this.#client.query<Found>(text, values)).rows;
  }

  move(): Promise<Move | undefined> {
    return databaseMove(this.#database);
  }

  /** Its commit waits for the disk and the standby, and with it all that was written before. */
  async setMove(move: Move | undefined): Promise<void> {
    if (move === undefined) {
      await this.#database.query('DELETE FROM moved');
      return;
    }
    await this.#database.query(
      `INSERT INTO moved (id, state, other, at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (one) DO UPDATE SET id = EXCLUDED.id, state = EXCLUDED.state, other = EXCLUDED.other,
         at = EXCLUDED.at`,
      [move.id, move.state, move.other, move.at],
    );
  }

  /** @throws {SpoolUnusable} a gateway or a command uses the database, or did a moment ago */
  async assertUnused(): Promise<void> {
    const [row] = await this.#rows<{ used: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'sluice')
         OR EXISTS (SELECT FROM lease WHERE until > ${NOW.name}())
         OR EXISTS (SELECT FROM lane WHERE owned AND due_at > ${NOW.name}()) AS used`,
    );
    if (row?.used !== true) return;
    throw new SpoolUnusable(
      `${this.name} is in use by a gateway or a command, or was within the last minute. Stop all of them first.`,
      { mayPass: true },
    );
  }

  /** @throws {SpoolUnusable} it has data of a store */
  async assertEmpty(): Promise<void> {
    const kept = TABLES.filter(({ name }) => !OVERWRITTEN.includes(name));
    const rows = await this.#rows<{ name: string }>(
      [...kept.map(({ name }) => name), 'erasure_key']
        .map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name})`)
        .join(' UNION ALL '),
    );
    if (rows.length > 0) {
      const names = rows.map(({ name }) => name).join(', ');
      throw new SpoolUnusable(
        `${this.name} is not empty (${names}). Name a new database, so that nothing is mixed.`,
      );
    }
    for (const name of OVERWRITTEN) await this.#client.query(`DELETE FROM ${name}`);
  }

  async count({ name, database = name }: Table): Promise<number> {
    const [row] = await this.#rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM ${database} AS each`,
    );
    return row?.n ?? 0;
  }

  async *read(table: Table, after?: Key): AsyncGenerator<readonly Row[]> {
    const { name, columns, key, bytes, database = name } = table;
    const limit = bytes === undefined ? ROWS_PER_PAGE.plain : ROWS_PER_PAGE.bytes;
    const order = key.map(quoted).join(', ');
    const page = (behind: Key | undefined) =>
      this.#rows<Row>(
        `SELECT ${columns.map(quoted).join(', ')} FROM ${database} AS each
         ${behind === undefined ? '' : `WHERE (${order}) > (${key.map((_, n) => `$${n + 1}`).join(', ')})`}
         ORDER BY ${order} LIMIT ${limit}`,
        [...(behind ?? [])],
      );
    let behind = after;
    for (;;) {
      const rows = await page(behind);
      if (rows.length > 0) yield rows;
      if (rows.length < limit) return;
      behind = keyOf(table, rows.at(-1));
    }
  }

  async digest(table: Table): Promise<Digest> {
    const { columns, database = table.name } = table;
    const selected = columns.map((column) =>
      column === table.bytes
        ? `encode(sha256(${quoted(column)}), 'hex') AS ${quoted(column)}`
        : quoted(column),
    );
    return this.#sum(
      'row_to_json(each)::text',
      `(SELECT ${selected.join(', ')} FROM ${database} AS kept)`,
    );
  }

  async #sum(text: string, from: string): Promise<Digest> {
    const [row] = await this.#rows<{ rows: number; hash: string }>(
      `SELECT count(*)::int AS rows, ${sumOf(text)} AS hash FROM ${from} AS each`,
    );
    return row ?? { rows: 0, hash: '0' };
  }

  namedBlobs(): Promise<readonly NamedBlob[]> {
    return this.#rows<NamedBlob & pg.QueryResultRow>(
      `SELECT name, size FROM ${NAMED_BLOBS} AS named`,
    );
  }

  storedBlobs(): Promise<readonly NamedBlob[]> {
    return this.#rows<NamedBlob & pg.QueryResultRow>(
      `SELECT name, coalesce(size, (SELECT sum(octet_length(bytes)) FROM blob_chunk WHERE blob = name)::bigint, 0)
         AS size FROM blob WHERE chunks > 0`,
    );
  }

  blobDigest(of: 'bytes' | 'sizes'): Promise<Digest> {
    const named = `blob.chunks > 0 AND name IN (SELECT name FROM ${NAMED_BLOBS} AS named)`;
    return of === 'sizes'
      ? this.#sum(`name || ' ' || size`, `(SELECT name, size FROM blob WHERE ${named})`)
      : this.#sum(
          `name || ' ' || encode(sha256(bytes), 'hex')`,
          `(SELECT name, string_agg(bytes, ''::bytea ORDER BY no) AS bytes
            FROM blob JOIN blob_chunk ON blob_chunk.blob = name WHERE ${named} GROUP BY name)`,
        );
  }

  async erasureKey(): Promise<Uint8Array | undefined> {
    const [row] = await this.#rows<{ key: Uint8Array }>('SELECT key FROM erasure_key');
    return row?.key;
  }

  async progress(): Promise<Progress | undefined> {
    // Blobs that were being written when the last run ended; an object may exist and is deleted by a sweep.
    await this.#client.query(`DELETE FROM blob WHERE chunks = 0 AND key IS NULL`);
    await this.#client.query(
      `UPDATE blob SET name = gen_random_uuid()::text WHERE chunks = 0 AND key IS NOT NULL`,
    );
    const [row] = await this.#rows<{ progress: string | null }>('SELECT progress FROM moved');
    // Written by `write`.
    return row?.progress ? (JSON.parse(row.progress) as Progress) : undefined;
  }

  async write(table: Table, rows: readonly Row[], progress: Progress): Promise<void> {
    const { items, bytes } = parametersOf(table, rows);
    await this.#inTransaction(async () => {
      // The last commit of the move covers it.
      await this.#client.query('SET LOCAL synchronous_commit = off');
      await this.#client.query(insertOf(table, rows), [items, ...(bytes ? [bytes] : [])]);
      await this.remember(progress);
    });
  }

  async remember(progress: Progress): Promise<void> {
    await this.#client.query('UPDATE moved SET progress = $1', [JSON.stringify(progress)]);
  }

  async #inTransaction(work: () => Promise<void>): Promise<void> {
    await this.#client.query('BEGIN');
    try {
      await work();
      await this.#client.query('COMMIT');
    } catch (error) {
      await this.#client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async complete(erasureKey: Uint8Array | undefined): Promise<void> {
    await this.#inTransaction(async () => {
      for (const sql of DERIVED) await this.#client.query(sql);
      if (erasureKey === undefined) return;
      await this.#client.query(
        'INSERT INTO erasure_key (key, inner_pad, outer_pad) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [...erasureKeyRow(erasureKey)],
      );
    });
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
    await this.#database.close();
  }
}

/** What a gateway that was started once has left in them is replaced. */
const OVERWRITTEN = ['mark', 'shop_health', 'probe_request'];

/** What follows from the copied rows. Made anew when the command was killed afterwards. */
const DERIVED = [
  'DELETE FROM remote',
  `INSERT INTO remote (hash, seq) SELECT DISTINCT ON (remote) remote, seq FROM entry
   WHERE remote IS NOT NULL ORDER BY remote, seq`,
  'DELETE FROM lane',
  `INSERT INTO lane (key, shop, head, due_at, waits, failures, after)
   SELECT DISTINCT ON (job.lane) job.lane, shop, seq, next_at, waits, failures, seq - 1
   FROM job JOIN entry USING (seq) ORDER BY job.lane, seq`,
  'DELETE FROM dirty',
  // The newest first: they are searched for most.
  `INSERT INTO dirty (seq, is_new, at) SELECT seq, true, ${NOW.name}() FROM entry ORDER BY seq DESC`,
  `SELECT setval('entry_seq', coalesce(max(seq), 0) + 1, false) FROM entry`,
  ...['audit', 'visitor'].map(
    (name) =>
      `SELECT setval(pg_get_serial_sequence('${name}', 'no'), coalesce(max(no), 0) + 1, false) FROM ${name}`,
  ),
  'ANALYZE',
];

const FROM = '_from';
const LENGTH = '_length';

/** All rows as JSON, and the bytes of all of them, one after the other, as in `accept`. */
function parametersOf({ bytes }: Table, rows: readonly Row[]) {
  if (bytes === undefined) return { items: jsonOf(rows) };
  const all: Uint8Array[] = [];
  let from = 0;
  const items = rows.map((row) => {
    const value = row[bytes];
    if (!(value instanceof Uint8Array)) return row;
    all.push(value);
    from += value.byteLength;
    const [start, length] = [from - value.byteLength, value.byteLength];
    return { ...row, [bytes]: null, [FROM]: start, [LENGTH]: length };
  });
  return { items: jsonOf(items), bytes: Buffer.concat(all, from) };
}

function insertOf({ name, bytes }: Table, rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const values = columns.map((column) =>
    column === bytes
      ? `substr($2::bytea, (item->>'${FROM}')::int + 1, (item->>'${LENGTH}')::int)`
      : `each.${quoted(column)}`,
  );
  // NULL of the table's type: `record` is also the name of a pseudo-type.
  const none = `(SELECT each FROM ${name} AS each LIMIT 0)`;
  const source =
    bytes === undefined
      ? `json_populate_recordset(${none}, $1::json) AS each`
      : `json_array_elements($1::json) AS item CROSS JOIN LATERAL json_populate_record(${none}, item) AS each`;
  return `INSERT INTO ${name} (${columns.map(quoted).join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${values.join(', ')} FROM ${source}`;
}

/** `postgres://user@host:5432/name`; also of a list of hosts. */
export const withoutPassword = (url: string): string =>
  url.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1@').split('?', 1)[0] ?? '';
