import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { asBlobName, type BlobName } from '../../domain/ids.ts';
import {
  type BlobContent,
  type BlobTarget,
  type BlobWriter,
  WritableBlob,
} from '../blob-writer.ts';
import { BlobMissing, type BlobStore, type ScratchCopy, type WriterOptions } from '../blobs.ts';
import { SpoolUnavailable } from '../errors.ts';
import type { ScratchFiles } from '../scratch.ts';
import type { Database } from './connection.ts';
import { NOW, sqlFunction } from './schema.ts';

/** By then an entry or an upload names a blob, or nothing will. */
const ORPHAN_AFTER_MS = 24 * 60 * 60 * 1000;
const ROWS_PER_CALL = 500;

/**
 * Neither a chunk nor the end of a blob waits for the disk or for a standby: the commit of the entry that names the
 * blob is later in the log and waits for both.
 */
const UNFLUSHED = `PERFORM set_config('synchronous_commit', 'off', true);`;

const ADD_CHUNK = sqlFunction(
  'add_chunk',
  `(blob_name text, nth int, chunk bytea) RETURNS void LANGUAGE plpgsql AS $$
   BEGIN
     ${UNFLUSHED}
     IF nth = 0 THEN INSERT INTO blob (name, at) VALUES (blob_name, ${NOW.name}()); END IF;
     INSERT INTO blob_chunk (blob, no, bytes) VALUES (blob_name, nth, chunk);
   END $$`,
);

/**
 * The chunks are counted: after a crash of the server or a fail-over, the first ones may be lost. An entry cannot
 * name a blob that is not complete.
 */
const COMPLETE_BLOB = sqlFunction(
  'complete_blob',
  `(blob_name text, all_chunks int, all_bytes bigint) RETURNS boolean LANGUAGE plpgsql AS $$
   BEGIN
     ${UNFLUSHED}
     UPDATE blob SET chunks = all_chunks WHERE name = blob_name AND (all_chunks, all_bytes) =
       (SELECT count(*), sum(octet_length(bytes)) FROM blob_chunk WHERE blob_chunk.blob = blob_name);
     RETURN FOUND;
   END $$`,
);

/**
 * No row names the blob.
 * @param name its name in SQL, with its table: `upload` has a column `name`, too
 */
export const isUnnamed = (name: string): string =>
  `NOT EXISTS (SELECT FROM entry WHERE entry.blob = ${name})
    AND NOT EXISTS (SELECT FROM upload WHERE upload.blob = ${name})`;

/** Deletes blobs that were written long ago and that no row names; returns how many. */
const SWEEP_BLOBS = sqlFunction(
  'sweep_blobs',
  `() RETURNS int LANGUAGE plpgsql AS $$
   DECLARE deleted int;
   BEGIN
     DELETE FROM blob WHERE name = ANY (ARRAY(
       SELECT name FROM blob WHERE key IS NULL AND at < ${NOW.name}() - ${ORPHAN_AFTER_MS}
         AND ${isUnnamed('blob.name')}
       LIMIT ${ROWS_PER_CALL} FOR UPDATE SKIP LOCKED));
     GET DIAGNOSTICS deleted = ROW_COUNT;
     RETURN deleted;
   END $$`,
);

/** A store of blobs that several gateways share. */
export interface SharedBlobs extends BlobStore {
  /** Deletes what writers left that were killed, and finishes deletions; resolves with the number of blobs. */
  sweep(): Promise<number>;
  /** @throws {SpoolUnavailable} blobs can be neither written nor read */
  check(): Promise<void>;
  /** Ends connections other than the database's. */
  close(): void;
}

/** Blobs in the database, in chunks of about 256 KiB, each in a row of its own. */
export class PostgresBlobs implements SharedBlobs {
  readonly isRemote = true;
  readonly #database: Database;
  readonly #scratch: ScratchFiles;

  constructor(database: Database, scratch: ScratchFiles) {
    this.#database = database;
    this.#scratch = scratch;
  }

  writer({ inlineMaxBytes, name }: WriterOptions = {}): BlobWriter {
    return new WritableBlob(new BlobInChunks(this.#database, name), inlineMaxBytes);
  }

  read(blob: BlobName, atMost = Infinity): Readable {
    return Readable.from(this.#chunksOf(blob, atMost), { objectMode: false });
  }

  async *#chunksOf(blob: BlobName, atMost: number): AsyncGenerator<Uint8Array> {
    const [row] = await this.#database.query<{ chunks: number }>(
      'SELECT chunks FROM blob WHERE name = $1 AND chunks > 0',
      [blob],
    );
    let left = atMost;
    for (let no = 0; no < (row?.chunks ?? 1) && left > 0; no += 1) {
      const [chunk] = await this.#database.query<{ bytes: Uint8Array }>(
        'SELECT bytes FROM blob_chunk WHERE blob = $1 AND no = $2',
        [blob, no],
      );
      if (row === undefined || chunk === undefined) throw new BlobMissing('the blob was deleted');
      yield chunk.bytes.subarray(0, left);
      left -= chunk.bytes.byteLength;
    }
  }

  scratch(blob: BlobName): Promise<ScratchCopy> {
    return this.#scratch.copy(this.read(blob));
  }

  async exists(blob: BlobName): Promise<boolean> {
    const rows = await this.#database.query('SELECT FROM blob WHERE name = $1 AND chunks > 0', [
      blob,
    ]);
    return rows.length > 0;
  }

  async remove(blob: BlobName): Promise<void> {
    await this.#database.query('DELETE FROM blob WHERE name = $1', [blob]);
  }

  /** The server says that its disk is full when it is. */
  assertSpace(): Promise<void> {
    return Promise.resolve();
  }

  /** They are in the database itself. */
  check(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    // The store closes the database.
  }

  async sweep(): Promise<number> {
    let total = 0;
    for (;;) {
      const [row] = await this.#database.query<{ n: number }>(`SELECT ${SWEEP_BLOBS.name}() AS n`);
      total += row?.n ?? 0;
      if (row === undefined || row.n < ROWS_PER_CALL) return total;
    }
  }
}

class BlobInChunks implements BlobTarget {
  readonly name: BlobName;
  readonly #database: Database;
  #chunks = 0;

  constructor(database: Database, name = asBlobName(randomUUID())) {
    this.#database = database;
    this.name = name;
  }

  async append(chunks: readonly Uint8Array[], bytes: number): Promise<void> {
    if (bytes === 0) return;
    const nth = this.#chunks;
    this.#chunks += 1;
    await this.#database.query(`SELECT ${ADD_CHUNK.name}($1, $2, $3)`, [
      ...[this.name, nth],
      Buffer.concat(chunks, bytes),
    ]);
  }

  async publish({ size }: BlobContent): Promise<void> {
    const [row] = await this.#database.query<{ complete: boolean }>(
      `SELECT ${COMPLETE_BLOB.name}($1, $2, $3) AS complete`,
      [this.name, this.#chunks, size],
    );
    if (row?.complete !== true)
      throw new SpoolUnavailable('the database has lost a part of a blob');
  }

  async discard(): Promise<void> {
    // What remains is swept.
    await this.#database
      .query('DELETE FROM blob WHERE name = $1', [this.name])
      .catch(() => undefined);
  }

  /** The database's errors are those of the store. */
  errorOf(error: unknown): Error {
    return error instanceof Error ? error : new SpoolUnavailable('unknown', { cause: error });
  }
}
