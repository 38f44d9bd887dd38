import { beforeEach, expect, test } from '@jest/globals';
import { createMessage } from '../../../src/local-platform/create-message.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import type { MessageRow } from '../../../src/local-platform/store/rows.ts';
import { Cursors } from '../../../src/local-platform/store/cursors.ts';
import { Store } from '../../../src/local-platform/store/store.ts';
import type { Message, Page } from '../../../src/platform-api/resources.ts';
import { anEmail, call, create, newFolder, OTHER, SHOP, startPlatform } from '../harness.ts';

const ROWS = 1000;

let dir: string;
let platform: LocalPlatform;
let added = 0;
let cursors: Cursors;

/** A message of a new contact in a new conversation: adds a row to each list. */
function someoneNew() {
  added += 1;
  return anEmail({ contact: { email: `person-${added}@example.com` } });
}

const add = async (shop = SHOP) => (await create(platform, someoneNew(), shop)).body;

beforeEach(() => {
  dir = newFolder();
});

/** Stores the rows in one write, newest first, before the platform is started. */
async function fill(rows: number): Promise<MessageRow[]> {
  const store = new Store(dir);
  store.shops.add(SHOP.shopId);
  cursors = new Cursors(store.shops.secret('cursors'));
  const now = new Date().toISOString();
  const made = await store.write(() =>
    Array.from({ length: rows }, () =>
      createMessage(store, SHOP.shopId, someoneNew(), { now, agentListens: false }),
    ),
  );
  store.close();
  return made.map(({ message }) => message).reverse();
}

interface Walk {
  readonly forth: string[];
  readonly back: string[];
}

/** Turns the pages to the last and back to the first; before each turn, rows are added. */
async function walk(path: string): Promise<Walk> {
  const turn = async (link: string) => {
    await Promise.all([add(), add(OTHER)]);
    return (await call<Page<{ id: string }>>(platform, 'GET', link)).body;
  };
  const ids = ({ results }: Page<{ id: string }>) => results.map(({ id }) => id);
  let page = await turn(path);
  const forth = ids(page);
  while (page.next) {
    page = await turn(page.next);
    forth.push(...ids(page));
  }
  const back = ids(page);
  while (page.previous) {
    page = await turn(page.previous);
    back.unshift(...ids(page));
  }
  return { forth, back };
}

test.each<[string, string, (message: MessageRow) => string | null]>([
  ['messages', '/messages/?limit=97', ({ id }) => id],
  ['tickets', '/tickets/?limit=97', (message) => message.ticket_id],
  [
    'tickets with filters',
    '/tickets/?limit=97&priority__in=0,1&created_at__range=relative:-1d,',
    (message) => message.ticket_id,
  ],
  [
    'contacts with filters',
    '/contacts/?limit=97&is_archived=false&parent_contact_id__isnull=true',
    (message) => message.contact_id,
  ],
])('pages of %s miss no row and repeat none while rows are added', async (_title, path, idOf) => {
  const before = (await fill(ROWS)).map(idOf);
  platform = await startPlatform({ dir });
  const { forth, back } = await walk(path);

  // The row of the first turn came before its answer.
  expect(forth.slice(1)).toEqual(before);
  expect(new Set(forth).size).toBe(forth.length);
  // On the way back, what was added meanwhile is there as well, before what was there before.
  expect(back.slice(-forth.length)).toEqual(forth);
  expect(new Set(back).size).toBe(back.length);
  expect(back.length).toBeGreaterThan(forth.length + ROWS / 97);
});

test('pages of some conversations keep to them while others are written in', async () => {
  platform = await startPlatform({ dir });
  const chosen: Message[] = [];
  const expected: string[] = [];
  for (let n = 0; n < 10; n++) chosen.push(await add());
  for (let n = 0; n < 100; n++) {
    const conversation = { id: chosen[n % 10]?.conversation_id ?? null };
    expected.unshift((await create(platform, anEmail({ conversation }))).body.id);
  }
  const conversations = chosen.map((message) => message.conversation_id).join();
  const { forth, back } = await walk(`/messages/?limit=7&conversation_id__in=${conversations}`);
  expect(forth).toEqual([...expected, ...chosen.map(({ id }) => id).reverse()]);
  expect(back).toEqual(forth);
});

test('a page after the last or before the first links back to its neighbour', async () => {
  await fill(4);
  platform = await startPlatform({ dir });
  const get = async (path: string) => (await call<Page<Message>>(platform, 'GET', path)).body;
  const first = await get('/messages/?limit=2');
  const second = await get(String(first.next));
  const behind = await get(`/messages/?limit=2&cursor=${cursorOf(second, 'older')}`);
  expect(behind.results).toEqual([]);
  expect((await get(String(behind.previous))).results).toEqual(second.results);
  const before = await get(`/messages/?limit=2&cursor=${cursorOf(first, 'newer')}`);
  expect(before.results).toEqual([]);
  expect((await get(String(before.next))).results).toEqual(first.results);
});

/** The cursor of the page beside this one, also when there is none and so no link to it. */
function cursorOf(page: Page<Message>, side: 'older' | 'newer'): string {
  const link = String(page.next ?? page.previous);
  const text = new URL(link).searchParams.get('cursor') ?? '';
  const known = cursors.parse('messages', SHOP.shopId, text);
  const shift = { 'older older': 0, 'older newer': 1, 'newer older': -1, 'newer newer': 0 };
  const seq = known.seq + shift[`${known.side} ${side}`];
  return cursors.format('messages', SHOP.shopId, { side, seq });
}

test('a cursor of another list, or one that is none, is refused', async () => {
  await fill(3);
  platform = await startPlatform({ dir });
  const { body } = await call<Page<Message>>(platform, 'GET', '/messages/?limit=1');
  const cursor = new URL(String(body.next)).searchParams.get('cursor') ?? '';
  const status = async (path: string) => (await call(platform, 'GET', path)).status;
  expect(await status(`/messages/?cursor=${cursor}`)).toBe(200);
  for (const path of ['tickets', 'contacts']) {
    expect(await status(`/${path}/?cursor=${cursor}`)).toBe(400);
  }
  const bytes = (text: string) => Buffer.from(text).toString('base64url');
  const changed = Array.from({ length: 16 }, (_, at) => {
    const block = Buffer.from(cursor, 'base64url');
    block.writeUInt8(block.readUInt8(at) ^ 1, at);
    return block.toString('base64url');
  });
  for (const none of [
    ...['1', 'x', 'older:5', 'null', `${cursor}=`, `${cursor}%20`, cursor.slice(1), '%00', '💥'],
    ...[bytes('messages:older:1'), bytes('0123456789abcdef'), bytes(''.padEnd(32)), ...changed],
  ]) {
    expect([none, await status(`/messages/?cursor=${none}`)]).toEqual([none, 400]);
  }
});
