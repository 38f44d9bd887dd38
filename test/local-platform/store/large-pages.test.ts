import { expect, test } from '@jest/globals';
import { LIMITS } from '../../../src/local-platform/open-points.ts';
import { PlatformClient } from '../../../src/platform-api/client.ts';
import type { Message, Page } from '../../../src/platform-api/resources.ts';
import { anEmail, call, create, SHOP, startPlatform } from '../harness.ts';

/** Of content and text together. */
const CHARS = 250_000;
const FITTING = Math.floor(LIMITS.messagesPageMaxBytes / (2 * CHARS));
const MESSAGES = 3 * FITTING + 1;

test('pages of large messages are shorter, and have every message once, there and back', async () => {
  const platform = await startPlatform();
  const first = await create(platform, anEmail());
  const id = String(first.body.conversation_id);
  for (let n = 1; n < MESSAGES; n += 1) {
    const message = { content: `${n}`.padEnd(CHARS, 'x') };
    const answer = await create(platform, anEmail({ conversation: { id }, message }));
    expect(answer.status).toBe(201);
  }
  const page = async (link: string) => (await call<Page<Message>>(platform, 'GET', link)).body;
  const walk = async (link: string, side: 'next' | 'previous') => {
    const pages: string[][] = [];
    for (let at: string | null | undefined = link; at;) {
      const { results, ...links } = await page(at);
      pages.push(results.map((message) => message.id));
      at = links[side];
    }
    return pages;
  };
  const link = `/messages/?conversation_id=${id}&limit=200`;
  const pages = await walk(link, 'next');
  expect(pages.slice(0, 2).map(({ length }) => length)).toEqual([FITTING, FITTING]);
  // The first message is a short one.
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(FITTING + 1);
  const all = pages.flat();
  expect(new Set(all).size).toBe(MESSAGES);
  expect(all.at(-1)).toBe(first.body.id);

  const last = await page(`${link}&cursor=${await lastCursor(page, link)}`);
  const back = await walk(String(last.previous), 'previous');
  expect(back.every(({ length }) => length <= FITTING + 1)).toBe(true);
  const shown = last.results.map((message) => message.id);
  expect([...back.toReversed().flat(), ...shown]).toEqual(all);
});

/** The cursor of the last page. */
async function lastCursor(page: (link: string) => Promise<Page<Message>>, link: string) {
  let cursor = '';
  for (let { next } = await page(link); next; { next } = await page(next)) {
    cursor = new URL(next).searchParams.get('cursor') ?? '';
  }
  return cursor;
}

test('a message that is larger than a page should be is a page of its own', async () => {
  const platform = await startPlatform();
  const content = 'x'.repeat(1_500_000);
  for (let n = 0; n < 2; n += 1) await create(platform, anEmail({ message: { content } }));
  const { body } = await call<Page<Message>>(platform, 'GET', '/messages/?limit=1');
  expect(body.results).toHaveLength(1);
  expect(body.next).not.toBeNull();
});

test('the largest pages are read by the exported client as it is', async () => {
  const platform = await startPlatform();
  // Six bytes of JSON for each of them.
  const content = '\u0001'.repeat(300_000);
  for (let n = 0; n < 4; n += 1) await create(platform, anEmail({ message: { content } }));
  const client = new PlatformClient({ ...SHOP, baseUrl: platform.url });
  try {
    const { results } = await client.listMessages({ limit: 200 });
    expect(results.length).toBeGreaterThanOrEqual(3);
    expect(results[0]?.content).toBe(content);
  } finally {
    client.close();
  }
});
