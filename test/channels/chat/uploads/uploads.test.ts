import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createChatNormalizer } from '../../../../src/channels/chat/normalize.ts';
import { cleanFileName } from '../../../../src/channels/chat/uploads.ts';
import { VisitorTokens } from '../../../../src/channels/chat/recognition.ts';
import { asVisitorId } from '../../../../src/domain/ids.ts';
import type { ChatClient } from '../../../support/chat-client.ts';
import { claimFrom, SHOP } from '../../../support/entries.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aShop, ChatGateway, otherShop, ROOMY, SIGNING_KEYS } from '../chat-gateway.ts';

let gateway: ChatGateway;
let client: ChatClient;
beforeEach(async () => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY }), otherShop()] });
  client = await gateway.connect();
});
afterEach(() => gateway.stop());

const MIB = 1024 * 1024;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const files = (): Promise<string[]> => readdir(join(gateway.dir, 'blobs'));

interface Uploaded {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
}
const uploaded = async (response: Response): Promise<Uploaded> => {
  expect(response.status).toBe(201);
  return (await response.json()) as Uploaded;
};

describe('an upload', () => {
  test('is told by its bytes and goes out with the message that uses it', async () => {
    const bytes = Buffer.concat([PNG, randomBytes(300_000)]);
    const file = await uploaded(
      await client.upload({ name: '../my photo.png', bytes, type: 'text/plain' }),
    );
    expect(file).toEqual({
      id: expect.any(String),
      name: 'my photo.png',
      type: 'image/png',
      size: bytes.length,
    });
    expect(await client.send('look', { uploads: [file.id] })).toEqual({ ok: true, seq: 1 });
    await waitFor('the echo', () => client.messages.length === 1);
    const { id, name, type, size } = file;
    expect(client.messages[0]?.attachments).toEqual([{ id, name, type, size }]);

    const { spool } = gateway.store;
    const [claimed] = await claimFrom(spool, SHOP, 1, 60_000);
    if (claimed === undefined) throw new Error('nothing to claim');
    const normalize = createChatNormalizer({
      blobs: spool.blobs,
      trustUnverifiedEmail: () => false,
    });
    const { request: payload, attachments } = await normalize(claimed, AbortSignal.timeout(60_000));
    expect(payload).toEqual({
      contact: { name: `Visitor ${client.session.visitorId.slice(0, 4).toUpperCase()}` },
      conversation: { direction: 'inbound', type: 'web_chat' },
      message: {
        content: 'look',
        format: 'TEXT',
        remote_id: claimed.entry.remoteId,
        timestamp: new Date(claimed.entry.receivedAt).toISOString(),
      },
    });
    const opened = await attachments[0]?.open(AbortSignal.timeout(60_000));
    expect(opened).toMatchObject({ name, type, size });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (opened === undefined) throw new Error('no attachment');
      expect((await buffer(opened.stream())).equals(bytes)).toBe(true);
    }
  });

  test('can be used once, by its own visitor only', async () => {
    const file = await uploaded(await client.upload({ name: 'a.png', bytes: PNG }));
    const thief = await gateway.connect();
    const unknown = { ok: false, error: 'unknown_upload' };
    expect(await thief.send('mine', { uploads: [file.id] })).toEqual(unknown);
    const id = randomUUID();
    expect(await client.send('', { id, uploads: [file.id] })).toEqual({ ok: true, seq: 1 });
    expect(await client.send('again', { uploads: [file.id] })).toEqual(unknown);
    // The very same message is not a second use.
    expect(await client.send('', { id, uploads: [file.id] })).toEqual({ ok: true, seq: 1 });
  });

  test.each<[string, string, Buffer, string, number, string]>([
    ['plain text', 'notes.txt', Buffer.from('hello, wörld'), '', 201, 'text/plain'],
    ['a table', 'list.csv', Buffer.from('a,b\n1,2'), 'text/csv', 201, 'text/csv'],
    ['text that says it is an image', 'a.png', Buffer.from('hi'), 'image/png', 201, 'text/plain'],
    ['HTML', 'a.txt', Buffer.from('<!DOCTYPE html><p>'), '', 415, ''],
    ['HTML after blanks', 'a.txt', Buffer.from(`${' '.repeat(3000)}<HTML>`), '', 415, ''],
    ['HTML in UTF-16', 'a.txt', Buffer.from('\ufeff<html>', 'utf16le'), '', 415, ''],
    ['tags in a log', 'a.txt', Buffer.from('hi <b>x</b>'), '', 201, 'application/octet-stream'],
    ['SVG', 'a.png', Buffer.from('<svg xmlns="…" onload="x">'), 'image/png', 415, ''],
    ['SVG behind XML', 'a.xml', Buffer.from('<?xml version="1.0"?><svg/>'), '', 415, ''],
    ['a name that ends in svg', 'a.SVG', PNG, 'image/png', 415, ''],
    ['a name that ends in svg and a dot', 'a.svg.', PNG, 'image/png', 415, ''],
    ['a name that ends in html', 'a.html', Buffer.from('hi'), 'text/plain', 415, ''],
    ['a type of HTML', 'a.txt', Buffer.from('hi'), 'text/html', 415, ''],
    ['nothing', 'a.txt', Buffer.alloc(0), '', 400, ''],
  ])('of %s', async (_case, name, bytes, type, status, found) => {
    const before = await files();
    const response = await client.upload({ name, bytes, type });
    expect(response.status).toBe(status);
    if (status === 201) expect(await response.json()).toMatchObject({ type: found, name });
    else expect(await files()).toEqual(before);
  });

  test.each([
    ['C:\\Users\\me\\photo.png', 'photo.png'],
    ['.htaccess', 'htaccess'],
    ['a\u202egnp.exe', 'agnp.exe'],
    [`${'x'.repeat(400)}.png`, `${'x'.repeat(196)}.png`],
    ['photo.png. .', 'photo.png'],
    ['..', 'file'],
    [`a${'.'.repeat(400)}b`, `a${'.'.repeat(197)}.b`],
  ])('called %s is kept as %s', async (name, kept) => {
    expect(await uploaded(await client.upload({ name, bytes: PNG }))).toMatchObject({ name: kept });
  });

  test('called by thousands of dots costs nothing', async () => {
    const name = `a${'.'.repeat(8000)}b`;
    await withinProcessorTime(2000, () => {
      for (let tries = 0; tries < 1000; tries += 1) cleanFileName(name);
    });
  });

  test('of exactly 25 MiB is taken, of one byte more is not', async () => {
    const bytes = Buffer.alloc(25 * MIB, 'x');
    expect((await client.upload({ name: 'a.txt', bytes })).status).toBe(201);
    const response = await client.upload({ name: 'a.txt', bytes: Buffer.concat([bytes, PNG]) });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ error: 'too_large' });
    expect(await files()).toHaveLength(1);
  });

  test('without a length that never ends is cut off', async () => {
    const { status, sent } = await endless();
    expect(status).toBe(413);
    // What is read of it, and what the buffers between the two hold on a busy machine.
    expect(sent).toBeLessThan(120 * MIB);
    expect(await files()).toEqual([]);
  });

  test('that the client abandons leaves no file and no place taken', async () => {
    for (let round = 0; round < 12; round += 1) {
      const upload = rawUpload({ 'content-length': String(MIB) });
      upload.write(`--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`);
      upload.write('x'.repeat(100_000));
      await waitFor('the file to begin', async () => (await files()).length > 0);
      upload.destroy();
      await waitFor('the file to go', async () => (await files()).length === 0);
    }
    expect((await client.upload({ name: 'a.txt', bytes: PNG })).status).toBe(201);
  });
});

