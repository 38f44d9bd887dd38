import { afterEach, describe, expect, test } from '@jest/globals';
import type { ChatLimitOptions } from '../../../src/channels/chat/shop.ts';
import { ChatLimits } from '../../../src/channels/chat/limits.ts';
import { UploadSpace } from '../../../src/channels/chat/uploads.ts';
import { budgetsInMemory } from '../../../src/runtime/budgets.ts';
import { SpoolFull } from '../../../src/spool/errors.ts';
import { ConnectRefused } from '../../support/chat-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, type GatewayOptions, ROOMY } from './chat-gateway.ts';

let gateway: ChatGateway | undefined;
const start = async (
  limits: Partial<ChatLimitOptions>,
  more: GatewayOptions = {},
): Promise<ChatGateway> => {
  gateway = await ChatGateway.start({
    shops: [aShop({ limits: { ...ROOMY, ...limits } })],
    ...more,
  });
  return gateway;
};
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

const limited = { ok: false, error: 'rate_limited', retryAfter: expect.any(Number) };

describe('messages of a visitor', () => {
  test('beyond ten in ten seconds are told when to come back, in every tab', async () => {
    const chat = await start({ messagesPer10s: 10 });
    const client = await chat.connect();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => client.send(`line ${index}`)),
    );
    expect(answers.slice(0, 10).every(({ ok }) => ok)).toBe(true);
    expect(answers.slice(10)).toEqual([limited, limited]);
    const [refused] = answers.slice(10);
    const retryAfter = refused?.ok === false ? refused.retryAfter : undefined;
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(10);

    const tab = await chat.connect({ auth: { key: 'demo', token: client.session.token } });
    expect(await tab.send('from the other tab')).toEqual(limited);
    const stranger = await chat.connect();
    expect(await stranger.send('hello')).toMatchObject({ ok: true });
    expect(await chat.entries()).toHaveLength(11);
  });
});

test('history, profile and the like have a rate of their own', async () => {
  const chat = await start({});
  const client = await chat.connect();
  const answers = await Promise.all(Array.from({ length: 70 }, () => client.history()));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(60);
  expect(answers.at(-1)).toEqual(limited);
  expect(await client.send('messages go on')).toMatchObject({ ok: true });
});

describe('new visitors of one network', () => {
  test('are counted on their first message', async () => {
    const chat = await start({ newVisitorsPerHourPerIp: 2 });
    const clients = await Promise.all([1, 2, 3, 4].map(() => chat.connect()));
    const answers = [];
    for (const client of clients) answers.push(await client.send('hello'));
    expect(answers).toEqual([{ ok: true, seq: 1 }, { ok: true, seq: 1 }, limited, limited]);
    expect(await clients[0]?.send('and more')).toEqual({ ok: true, seq: 2 });
    expect(await clients[3]?.profile({ name: 'Ada' })).toEqual(limited);
    expect(await chat.entries()).toHaveLength(3);
  });

  test('are one when several tabs of a visitor write first at once', async () => {
    const chat = await start({ newVisitorsPerHourPerIp: 1 });
    const one = await chat.connect();
    const other = await chat.connect({ auth: { key: 'demo', token: one.session.token } });
    const answers = await Promise.all([one.send('a'), other.send('b'), one.send('c')]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true]);
  });

  test('are told apart by the address that the proxy names', async () => {
    let ip = '192.0.2.1';
    const chat = await start({ newVisitorsPerHourPerIp: 1 }, { clientIp: () => ip });
    const first = await chat.connect();
    ip = '192.0.2.2';
    const second = await chat.connect();
    expect(await first.send('a')).toMatchObject({ ok: true });
    expect(await second.send('a')).toMatchObject({ ok: true });
  });
});

