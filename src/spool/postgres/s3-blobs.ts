import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type * as Sdk from '@aws-sdk/client-s3';
import { asBlobName, type BlobName } from '../../domain/ids.ts';
import { isDiskFull } from '../../runtime/durable-files.ts';
import { type BlobTarget, WritableBlob } from '../blob-writer.ts';
import { BlobMissing } from '../blobs.ts';
import { SpoolFull, SpoolUnavailable } from '../errors.ts';
import { ScratchFiles } from '../scratch.ts';
import { isUnnamed, remoteReads, type SharedBlobs } from './blobs.ts';
import { Database } from './connection.ts';
import { NOW } from './schema.ts';

const HOUR_MS = 60 * 60 * 1000;
/** A PUT that was not answered may still arrive: its object is deleted only then. */
const ABANDONED_AFTER_MS = 48 * HOUR_MS;
/** Another gateway takes over deletions that were not finished in this time. */
const DELETING_MS = HOUR_MS;
const DELETIONS_PER_CALL = 100;
const CONNECT_TIMEOUT_MS = 5000;
const ANSWER_TIMEOUT_MS = 30_000;

/** The SDK would write to the console; its errors are thrown, too. */
const SILENT = {
  ...{ trace: () => undefined, debug: () => undefined, info: () => undefined },
  ...{ warn: () => undefined, error: () => undefined },
};

interface Bucket {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
  readonly name: string;
}

export interface S3BlobsOptions {
  /** `s3://bucket?endpoint=…&region=…`; the credentials come from the SDK's usual chain. */
  readonly url: string;
  /** The store's own: its tables are those of `openPostgresStore`. */
  readonly database: Database;
  /** For copies and uploads. */
  readonly scratch: ScratchFiles;
  /** What is incomplete, or has no row, is removed after this time. */
  readonly abandonedAfterMs?: number;
}

/** Loads the SDK, which nobody else needs. */
export async function openS3Blobs(options: S3BlobsOptions): Promise<SharedBlobs> {
  const sdk = await import('@aws-sdk/client-s3');
  const { hostname, searchParams } = new URL(options.url);
  const endpoint = searchParams.get('endpoint');
  const region = searchParams.get('region') ?? (endpoint === null ? undefined : 'us-east-1');
  const client = new sdk.S3Client({
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    ...(region !== undefined && { region }),
    // By default the SDK adds checksums as trailers, which some servers store as content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: SILENT,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: ANSWER_TIMEOUT_MS },
  });
  return s3Blobs({ sdk, client, name: hostname }, options);
}

const TRIAL_BYTES = 100_000;

/**
 * Stores an object as large messages are stored, reads it back, and removes it.
 * @throws {SpoolUnavailable} it was refused, or other bytes came back
 */
export async function tryS3({ url, s3 }: { url: string; s3: string }): Promise<void> {
  const database = new Database(url);
  const scratch = new ScratchFiles(await mkdtemp(join(tmpdir(), 'sluice-')));
  const blobs = await openS3Blobs({ url: s3, database, scratch });
  try {
    const sent = randomBytes(TRIAL_BYTES);
    const writer = blobs.writer({ inlineMaxBytes: 0 });
    await pipeline(Readable.from([sent], { objectMode: false }), writer);
    const stored = await writer.commit();
    if (stored.kind !== 'file') throw new Error('a writer without an inline part makes an object');
    const read = await buffer(blobs.read(stored.blob));
    await blobs.remove(stored.blob);
    await blobs.sweep();
    if (!sent.equals(read))
      throw new SpoolUnavailable('S3 has returned other bytes than it was sent');
  } finally {
    blobs.close();
    await scratch.close();
    await database.close();
  }
}

interface ObjectRow {
  readonly name: string;
  readonly key: string;
  readonly size: number;
}

/**
 * Stores each large raw form as an object in S3. Each has a row in the database, without a size until
 * the object's bytes are known to be those that were sent. Objects are never overwritten.
 */
function s3Blobs(
  bucket: Bucket,
  { database, scratch, abandonedAfterMs = ABANDONED_AFTER_MS }: S3BlobsOptions,
): SharedBlobs {
  const { sdk, client, name: Bucket } = bucket;
  const rowOf = async (blob: BlobName): Promise<ObjectRow | undefined> => {
    const [row] = await database.query<ObjectRow>(
      'SELECT key, size FROM blob WHERE name = $1 AND key IS NOT NULL AND chunks > 0',
      [blob],
    );
    return row;
  };
  const check = async (): Promise<void> => {
    await client.send(new sdk.HeadBucketCommand({ Bucket })).catch(throwUnavailable);
  };
  return {
    ...remoteReads(scratch, async function* bytesOf(blob, atMost) {
      const row = await rowOf(blob);
      if (row === undefined) throw new BlobMissing('the blob has been deleted');
      if (row.size > 0) yield* bytesOfObject(bucket, row.key, Math.min(row.size, atMost));
    }),
    writer: ({ inlineMaxBytes, name } = {}) =>
      new WritableBlob(uploadTo(bucket, { database, scratch }, name), inlineMaxBytes),
    exists: async (blob) => {
      const row = await rowOf(blob);
      if (row === undefined) return false;
      try {
        await client.send(new sdk.HeadObjectCommand({ Bucket, Key: row.key }));
        return true;
      } catch (error) {
        if (!isMissing(error)) throw unavailable(error);
        // The answer to a HEAD does not say whether the object or its bucket is missing.
        await check();
        return false;
      }
    },
    /** The object itself is deleted by `sweep`. */
    remove: async (blob) => {
      await database.query('UPDATE blob SET delete_at = 0, chunks = 0 WHERE name = $1', [blob]);
    },
    assertSpace: () => Promise.resolve(),
    check,
    /**
     * Puts what is pending or named by no row for long in the queue, and works through it. Each row is taken by one
     * gateway. Deleting an object twice is no error.
     */
    sweep: async () => {
      await database.query(
        `UPDATE blob SET delete_at = 0, chunks = 0 WHERE key IS NOT NULL AND delete_at IS NULL
           AND at <= ${NOW.name}() - $1::bigint AND ${isUnnamed('blob.name')}`,
        [abandonedAfterMs],
      );
      let total = 0;
      for (;;) {
        const rows = await database.query<ObjectRow>(
          `UPDATE blob SET delete_at = ${NOW.name}() + ${DELETING_MS} WHERE name = ANY (ARRAY(
             SELECT name FROM blob WHERE delete_at <= ${NOW.name}()
             LIMIT ${DELETIONS_PER_CALL} FOR UPDATE SKIP LOCKED)) RETURNING name, key`,
        );
        for (const { name, key: Key } of rows) {
          await client.send(new sdk.DeleteObjectCommand({ Bucket, Key })).catch(throwUnavailable);
          await database.query('DELETE FROM blob WHERE name = $1', [name]);
        }
        total += rows.length;
        if (rows.length < DELETIONS_PER_CALL) return total;
      }
    },
    close: () => client.destroy(),
  };
}

