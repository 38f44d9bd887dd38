import { expect, test } from '@jest/globals';
import { CursorRefused, PageTooLarge } from '../../src/channels/chat/replies/message-reader.ts';
import { replySource } from '../../src/gateway/reply-source.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import { PlatformError } from '../../src/platform-api/errors.ts';
import { ConnectionPool } from '../../src/platform-api/transport.ts';
import { bareMessage } from '../channels/chat/replies/platform-messages.ts';
import { ends } from '../support/ends.ts';
import { SHOP } from '../support/entries.ts';
import { type Script, ScriptedPlatform } from '../support/scripted-platform.ts';

const EMPTY = { status: 200, body: { results: [], next: null, previous: null } };
const CONVERSATION = '6f6a1a52-3c0c-4e57-9f3b-0a3c9e1d2b11';

async function source(script: Script, isEmbedded = false) {
  const platform = new ScriptedPlatform();
  ends(() => platform.stop());
  platform.script = script;
  const pool = new ConnectionPool();
  ends(() => pool.close());
  const platformUrl = await platform.start();
  const client = new PlatformClient({
    ...{ baseUrl: platformUrl, apiKey: 'key', shopId: SHOP, pool },
    ...{ requestTimeoutMs: 10_000, mediaTimeoutMs: 10_000, maxAnswerBytes: 100_000, isEmbedded },
  });
  const replies = replySource({ value: [{ shopId: SHOP, client }] });
  return {
    list: (cursor?: string, limit?: number) =>
      replies.listMessages(SHOP, [CONVERSATION], cursor, new AbortController().signal, limit),
    limits: () =>
      platform
        .of('GET /messages/')
        .map(({ path }) => new URL(path, 'http://platform').searchParams.get('limit')),
  };
}

test('replies are asked for in large pages', async () => {
  const { list, limits } = await source(() => EMPTY);
  await list();
  await list('2');
  expect(limits()).toEqual(['200', '200']);
});

test.each([400, 422])(
  'a platform that refuses large pages with %d is asked for its own',
  async (status) => {
    const { list, limits } = await source(({ path }) =>
      path.includes('limit') ? { status } : EMPTY,
    );
    await expect(list()).resolves.toEqual({ results: [], next: undefined });
    await list();
    expect(limits()).toEqual(['200', null, null]);
  },
);

test('only the embedded platform offers choices', async () => {
  const choices = [{ id: 'yes', text: 'Yes' }];
  const message = { ...bareMessage(), choices };
  const script = () => ({ status: 200, body: { ...EMPTY.body, results: [message] } });
  const foundIn = async (isEmbedded: boolean) =>
    (await (await source(script, isEmbedded)).list()).results.map((each) => each.choices);
  expect(await foundIn(true)).toEqual([choices]);
  expect(await foundIn(false)).toEqual([undefined]);
});

test('what the platform refuses for another reason stays refused', async () => {
  const { list, limits } = await source(() => ({ status: 400 }));
  await expect(list()).rejects.toThrow('400');
  await expect(list()).rejects.toThrow('400');
  expect(limits()).toEqual(['200', null, '200', null]);
});

test.each([
  [400, CursorRefused],
  [404, CursorRefused],
  [410, CursorRefused],
  [422, CursorRefused],
  [401, PlatformError],
  [503, PlatformError],
])('a cursor that is answered with %d', async (status, kind) => {
  const { list } = await source(() => ({ status }));
  await expect(list('2')).rejects.toThrow(kind);
  await expect(list()).rejects.toThrow(PlatformError);
});

test('a page that is too large is said to be so, and stays one of this size', async () => {
  const { list, limits } = await source(({ path }) =>
    Number(/limit=(\d+)/.exec(path)?.[1]) > 50
      ? { status: 200, body: `"${'x'.repeat(200_000)}"` }
      : EMPTY,
  );
  await expect(list()).rejects.toThrow(PageTooLarge);
  await expect(list('2', 100)).rejects.toThrow(PageTooLarge);
  await expect(list('2', 50)).resolves.toEqual({ results: [], next: undefined });
  await expect(list()).rejects.toThrow(PageTooLarge);
  expect(limits()).toEqual(['200', '100', '50', '200']);
});

test('a platform that refuses large pages is asked for a smaller one until it takes it', async () => {
  const { list, limits } = await source(({ path }) => {
    const limit = /limit=(\d+)/.exec(path)?.[1];
    if (limit === undefined) return { status: 200, body: `"${'x'.repeat(200_000)}"` };
    return Number(limit) > 50 ? { status: 400 } : EMPTY;
  });
  await expect(list()).rejects.toThrow(PageTooLarge);
  await expect(list(undefined, 100)).rejects.toThrow(PageTooLarge);
  await expect(list(undefined, 50)).resolves.toEqual({ results: [], next: undefined });
  expect(limits()).toEqual(['200', null, '100', '50']);
});
