import { unlink } from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChatClient } from '../../../support/chat-client.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aShop, ChatGateway, otherShop, ROOMY } from '../chat-gateway.ts';

let gateway: ChatGateway;
let client: ChatClient;
beforeEach(async () => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY }), otherShop()] });
  client = await gateway.connect();
});
afterEach(() => gateway.stop());

const BYTES = Buffer.from('a,b\n1,2\n');
async function uploaded(): Promise<string> {
  const response = await client.upload({ name: 'números "1".csv', bytes: BYTES, type: 'text/csv' });
  const { id } = (await response.json()) as { id: string };
  return id;
}
const get = (id: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/chat/uploads/${id}`, {
    headers: { authorization: `Bearer ${client.session.token}`, ...headers },
  });

describe('a visitor’s own file', () => {
  test('is named in his line, and comes back byte for byte as a download', async () => {
    const id = await uploaded();
    await client.send('here', { uploads: [id] });
    await waitFor('the line', () => client.messages.length === 1);
    expect(client.messages[0]?.attachments).toMatchObject([{ id, type: 'text/csv' }]);
    const later = await gateway.connect({ auth: { key: 'demo', token: client.session.token } });
    await waitFor('the line again', () => later.messages.length === 1);
    expect(later.messages[0]?.attachments).toMatchObject([{ id }]);

    const answer = await get(id, { origin: 'https://acme.example' });
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^text\/csv/),
      'content-length': String(BYTES.length),
      'content-disposition': expect.stringMatching(/^attachment; filename=.*filename\*=UTF-8''n/),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'access-control-allow-origin': 'https://acme.example',
      vary: expect.stringMatching(/Origin.*Authorization/),
    });
    const again = await get(id, { 'if-none-match': String(answer.headers.get('etag')) });
    expect(again.status).toBe(304);
  });

  test('is there before it is used too', async () => {
    expect((await get(await uploaded())).status).toBe(200);
  });

  test('is nobody else’s', async () => {
    const id = await uploaded();
    const stranger = await gateway.connect();
    await stranger.send('hello');
    const { token } = stranger.session;
    expect((await get(id, { authorization: `Bearer ${token}` })).status).toBe(404);
    for (const authorization of ['', 'Bearer', 'Bearer a.b.c', `Basic ${token}`]) {
      const answer = await get(id, { authorization });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({ error: 'unauthorized' });
    }
    expect((await get(id, { origin: 'https://other.example' })).status).toBe(403);
    const evil = await get(id, { origin: 'https://evil.example' });
    expect(evil.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('that is not there, or not there any more, is a 404', async () => {
    for (const id of ['nothing', 'x'.repeat(200), '..%2f..%2fspool.db']) {
      const answer = await get(id);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ error: 'not_found' });
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const id = await uploaded();
    const blobs = join(gateway.dir, 'blobs');
    for (const name of await readdir(blobs)) await unlink(join(blobs, name));
    expect((await get(id)).status).toBe(404);
  });

  test('may be asked for with the token from a page of the shop', async () => {
    const answer = await fetch(`${gateway.url}/chat/uploads/any`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://acme.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': 'https://acme.example',
      'access-control-allow-methods': 'GET, DELETE',
      'access-control-allow-headers': expect.stringContaining('authorization'),
    });
  });
});

test('many uploads at once leave no warning about listeners', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listen);
  try {
    const clients = await Promise.all(Array.from({ length: 15 }, () => gateway.connect()));
    const statuses = await Promise.all(
      clients.map(async (each) => (await each.upload({ name: 'a.txt', bytes: BYTES })).status),
    );
    expect(statuses).toEqual(clients.map(() => 201));
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.map(String)).toEqual([]);
  } finally {
    process.off('warning', listen);
  }
});