describe('uploads that wait to be used', () => {
  test('are ten at most, also when they come at once', async () => {
    const attempts = await Promise.all(
      Array.from({ length: 14 }, () => client.upload({ name: 'a.png', bytes: PNG })),
    );
    const statuses = attempts.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const refused = attempts.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);

    const taken = attempts.find(({ status }) => status === 201);
    if (taken === undefined) throw new Error('every upload was refused');
    const { id } = (await taken.json()) as Uploaded;
    await client.send('one is used', { uploads: [id] });
    expect((await client.upload({ name: 'a.png', bytes: PNG })).status).toBe(201);
    const stranger = await gateway.connect();
    expect((await stranger.upload({ name: 'a.png', bytes: PNG })).status).toBe(201);
  });
});

describe('an upload that is taken back', () => {
  const takeBack = (id: string, token = client.session.token): Promise<Response> =>
    fetch(`${gateway.url}/chat/uploads/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });

  test('makes room for another, and can be taken back twice', async () => {
    const sent: Uploaded[] = [];
    for (let count = 0; count < 10; count += 1) {
      sent.push(await uploaded(await client.upload({ name: 'a.png', bytes: PNG })));
    }
    expect((await client.upload({ name: 'a.png', bytes: PNG })).status).toBe(429);
    const [first] = sent;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await takeBack(first?.id ?? '');
      expect(answer.status).toBe(204);
      expect(await answer.text()).toBe('');
      expect(await files()).toHaveLength(9);
    }
    await uploaded(await client.upload({ name: 'a.png', bytes: PNG }));
    expect(await client.send('with it', { uploads: [first?.id ?? ''] })).toEqual({
      ok: false,
      error: 'unknown_upload',
    });
  });

  test('is its own visitor’s, and no message has used it', async () => {
    const file = await uploaded(await client.upload({ name: 'a.png', bytes: PNG }));
    const thief = await gateway.connect();
    await thief.send('hello');
    expect((await takeBack(file.id, thief.session.token)).status).toBe(204);
    expect(await client.send('mine', { uploads: [file.id] })).toMatchObject({ ok: true });
    expect((await takeBack(file.id)).status).toBe(204);
    const kept = await fetch(`${gateway.url}/chat/uploads/${file.id}`, {
      headers: { authorization: `Bearer ${client.session.token}` },
    });
    expect(Buffer.from(await kept.arrayBuffer())).toEqual(PNG);
  });

  test('needs a token, and may be asked for by the shop’s page', async () => {
    expect((await takeBack('x', 'k1.0123.abc.def.ghi')).status).toBe(401);
    const preflight = await fetch(`${gateway.url}/chat/uploads/x`, {
      method: 'OPTIONS',
      headers: { origin: 'https://acme.example', 'access-control-request-method': 'DELETE' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toMatch(/\bDELETE\b/);
  });

  test('too often in a row has to wait', async () => {
    const statuses: number[] = [];
    // On a slow machine some of them fall into the next ten seconds.
    for (let round = 0; round < 10 && !statuses.includes(429); round += 1) {
      const answers = Array.from({ length: 70 }, () => takeBack(randomUUID()));
      for (const { status } of await Promise.all(answers)) statuses.push(status);
    }
    expect(new Set(statuses)).toEqual(new Set([204, 429]));
  });
});

describe('a request that cannot be an upload', () => {
  test.each<[string, Record<string, string>, string, number]>([
    ['is no multipart', { 'content-type': 'application/json' }, '{}', 415],
    ['names no boundary', { 'content-type': 'multipart/form-data; a=b' }, 'x', 400],
    ['ends in the middle', {}, '--b\r\ncontent-disposition: form-data; name="file"; f', 400],
    [
      'ends in the middle of its file',
      {},
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
      400,
    ],
    ['has no file', {}, '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--b--', 400],
    [
      'has its file under another name',
      {},
      '--b\r\ncontent-disposition: form-data; name="photo"; filename="a.txt"\r\n\r\nb\r\n--b--',
      400,
    ],
    ['is noise', {}, 'noise', 400],
    ['has a header without end', {}, `--b\r\n${'x'.repeat(200_000)}`, 400],
  ])('because it %s', async (_case, headers, body, status) => {
    expect(await answerTo(rawUpload(headers), body)).toBe(status);
    expect(await files()).toEqual([]);
    expect((await client.upload({ name: 'a.png', bytes: PNG })).status).toBe(201);
  });

  test.each<[string, Record<string, string>]>([
    ['no token', { authorization: '' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a made-up token', { authorization: 'Bearer k1.0123.abc.def.ghi' }],
  ])('because it bears %s', async (_case, headers) => {
    expect(await answerTo(rawUpload(headers), 'x')).toBe(401);
  });

  test('because the token has expired', async () => {
    const visitorId = asVisitorId('0123456789abcdef0123456789abcdef');
    const past = new VisitorTokens(SIGNING_KEYS, () => Date.now() - 366 * 24 * 3600 * 1000);
    const token = past.mint({ widgetKey: 'demo', visitorId, verified: false, logouts: 0 });
    expect((await client.upload({ name: 'a.png', bytes: PNG }, token)).status).toBe(401);
  });
});

describe('a page of another origin', () => {
  test.each([
    ['https://acme.example', 201, 'https://acme.example'],
    ['https://other.example', 403, 'https://other.example'],
    ['https://evil.example', 403, null],
  ])('%s', async (origin, status, allowed) => {
    const form = new FormData();
    form.append('file', new Blob([PNG]), 'a.png');
    const response = await fetch(`${gateway.url}/chat/uploads`, {
      method: 'POST',
      body: form,
      headers: { origin, authorization: `Bearer ${client.session.token}` },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
    const preflight = await fetch(`${gateway.url}/chat/uploads`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/authorization/);
  });
});

function rawUpload(headers: Record<string, string>) {
  const upload = request(`${gateway.url}/chat/uploads`, {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=b',
      authorization: `Bearer ${client.session.token}`,
      ...headers,
    },
  });
  upload.on('error', () => undefined);
  return upload;
}

function answerTo(upload: ReturnType<typeof rawUpload>, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    upload.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    upload.on('error', reject);
    upload.end(body);
  });
}

/** Sends until it is answered. */
async function endless(): Promise<{ status: number | undefined; sent: number }> {
  const upload = rawUpload({ 'transfer-encoding': 'chunked' });
  let status: number | undefined;
  let sent = 0;
  upload.on('response', (response) => {
    response.resume();
    status = response.statusCode;
  });
  const closed = new Promise<void>((resolve) => upload.on('close', () => resolve()));
  upload.write(`--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`);
  const chunk = Buffer.alloc(MIB, 'x');
  while (!upload.destroyed && sent < 200 * MIB) {
    // Whatever was not written when the connection ended is never called back.
    await Promise.race([
      closed,
      new Promise<void>((resolve) => {
        upload.write(chunk, () => resolve());
      }),
    ]);
    sent += chunk.length;
  }
  upload.destroy();
  return { status, sent };
}
