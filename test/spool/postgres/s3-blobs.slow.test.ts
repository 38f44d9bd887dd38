import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { assertIntact, type BlobStore } from '../../../src/spool/blobs.ts';
import { SpoolUnavailable } from '../../../src/spool/errors.ts';
import { tryS3 } from '../../../src/spool/postgres/s3-blobs.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { type Cluster, column, emptyStore, startCluster } from '../../support/postgres-cluster.ts';
import { anEntry, because } from '../../support/entries.ts';
import { ends } from '../../support/ends.ts';
import { type S3Server, startS3 } from '../../support/s3-server.ts';
import { sluiceHere } from '../../support/sluice-command.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { describeBlobs } from '../blob-conformance.ts';

/** What the proxy before S3 does: `tamper` stores other bytes, `no-md5` answers other ETags. */
let behaviour: 'pass' | 'tamper' | 'no-md5' | 'cut' | 'lose-answer' = 'pass';
const NEVER = { rawMs: 1e12, deadMs: 1e12, entriesMs: 1e12 };
let cluster: Cluster;
let url: string;
let s3Url: string;
let server: S3Server;
const proxy = createServer((incoming, outgoing) => {
  forward(incoming, outgoing).catch(() => outgoing.destroy());
});

async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (behaviour === 'cut') return void incoming.socket.destroy();
  const { method, url: path, headers } = incoming;
  const body = await buffer(incoming);
  if (method === 'PUT' && behaviour === 'tamper') body.writeUInt8(body.readUInt8(7) ^ 1, 7);
  const sent = request({
    ...{ host: server.host, port: server.port, agent: false },
    ...{ method, path, headers },
  });
  // A server that refuses need not read the body, which it may then take for another request.
  sent.on('error', () => undefined);
  sent.end(body);
  // Of an emitter: its only argument is the response.
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(answer);
  if (method === 'PUT' && behaviour === 'lose-answer') return void incoming.socket.destroy();
  const etag = behaviour === 'no-md5' && { etag: `"${'0'.repeat(32)}"` };
  outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...etag });
  outgoing.end(bytes);
}

beforeAll(async () => {
  server = await startS3();
  cluster = await startCluster({ settings: ['fsync = off'] });
  url = await cluster.createDatabase();
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  s3Url = server.blobsUrl({ endpoint: `http://127.0.0.1:${address.port}` });
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.stop();
  await cluster.stop();
});

beforeEach(() => {
  behaviour = 'pass';
});

async function open(s3 = s3Url) {
  const temp = tempDir();
  const scratchFolder = join(temp.path, 'scratch');
  const { spool, fleet } = await openPostgresStore({
    url,
    instance: temp.path,
    s3,
    scratchFolder,
  });
  return {
    ...{ blobs: spool.blobs, spool, fleet },
    scratchFiles: () => readdirSync(scratchFolder),
    count: async () => (await column(url, 'SELECT name FROM blob WHERE delete_at IS NULL')).length,
    remove: async () => {
      await spool.close();
      await emptyStore(url);
      temp.remove();
    },
  };
}

describeBlobs('S3', () => open());

async function put(blobs: BlobStore) {
  const writer = blobs.writer();
  writer.end(Buffer.alloc(300_000, 'received '));
  await once(writer, 'finish');
  return writer.commit();
}
const age = () => column(url, 'UPDATE blob SET at = at - 49 * 3600000 RETURNING name');

const objects = async (): Promise<number> => (await server.keys()).length;

test('other bytes under a 200 are found before the message is acknowledged', async () => {
  const at = await open();
  ends(() => at.remove());
  behaviour = 'tamper';
  await expect(put(at.blobs)).rejects.toThrow(SpoolUnavailable);
  await expect(put(at.blobs)).rejects.toThrow('other bytes');
  expect(at.scratchFiles()).toEqual([]);
  // What is pending goes by the queue; two gateways may work through it.
  await age();
  await Promise.all([at.spool.sweep(NEVER), at.spool.sweep(NEVER)]);
  expect(await column(url, 'SELECT name FROM blob')).toEqual([]);
});

test('where the ETag is no MD5, the stored bytes are read', async () => {
  const at = await open();
  ends(() => at.remove());
  behaviour = 'no-md5';
  const raw = await put(at.blobs);
  if (raw.kind !== 'file') throw new Error('it is kept in its row');
  expect(await at.blobs.exists(raw.blob)).toBe(true);
});

