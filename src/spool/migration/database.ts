import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { BlobStore } from '../blobs.ts';
import { SpoolUnusable } from '../errors.ts';
import type { NamedBlob } from '../fleet.ts';
import type { Move } from '../move.ts';
import type { ScratchFiles } from '../scratch.ts';
import { Database, INTEGERS } from '../postgres/connection.ts';
import { ADD_ERASURE_KEY, erasureKeyRow } from '../postgres/erased-keys.ts';
import { databaseMove } from '../postgres/moved.ts';
import { makeStoreSchema, openBlobs } from '../postgres/open.ts';
import { jsonOf } from '../postgres/rows.ts';
import { NOW } from '../postgres/schema.ts';
import { type Contents, HASH_DIGITS, type Key, keyOf, type Place, type Progress } from './rows.ts';
import { quoted, type Row, type Table, TABLES, type Value } from './tables.ts';

/** Raw forms have up to 64 KiB each. */
const ROWS_PER_PAGE = { plain: 2000, bytes: 200 };
/** Statements that compare or complete everything take minutes; the pool's have to be answered sooner. */
const APPLICATION = 'sluice migrate';
const LOOK_EVERY_MS = 200;

export interface DatabaseOptions {
  readonly url: string;
  readonly s3?: string | undefined;
  readonly scratch: ScratchFiles;
}

/** A store in PostgreSQL, which no gateway uses meanwhile. */
export class SharedDatabase implements Place, Contents {
  readonly name: string;
  readonly undo = 'run DELETE FROM moved in it';
  readonly blobs: BlobStore;
  readonly #database: Database;
  readonly #client: pg.Client;
  /** Booleans and bytes, as `table.column`. */
  readonly #types = new Map<string, string>();

  private constructor(name: string, database: Database, client: pg.Client, blobs: BlobStore) {
    this.name = name;
    this.#database = database;
    this.#client = client;
    this.blobs = blobs;
  }

