import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { asBlobName, type BlobName } from '../../domain/ids.ts';
import { type BlobTarget, WritableBlob } from '../blob-writer.ts';
import { BlobMissing, type BlobStore } from '../blobs.ts';
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

/** Reads blobs that are elsewhere: as streams, and as copies in files of this process. */
export function remoteReads(
  scratch: ScratchFiles,
  bytesOf: (blob: BlobName, atMost: number) => AsyncGenerator<Uint8Array>,
): Pick<BlobStore, 'isRemote' | 'read' | 'scratch'> {
  const read = (blob: BlobName, atMost = Infinity): Readable =>
    Readable.from(bytesOf(blob, atMost), { objectMode: false });
  return { isRemote: true, read, scratch: (blob) => scratch.copy(read(blob)) };
}

/** Blobs in the database, in chunks of about 256 KiB, each in a row of its own. */
export const postgresBlobs = (database: Database, scratch: ScratchFiles): SharedBlobs => ({
  ...remoteReads(scratch, (blob, atMost) => chunksOf(database, blob, atMost)),
  writer: ({ inlineMaxBytes, name } = {}) =>
    new WritableBlob(blobInChunks(database, name), inlineMaxBytes),
  exists: async (blob) => {
    const rows = await database.query('SELECT FROM blob WHERE name = $1 AND chunks > 0', [blob]);
    return rows.length > 0;
  },
  remove: (blob) => deleteBlob(database, blob),
  // The server says that its disk is full when it is.
  assertSpace: () => Promise.resolve(),
  // They are in the database itself, which the store closes.
  check: () => Promise.resolve(),
  close: () => undefined,
  sweep: async () => {
    let total = 0;
    for (;;) {
      const swept = (await database.value<number>(`SELECT ${SWEEP_BLOBS.name}()`)) ?? 0;
      total += swept;
      if (swept < ROWS_PER_CALL) return total;
    }
  },
});

async function deleteBlob(database: Database, blob: BlobName): Promise<void> {
  await database.query('DELETE FROM blob WHERE name = $1', [blob]);
}

async function* chunksOf(
  database: Database,
  blob: BlobName,
  atMost: number,
): AsyncGenerator<Uint8Array> {
  const chunks = await database.value<number>(
    'SELECT chunks FROM blob WHERE name = $1 AND chunks > 0',
    [blob],
  );
  let left = atMost;
  for (let no = 0; no < (chunks ?? 1) && left > 0; no += 1) {
    const bytes = await database.value<Uint8Array>(
      'SELECT bytes FROM blob_chunk WHERE blob = $1 AND no = $2',
      [blob, no],
    );
    if (chunks === undefined || bytes === undefined) throw new BlobMissing('the blob was deleted');
    yield bytes.subarray(0, left);
    left -= bytes.byteLength;
  }
}

function blobInChunks(database: Database, name = asBlobName(randomUUID())): BlobTarget {
  let count = 0;
  return {
    name,
    append: async (chunks, bytes) => {
      if (bytes === 0) return;
      const nth = count;
      count += 1;
      const chunk = Buffer.concat(chunks, bytes);
      await database.query(`SELECT ${ADD_CHUNK.name}($1, $2, $3)`, [name, nth, chunk]);
    },
    publish: async ({ size }) => {
      const values = [name, count, size];
      const text = `SELECT ${COMPLETE_BLOB.name}($1, $2, $3)`;
      if ((await database.value(text, values)) !== true)
        throw new SpoolUnavailable('the database has lost a part of a blob');
    },
    // What remains is swept.
    discard: () => deleteBlob(database, name).catch(() => undefined),
    // The database's errors are those of the store.
    errorOf: (error) =>
      error instanceof Error ? error : new SpoolUnavailable('unknown', { cause: error }),
  };
}
