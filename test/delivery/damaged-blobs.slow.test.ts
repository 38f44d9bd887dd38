import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { NewEntry } from '../../src/spool/entry.ts';
import { openPostgresStore } from '../../src/spool/postgres/open.ts';
import { ends } from '../support/ends.ts';
import { anEntry, SHOP } from '../support/entries.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { type S3Server, startS3 } from '../support/s3-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene } from './scene.ts';

/** After the first: in 1 s, 10 s, 1 min and 10 min. */
const READINGS = 5;

let cluster: Cluster;
let s3: S3Server;
/** Every GET of a blob, by its path, and whether a byte of this one is flipped. */
const reads = new Map<string, number>();
let isFlipped: (path: string, nth: number) => boolean = () => false;
const proxy = createServer((incoming, outgoing) => {
  forward(incoming, outgoing).catch(() => outgoing.destroy());
});

async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method, url = '', headers } = incoming;
  const body = await buffer(incoming);
  const { host, port } = s3;
  const sent = request({ host, port, agent: false, method, path: url, headers });
  sent.end(body);
  // Of an emitter: its only argument is the response.
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(answer);
  if (method === 'GET' && bytes.length > 0) {
    const [path = ''] = url.split('?', 1);
    const nth = (reads.get(path) ?? 0) + 1;
    reads.set(path, nth);
    if (isFlipped(path, nth)) bytes.writeUInt8(bytes.readUInt8(7) ^ 1, 7);
  }
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
  outgoing.end(bytes);
}

beforeAll(async () => {
  s3 = await startS3();
  cluster = await startCluster({ settings: ['fsync = off'] });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await s3.stop();
  await cluster.stop();
});

/** Delivery with a database and S3, and entries whose raw forms are blobs there. */
async function scene() {
  reads.clear();
  const temp = tempDir();
  ends(() => temp.remove());
  // A listening TCP server has an AddressInfo; the other types are for pipes.
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const store = await openPostgresStore({
    ...{ url: await cluster.createDatabase(), instance: temp.path },
    ...{ s3: s3.blobsUrl({ endpoint }), scratchFolder: join(temp.path, 'scratch') },
  });
  ends(() => store.spool.close());
  const delivery = await deliveryScene({ store });
  const hastening = setInterval(() => void store.spool.hasten(SHOP, 1).catch(() => undefined), 50);
  ends(() => clearInterval(hastening));
  return {
    ...delivery,
    /** Each in a lane of its own. */
    accept: async (count: number): Promise<readonly NewEntry[]> => {
      const entries: NewEntry[] = [];
      for (let n = 0; n < count; n += 1) {
        const writer = store.spool.blobs.writer();
        writer.end(Buffer.alloc(100_000, `message ${n} `));
        await once(writer, 'finish');
        entries.push(anEntry({ raw: await writer.commit() }));
      }
      await delivery.submit(...entries);
      return entries;
    },
    settledAs: async (entries: readonly NewEntry[], state: 'delivered' | 'dead') => {
      for (const entry of entries) await delivery.reached(entry, state);
    },
  };
}

test('a byte flipped in the first reading of every blob: all are delivered', async () => {
  isFlipped = (_path, nth) => nth === 1;
  const { accept, settledAs, settled, alarm } = await scene();
  await settledAs(await accept(10), 'delivered');
  expect(settled.filter(({ outcome }) => outcome.state === 'dead')).toEqual([]);
  expect((await alarm('raw_damaged')) + (await alarm('raw_damaged_widely'))).toBe(10);
});

test('a byte flipped in every reading of one blob: it is dead after the last one, with an alarm', async () => {
  let damaged: string | undefined;
  isFlipped = (path) => path === (damaged ??= path);
  const { accept, settledAs, reached, alarm } = await scene();
  const [first, ...others] = await accept(1);
  if (first === undefined) throw new Error('nothing was accepted');
  others.push(...(await accept(4)));
  expect((await reached(first, 'dead')).reason).toEqual({ code: 'raw_damaged' });
  await settledAs(others, 'delivered');
  expect(reads.get(damaged ?? '')).toBe(READINGS);
  expect(await alarm('raw_damaged')).toBe(READINGS);
  expect(await alarm('raw_damaged_widely')).toBe(0);
});

test('a byte flipped in all blobs: all wait, with an alarm, and are delivered afterwards', async () => {
  isFlipped = () => true;
  const { accept, settledAs, settled, alarm } = await scene();
  const entries = await accept(6);
  const isReadOften = () => reads.size === 6 && [...reads.values()].every((n) => n > 2 * READINGS);
  await waitFor('many readings', isReadOften);
  expect(settled.filter(({ outcome }) => outcome.state !== 'queued')).toEqual([]);
  expect(await alarm('raw_damaged_widely')).toBeGreaterThan(0);
  isFlipped = () => false;
  await settledAs(entries, 'delivered');
});