  /** @throws {SpoolUnusable} {SpoolUnavailable} */
  static async connect({ url, s3, scratch }: DatabaseOptions): Promise<SharedDatabase> {
    const database = new Database(url, APPLICATION);
    try {
      await makeStoreSchema(database);
      const client = await database.connectAlone({ types: INTEGERS });
      await othersEnd(client);
      const blobs = await openBlobs({ database, s3, scratch });
      const connected = new SharedDatabase(withoutPassword(url), database, client, blobs);
      await connected.#readTypes();
      return connected;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async #rows<Found extends object>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Found[]> {
    return (await this.#client.query<Found>(text, [...values])).rows;
  }

  async #readTypes(): Promise<void> {
    const columns = await this.#rows<{ name: string; type: string }>(
      `SELECT table_name || '.' || column_name AS name, data_type AS type FROM information_schema.columns
       WHERE table_schema = current_schema() AND data_type IN ('boolean', 'bytea')`,
    );
    for (const { name, type } of columns) this.#types.set(name, type);
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
       ON CONFLICT (one) DO UPDATE SET (id, state, other, at) = ($1, $2, $3, $4)`,
      [move.id, move.state, move.other, move.at],
    );
  }

  async open(): Promise<Contents> {
    await this.assertUnused();
    return this;
  }

  /** A gateway is also found for some time after its end. */
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

  async assertEmpty(): Promise<void> {
    await this.assertUnused();
    const kept = TABLES.filter(({ name }) => !OVERWRITTEN.includes(name));
    const rows = await this.#rows<{ name: string }>(
      [...kept.map(({ name }) => name), 'erasure_key']
        .map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name})`)
        .join(' UNION ALL '),
    );
    if (rows.length === 0) return;
    const names = rows.map(({ name }) => name).join(', ');
    throw new SpoolUnusable(
      `${this.name} is not empty (${names}). Name a new database, so that nothing is mixed.`,
    );
  }

  async count({ database }: Table): Promise<number> {
    const [row] = await this.#rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM ${database} AS each`,
    );
    return row?.n ?? 0;
  }

  /** A SELECT of a table's columns, with 0 and 1 for booleans. */
  #select({ name, columns, database }: Table, bytes: (column: string) => string = quoted): string {
    const selected = columns.map((column) => {
      const type = this.#types.get(`${name}.${column}`);
      const value = type === 'bytea' ? bytes(column) : quoted(column);
      return `${value}${type === 'boolean' ? '::int' : ''} AS ${quoted(column)}`;
    });
    return `SELECT ${selected.join(', ')} FROM ${database} AS each`;
  }

  #bytesOf({ name, columns }: Table): string | undefined {
    return columns.find((column) => this.#types.get(`${name}.${column}`) === 'bytea');
  }

  async *read(table: Table, after: Key = []): AsyncGenerator<readonly Row[]> {
    const limit = ROWS_PER_PAGE[this.#bytesOf(table) === undefined ? 'plain' : 'bytes'];
    const order = table.key.map(quoted).join(', ');
    for (let behind = after; ;) {
      const places = behind.map((_, n) => `$${n + 1}`).join(', ');
      const rows = await this.#rows<Row>(
        `${this.#select(table)} ${behind.length === 0 ? '' : `WHERE (${order}) > (${places})`}
         ORDER BY ${order} LIMIT ${limit}`,
        behind,
      );
      if (rows.length > 0) yield rows;
      if (rows.length < limit) return;
      behind = keyOf(table, rows.at(-1));
    }
  }

  /** The sum of the hashes of all rows, as in `Folder`. */
  async digest(table: Table): Promise<string> {
    const kept = this.#select(table, (column) => `encode(sha256(${quoted(column)}), 'hex')`);
    const [row] = await this.#rows<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(('x' || left(encode(sha256(convert_to(
         row_to_json(each)::text, 'UTF8')), 'hex'), ${HASH_DIGITS}))::bit(${4 * HASH_DIGITS})::bigint), 0) AS digest FROM (${kept}) AS each`,
    );
    return row?.digest ?? '';
  }

  namedBlobs(): Promise<readonly NamedBlob[]> {
    return this.#rows<NamedBlob>(
      `SELECT blob, raw_size AS size FROM entry WHERE blob IS NOT NULL
       UNION SELECT blob, size FROM upload`,
    );
  }

  async storedBlobs(of: 'sizes' | 'hashes'): Promise<ReadonlyMap<string, number | string>> {
    const chunks = (what: string) => `(SELECT ${what} FROM blob_chunk WHERE blob = name)`;
    const what =
      of === 'sizes'
        ? `coalesce(size, ${chunks('sum(octet_length(bytes))')}::bigint, 0)`
        : `encode(sha256(${chunks(`string_agg(bytes, ''::bytea ORDER BY no)`)}), 'hex')`;
    const rows = await this.#rows<{ name: string; what: number | string }>(
      `SELECT name, ${what} AS what FROM blob WHERE chunks > 0`,
    );
    return new Map(rows.map(({ name, what: found }) => [name, found]));
  }

  async erasureKey(): Promise<Uint8Array | undefined> {
    const [row] = await this.#rows<{ key: Uint8Array }>('SELECT key FROM erasure_key');
    return row?.key;
  }

  async resume(): Promise<Progress | undefined> {
    // The last commit of the move covers all others.
    await this.#client.query('SET synchronous_commit = off');
    // An object of a blob that was being written may exist, and is deleted by a sweep.
    await this.#client.query(`DELETE FROM blob WHERE chunks = 0 AND key IS NULL`);
    await this.#client.query(
      `UPDATE blob SET name = gen_random_uuid()::text WHERE chunks = 0 AND key IS NOT NULL`,
    );
    const [row] = await this.#rows<{ progress: string | null }>('SELECT progress FROM moved');
    // Written by `write`.
    if (row?.progress) return JSON.parse(row.progress) as Progress;
    for (const name of OVERWRITTEN) await this.#client.query(`DELETE FROM ${name}`);
    return undefined;
  }

  async write(progress: Progress, table?: Table, rows: readonly Row[] = []): Promise<void> {
    const copied = table === undefined ? '' : `WITH copied AS (${insertOf(table, rows)})`;
    const bytes = table && this.#bytesOf(table);
    const items =
      bytes === undefined ? rows : rows.map((row) => ({ ...row, [bytes]: hexOf(row[bytes]) }));
    await this.#client.query(`${copied} UPDATE moved SET progress = $1`, [
      ...[JSON.stringify(progress), ...(table === undefined ? [] : [jsonOf(items)])],
    ]);
  }

  async complete(erasureKey: Uint8Array | undefined): Promise<void> {
    for (const sql of DERIVED) await this.#client.query(sql);
    if (erasureKey === undefined) return;
    await this.#client.query(ADD_ERASURE_KEY, [...erasureKeyRow(erasureKey)]);
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
    await this.#database.close();
  }
}

/** The server goes on with the statement of a command that was killed, and stores what it does. */
async function othersEnd(client: pg.Client): Promise<void> {
  const others = `SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = $1 AND pid <> pg_backend_pid() AND state = 'active'`;
  while ((await client.query(others, [APPLICATION])).rows.length > 0) await delay(LOOK_EVERY_MS);
}

/** What a gateway that was started once has left in them is replaced. */
const OVERWRITTEN = ['mark', 'shop_health', 'probe_request'];

/** What follows from the copied rows. Made anew when the command was killed meanwhile or afterwards. */
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

/** Rows as a list in JSON, the second parameter. */
function insertOf({ name }: Table, rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {})
    .map(quoted)
    .join(', ');
  // NULL of the table's type: `record` is also the name of a pseudo-type.
  return `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns}
    FROM json_populate_recordset((SELECT each FROM ${name} AS each LIMIT 0), $2::json) AS each`;
}

/** Bytes as PostgreSQL writes them in JSON. */
const hexOf = (value: Value | undefined): Value | undefined =>
  value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value;

/** `postgres://user@host:5432/name`; also of a list of hosts. */
export const withoutPassword = (url: string): string =>
  url.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1@').split('?', 1)[0] ?? '';
