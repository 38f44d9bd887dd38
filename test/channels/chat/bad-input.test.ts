import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Logger } from '../../../src/observability/logger.ts';
import type { ChatClient } from '../../support/chat-client.ts';
import { withinProcessorTime } from '../../support/processor-time.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aShop, ChatGateway, ROOMY } from './chat-gateway.ts';

const logged: unknown[] = [];
const recording: Logger = {
  error: (...line) => void logged.push(line),
  warn: (...line) => void logged.push(line),
  info: (...line) => void logged.push(line),
  debug: (...line) => void logged.push(line),
  with: () => recording,
};

let gateway: ChatGateway;
let client: ChatClient;
beforeAll(async () => {
  gateway = await ChatGateway.start({ shops: [aShop({ limits: ROOMY })], logger: recording });
  client = await gateway.connect();
});
afterAll(() => gateway.stop());

const id = randomUUID();
const deep: unknown = JSON.parse('['.repeat(500) + ']'.repeat(500));

describe('a wrong payload gets a word and costs nobody the socket', () => {
  test.each<[string, string, unknown[], string]>([
    ['no payload', 'message', [], 'invalid'],
    ['null', 'message', [null], 'invalid'],
    ['text', 'message', ['hello'], 'invalid'],
    ['a list', 'message', [[]], 'invalid'],
    ['bytes', 'message', [Buffer.from('hello')], 'invalid'],
    ['no id', 'message', [{ text: 'hello' }], 'invalid'],
    ['an id that is none', 'message', [{ id: '../../etc', text: 'hello' }], 'invalid'],
    ['an id that is a number', 'message', [{ id: 7, text: 'hello' }], 'invalid'],
    ['no text', 'message', [{ id }], 'invalid'],
    ['text that is an object', 'message', [{ id, text: { toString: 'x' } }], 'invalid'],
    ['bytes for text', 'message', [{ id, text: Buffer.from('x') }], 'invalid'],
    ['nothing but blanks', 'message', [{ id, text: ' \n\t' }], 'invalid'],
    ['nothing but NULs', 'message', [{ id, text: '\0\0\0' }], 'invalid'],
    ['nothing to be seen', 'message', [{ id, text: '\u200b\u2060\u3164\u202e' }], 'invalid'],
    ['text that is too long', 'message', [{ id, text: 'x'.repeat(8_001) }], 'too_large'],
    ['uploads that are no list', 'message', [{ id, text: 'a', uploads: 'b' }], 'invalid'],
    ['uploads that are no text', 'message', [{ id, text: 'a', uploads: [7] }], 'invalid'],
    ['an upload twice', 'message', [{ id, text: 'a', uploads: ['b', 'b'] }], 'invalid'],
    ['an unknown upload', 'message', [{ id, text: 'a', uploads: [id] }], 'unknown_upload'],
    [
      'too many uploads',
      'message',
      [{ id, text: 'a', uploads: Array.from({ length: 11 }, () => randomUUID()) }],
      'too_large',
    ],
    ['deep nesting', 'message', [{ id, text: deep }], 'invalid'],
    ['a negative page', 'history', [{ before: -1 }], 'invalid'],
    ['a page of text', 'history', [{ limit: 'all' }], 'invalid'],
    ['a page of nothing', 'history', [{ limit: 0 }], 'invalid'],
    ['no number seen', 'seen', [], 'invalid'],
    ['half a number seen', 'seen', [{ seq: 1.5 }], 'invalid'],
    ['a profile that is text', 'profile', ['Ada'], 'invalid'],
    ['an empty name', 'profile', [{ name: '  ' }], 'invalid'],
    ['a name of controls', 'profile', [{ name: '\u202e\n\u2066' }], 'invalid'],
    ['a long name', 'profile', [{ name: 'x'.repeat(201) }], 'invalid'],
    ['an address that is none', 'profile', [{ email: 'ada' }], 'invalid'],
  ])('%s', async (_case, event, args, error) => {
    expect(await client.request(event, ...args)).toEqual({ ok: false, error });
    expect(client.socket.connected).toBe(true);
  });

  test('of the longest address that nobody has costs the others nothing', async () => {
    const email = `x@x${'.x'.repeat(60_000)}.@`;
    await withinProcessorTime(2000, async () => {
      const answer = await client.request('profile', { email });
      expect(answer).toEqual({ ok: false, error: 'invalid' });
    });
  });

  test('counts characters, not code units', async () => {
    const text = '😀'.repeat(8_000);
    expect(await client.send(text)).toMatchObject({ ok: true });
    expect(await client.send(`${text}😀`)).toEqual({ ok: false, error: 'too_large' });
  });

  test('takes 8,000 escaped characters outside of the plane of most', async () => {
    // As JSON.stringify of other languages writes them: 96 kB.
    const text = '\\ud83d\\ude00'.repeat(8_000);
    const lines = client.messages.length;
    client.socket.io.engine.send(
      `42["message",{"id":"${randomUUID()}","text":"${text}"}]`.slice(1),
    );
    await waitFor('the echo', () => client.messages.length > lines);
    expect(client.messages.at(-1)?.text).toBe('😀'.repeat(8_000));
  });

  test('takes controls and what turns a text out of names', async () => {
    expect(await client.profile({ name: '\u202eAda\u2069 Love\nlace\0' })).toEqual({ ok: true });
    const again = await gateway.connect({ auth: { key: 'demo', token: client.session.token } });
    expect(again.session.name).toBe('Ada Lovelace');
    again.close();
  });

  test('drops NUL and keeps what else people paste', async () => {
    const lines = client.messages.length;
    expect(await client.send('a\0b \u202e \ud800 <b>&amp;</b>')).toMatchObject({ ok: true });
    await waitFor('the echo', () => client.messages.length > lines);
    expect(client.messages.at(-1)?.text).toMatch(/^ab \u202e . <b>&amp;<\/b>$/u);
  });

  test('takes unknown fields, more arguments and unknown events calmly', async () => {
    const answer = await client.request('message', { id: randomUUID(), text: 'a', admin: true }, 1);
    expect(answer).toMatchObject({ ok: true });
    client.socket.emit('shutdown' as 'message', { id, text: 'now' });
    expect(await client.history()).toMatchObject({ ok: true });
  });
});