test('a PUT whose answer is lost stays pending until it is old; a removed object is deleted', async () => {
  const at = await open();
  ends(() => at.remove());
  const before = await objects();
  behaviour = 'lose-answer';
  await expect(put(at.blobs)).rejects.toThrow(SpoolUnavailable);
  behaviour = 'pass';
  const raw = await put(at.blobs);
  const named = await put(at.blobs);
  await at.spool.accept([anEntry({ raw: named })]);
  await at.spool.sweep(NEVER);
  expect(await objects()).toBe(before + 3);
  if (raw.kind === 'file') await at.blobs.remove(raw.blob);
  await age();
  behaviour = 'cut';
  await expect(at.spool.sweep(NEVER)).rejects.toThrow(SpoolUnavailable);
  behaviour = 'pass';
  // Another gateway takes over what one has not finished.
  await column(url, 'UPDATE blob SET delete_at = 0 WHERE delete_at > 0 RETURNING name');
  await at.spool.sweep(NEVER);
  expect(await objects()).toBe(before + 1);
  await assertIntact(named, at.blobs);
});

test('an entry that is swept takes its object along', async () => {
  const at = await open();
  ends(() => at.remove());
  const before = await objects();
  const entry = anEntry({ raw: await put(at.blobs), hold: because('h') });
  await at.spool.accept([entry]);
  await at.spool.discard(entry.id);
  await at.spool.sweep({ ...NEVER, rawMs: -1 });
  expect(await objects()).toBe(before);
});

test('a trial stores, reads and removes an object; other bytes and a lost server are found', async () => {
  const store = await open();
  const before = await objects();
  await tryS3({ url, s3: s3Url });
  expect(await objects()).toBe(before);
  expect(await store.count()).toBe(0);
  behaviour = 'tamper';
  await expect(tryS3({ url, s3: s3Url })).rejects.toThrow(/other bytes/);
  behaviour = 'cut';
  await expect(tryS3({ url, s3: s3Url })).rejects.toThrow(SpoolUnavailable);
  await expect(store.fleet.checkBlobs()).rejects.toThrow(SpoolUnavailable);
  behaviour = 'pass';
  await store.fleet.checkBlobs();
  await store.remove();
});

test('an object that is gone is missing; where its bucket is gone, S3 is unavailable', async () => {
  const at = await open();
  ends(() => at.remove());
  const elsewhere = await open(server.blobsUrl({ bucket: 'no-mail' }));
  ends(() => elsewhere.remove());
  const raw = await put(at.blobs);
  if (raw.kind !== 'file') throw new Error('it is kept in its row');
  await expect(elsewhere.blobs.exists(raw.blob)).rejects.toThrow(SpoolUnavailable);
  await expect(buffer(elsewhere.blobs.read(raw.blob))).rejects.toThrow(SpoolUnavailable);
  await expect(put(elsewhere.blobs)).rejects.toThrow(SpoolUnavailable);
  await expect(elsewhere.fleet.checkBlobs()).rejects.toThrow(SpoolUnavailable);
  const [key = ''] = await column(url, `SELECT key FROM blob WHERE name = '${raw.blob}'`);
  await server.remove(key);
  expect(await at.blobs.exists(raw.blob)).toBe(false);
  await expect(buffer(at.blobs.read(raw.blob))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('the doctor tries the bucket, and tells what the server says of it', async () => {
  const at = await open();
  ends(() => at.remove());
  const folder = tempDir();
  ends(() => folder.remove());
  const config = join(folder.path, 'sluice.yaml');
  const spool = `{url: "${url}", blobs: "${s3Url}"}`;
  writeFileSync(config, `dataDir: ${folder.path}/data\nspool: ${spool}\n`);
  const result = async (status: string, found: string) => {
    const told = await sluiceHere(['doctor', '--only', 'database', '--json', '--config', config]);
    const check = { check: 'database.blobs', status, found: expect.stringMatching(found) };
    expect(JSON.parse(told.stdout)).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining(check)]),
    });
  };
  await result('ok', '^stored, read and removed$');
  behaviour = 'tamper';
  await result('failed', 'other bytes');
  behaviour = 'pass';
  const keyId = process.env['AWS_ACCESS_KEY_ID'];
  ends(() => (process.env['AWS_ACCESS_KEY_ID'] = keyId));
  process.env['AWS_ACCESS_KEY_ID'] = 'nobody';
  await result('failed', '^(InvalidAccessKeyId|SignatureDoesNotMatch): ');
});