describe('files of one network', () => {
  const MIB = 1024 * 1024;
  const LIMIT = 26 * MIB;
  const file = (mib: number) => ({ name: 'a.txt', bytes: Buffer.alloc(mib * MIB, 'x') });

  test('fill so much of the disk in an hour, whoever sends them, and are told when to come back', async () => {
    const chat = await start({ uploadBytesPerHourPerIp: LIMIT });
    const [one, two] = [await chat.connect(), await chat.connect()];
    expect((await one.upload(file(15))).status).toBe(201);
    expect((await two.upload(file(10))).status).toBe(201);
    const refused = await two.upload(file(2));
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(3600);
    expect(await refused.json()).toEqual({ error: 'rate_limited', retryAfter });
    // What was refused takes nothing; messages have nothing to do with it.
    expect((await one.upload({ name: 'a.txt', bytes: Buffer.from('small') })).status).toBe(201);
    expect(await two.send('no file, then')).toMatchObject({ ok: true });
  });

  test('count as what is kept of them: nothing of those that were not taken', async () => {
    const chat = await start({ uploadBytesPerHourPerIp: LIMIT });
    const client = await chat.connect();
    const page = Buffer.concat([Buffer.from('<!doctype html>'), Buffer.alloc(12 * MIB, 'x')]);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      expect((await client.upload({ name: 'a.txt', bytes: page })).status).toBe(415);
    }
    expect((await client.upload(file(25))).status).toBe(201);
  });

  test('are told apart by the address that the proxy names', async () => {
    let ip = '192.0.2.1';
    const chat = await start({ uploadBytesPerHourPerIp: LIMIT }, { clientIp: () => ip });
    const client = await chat.connect();
    expect((await client.upload(file(20))).status).toBe(201);
    expect((await client.upload(file(20))).status).toBe(429);
    ip = '192.0.2.2';
    expect((await client.upload(file(20))).status).toBe(201);
  });

  test('are refused on a disk that runs low, while messages still get in', async () => {
    let free = 10_000 * MIB;
    const chat = await start(
      {},
      {
        blobs: (blobs) => ({
          ...{ writer: () => blobs.writer({ inlineMaxBytes: 0 }) },
          ...{
            isRemote: false,
            read: (blob) => blobs.read(blob),
            scratch: (blob) => blobs.scratch(blob),
          },
          exists: (blob) => blobs.exists(blob),
          remove: (blob) => blobs.remove(blob),
          assertSpace: (spare = 0) =>
            free < spare ? Promise.reject(new SpoolFull('low')) : Promise.resolve(),
        }),
      },
    );
    const client = await chat.connect();
    expect((await client.upload(file(1))).status).toBe(201);
    free = 200 * MIB;
    const refused = await client.upload(file(1));
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: 'busy' });
    expect(await client.send('still there?')).toMatchObject({ ok: true });
    free = -1;
    expect(await client.send('and now?')).toEqual({ ok: false, error: 'busy' });
  });

  test('that come together leave the room that one of them finds', async () => {
    const assertSpace = (spare = 0): Promise<void> =>
      spare > 300 * MIB ? Promise.reject(new SpoolFull('low')) : Promise.resolve();
    const lines: string[] = [];
    const room = new UploadSpace({ assertSpace }, { warn: (event) => void lines.push(event) });
    const limits = new ChatLimits(aShop({ limits: ROOMY }), budgetsInMemory(Date.now));
    const first = await room.take(25 * MIB, 'net', limits);
    await expect(room.take(25 * MIB, 'net', limits)).rejects.toThrow(SpoolFull);
    await expect(room.take(25 * MIB, 'net', limits)).rejects.toThrow(SpoolFull);
    // Said when it begins, and not for every file.
    expect(lines).toEqual(['chat.uploads_no_room']);
    // What is on the disk is not free any more, and is not counted again.
    first.wrote(10 * MIB);
    const second = await room.take(25 * MIB, 'net', limits);
    await first.leave(25 * MIB);
    await second.leave(0);
    await expect(room.take(44 * MIB, 'net', limits)).resolves.toBeDefined();
  });
});

describe('sockets of one network', () => {
  const dataOf = (error: unknown): unknown =>
    error instanceof ConnectRefused ? error.data : String(error);

  test('are let in up to the limit and again after one has gone', async () => {
    const chat = await start({ socketsPerIp: 5 });
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => chat.connect()));
    const refused = attempts.flatMap((attempt) =>
      attempt.status === 'rejected' ? [dataOf(attempt.reason)] : [],
    );
    expect(refused).toEqual(Array(3).fill({ code: 'rate_limited', retryAfter: 30 }));
    await waitFor('the refused to go', async () => (await chat.connections) === 5);
    chat.clients.find(({ socket }) => socket.connected)?.close();
    await waitFor('one to go', async () => (await chat.connections) === 4);
    await chat.connect();
  });

  test('that connect again and again are told when to come back', async () => {
    const chat = await start({ socketsPerIp: 1 });
    const answers: unknown[] = [];
    for (let round = 0; round < 7; round += 1) {
      const client = await chat.connect().catch(dataOf);
      answers.push(client);
      chat.clients.at(-1)?.close();
      await waitFor('it to go', async () => (await chat.connections) === 0);
    }
    expect(answers.at(-1)).toEqual({ code: 'rate_limited', retryAfter: expect.any(Number) });
  });

  test('that never say who they want are cut off beyond twice the limit', async () => {
    const chat = await start({ socketsPerIp: 2 });
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const answer = await fetch(`${chat.url}/chat/?EIO=4&transport=polling`);
      await answer.text();
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 403, 403]);
  });

  test('of everyone together have a bound too', async () => {
    const chat = await start({}, { maxSockets: 2 });
    await chat.connect();
    await chat.connect();
    expect(await chat.connect().catch(dataOf)).toEqual({ code: 'busy', retryAfter: 30 });
  });
});