describe('a client that breaks the protocol', () => {
  test('with more than 128 KiB is cut off, and the others live on', async () => {
    const rude = await gateway.connect();
    rude.socket.emit('message', { id: randomUUID(), text: 'x'.repeat(130 * 1024) });
    await waitFor('the close', () => !rude.socket.connected);
    expect(await client.send('still here')).toMatchObject({ ok: true });
  });

  test.each([
    'nonsense',
    '2["message"',
    '2{"a":1}',
    '451-["message",{"_placeholder":true,"num":7}]',
    '2["disconnect"]',
    `20["message",${'['.repeat(30_000)}${']'.repeat(30_000)}]`,
  ])('with the packet %s loses its own connection at most', async (packet) => {
    const rude = await gateway.connect();
    rude.socket.io.engine.send(packet);
    expect(await client.send('still here')).toMatchObject({ ok: true });
    rude.close();
  });

  test('by going away in the middle of a message leaves it stored', async () => {
    const hasty = await gateway.connect();
    const before = (await gateway.entries()).length;
    hasty.socket.emit('message', { id: randomUUID(), text: 'bye' });
    await waitFor('the entry', async () => (await gateway.entries()).length > before);
    hasty.close();
  });
});

test('no line of the log holds what people write', async () => {
  const secret = 'my secret is 4711';
  await client.profile({ name: 'Grace Hopper', email: 'grace@example.com' });
  await client.send(secret);
  const text = JSON.stringify(logged);
  expect(text).toContain('chat.accepted');
  for (const private_ of [secret, 'Grace', 'grace@example.com', client.session.token]) {
    expect(text).not.toContain(private_);
  }
});

test.each([
  ['engine.io', [6, 6, 10]],
  ['socket.io-parser', [4, 2, 7]],
  ['ws', [8, 21, 0]],
] as const)('%s is at least as new as its last security fix', async (name, least) => {
  const manifest: unknown = JSON.parse(await readFile(`node_modules/${name}/package.json`, 'utf8'));
  const version = (manifest as { version: string }).version.split('.').map(Number);
  const firstDifferent = version.findIndex((part, index) => part !== least[index]);
  expect(version[firstDifferent] ?? 0).toBeGreaterThanOrEqual(least[firstDifferent] ?? 0);
});