async function* bytesOfObject(
  { sdk, client, name }: Bucket,
  key: string,
  atMost?: number,
): AsyncGenerator<Uint8Array> {
  const range = atMost === undefined ? {} : { Range: `bytes=0-${atMost - 1}` };
  try {
    const { Body } = await client.send(
      new sdk.GetObjectCommand({ Bucket: name, Key: key, ...range }),
    );
    if (!(Body instanceof Readable)) throw new SpoolUnavailable('S3 has sent no bytes');
    const bytes: AsyncIterable<Uint8Array> = Body;
    let missing = atMost ?? Infinity;
    // A server may ignore the range.
    for await (const chunk of bytes) {
      yield chunk.subarray(0, missing);
      missing -= chunk.byteLength;
      if (missing <= 0) return;
    }
  } catch (error) {
    if (isMissing(error)) throw new BlobMissing('the object has been deleted', { cause: error });
    throw unavailable(error);
  }
}

/** A blob that is written: a scratch file, which becomes an object when it is complete. */
function uploadTo(
  bucket: Bucket,
  { database, scratch }: Pick<S3BlobsOptions, 'database' | 'scratch'>,
  name = asBlobName(randomUUID()),
): BlobTarget {
  const hash = createHash('md5');
  let file: Awaited<ReturnType<ScratchFiles['create']>> | undefined;
  const removeFile = async (): Promise<void> => {
    if (file === undefined) return;
    await file.handle.close().catch(() => undefined);
    await scratch.remove(file.path);
  };
  return {
    name,
    errorOf: unavailable,
    append: async (chunks, bytes) => {
      file ??= await scratch.create();
      if (bytes === 0) return;
      for (const chunk of chunks) hash.update(chunk);
      const { bytesWritten } = await file.handle.writev(chunks);
      if (bytesWritten < bytes) throw new SpoolFull('short write');
    },
    publish: async ({ size }) => {
      if (file === undefined) throw new SpoolUnavailable('nothing was written');
      const key = `${new Date().toISOString().slice(0, 10).replaceAll('-', '/')}/${randomUUID()}`;
      // First: an object that no row names would never be found.
      await database.query(`INSERT INTO blob (name, key, at) VALUES ($1, $2, ${NOW.name}())`, [
        ...[name, key],
      ]);
      const { sdk, client, name: Bucket } = bucket;
      const Body = createReadStream(file.path);
      await client.send(new sdk.PutObjectCommand({ Bucket, Key: key, Body, ContentLength: size }));
      await assertStored(bucket, key, size, hash.digest('hex'));
      const done = await database.query(
        `UPDATE blob SET size = $2, chunks = 1, at = ${NOW.name}()
         WHERE name = $1 AND delete_at IS NULL RETURNING name`,
        [name, size],
      );
      if (done.length !== 1) throw new SpoolUnavailable('the blob has been removed');
      await removeFile();
    },
    /** The object, if there is one, stays pending until it is deleted. */
    discard: removeFile,
  };
}

/**
 * A server may answer 200 and have stored other bytes.
 * @param sent their MD5
 * @throws {SpoolUnavailable} what is stored is not what was sent
 */
async function assertStored(
  bucket: Bucket,
  key: string,
  size: number,
  sent: string,
): Promise<void> {
  const { sdk, client, name: Bucket } = bucket;
  const { ETag, ContentLength } = await client.send(
    new sdk.HeadObjectCommand({ Bucket, Key: key }),
  );
  if (ContentLength === size && ETag === `"${sent}"`) return;
  // The ETag of an encrypted object is no MD5, although it looks like one: read the bytes.
  const stored = createHash('md5');
  if (ContentLength === size) {
    for await (const chunk of bytesOfObject(bucket, key)) stored.update(chunk);
    if (stored.digest('hex') === sent) return;
  }
  throw new SpoolUnavailable('S3 has stored other bytes than it was sent');
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound');

function throwUnavailable(error: unknown): never {
  throw unavailable(error);
}

function unavailable(error: unknown): Error {
  if (error instanceof SpoolFull || error instanceof SpoolUnavailable) return error;
  if (isDiskFull(error)) return new SpoolFull('the disk is full', { cause: error });
  return new SpoolUnavailable('S3 cannot be reached, or refuses', { cause: error });
}
