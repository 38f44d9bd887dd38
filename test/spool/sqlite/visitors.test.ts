import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import type { VisitorIdentity } from '../../../src/spool/chat-store.ts';
import { MIGRATIONS } from '../../../src/spool/sqlite/migrations.ts';
import type { Store } from '../../../src/spool/store.ts';
import { openStore } from '../../support/store.ts';
import { asBlobName, asVisitorId, type VisitorId } from '../../../src/domain/ids.ts';
import { ends } from '../../support/ends.ts';
import { anEntry, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const GUEST = asVisitorId('a'.repeat(32));
const KNOWN = asVisitorId('b'.repeat(32));
const NEW = asVisitorId('c'.repeat(32));

let dir: string;
let store: Store;
beforeEach(async () => {
  const temp = tempDir();
  ends(() => temp.remove());
  dir = temp.path;
  store = await open();
});

async function open(): Promise<Store> {
  const opened = await openStore(dir);
  ends(() => opened.spool.close());
  return opened;
}

const guest = (id = GUEST) => store.chat.createVisitor({ shopId: SHOP, id, createdAt: 1 });
const known = () =>
  store.chat.createVisitor({ shopId: SHOP, id: KNOWN, subject: 'ada', createdAt: 1 });
const identify = (change: Partial<VisitorIdentity> = {}) =>
  store.chat.identifyVisitor({
    ...{ shopId: SHOP, subject: 'ada', guestId: GUEST, newId: NEW, at: 9 },
    ...change,
  });

async function say(visitorId: VisitorId, messageId: string, at: number, uploadIds: string[] = []) {
  const visitor = await store.chat.visitor(SHOP, visitorId);
  return store.chat.acceptMessage(
    anEntry({
      channel: 'web_chat',
      lane: visitor?.lane ?? '',
      dedupKey: `${visitorId}:${messageId}`,
      receivedAt: at,
    }),
    { visitorId, messageId, text: messageId, uploadIds },
  );
}
const reply = (visitorId: VisitorId, platformMessageId: string, at: number) =>
  store.chat.appendReply({
    ...{ shopId: SHOP, visitorId, platformMessageId, at },
    ...{ text: platformMessageId, format: 'TEXT' },
  });
const record = async (id: VisitorId) =>
  (await store.chat.linesAfter(SHOP, id, 0, 100)).map((line) => `${line.seq} ${line.id}`);
const addUpload = (id: string, visitorId: VisitorId) =>
  store.chat.addUpload({
    ...{ id, shopId: SHOP, visitorId, name: 'a.png', type: 'image/png', size: 3, at: Date.now() },
    blob: asBlobName(`blob-${id}`),
  });
const lane = (text: string) => ({ shopId: SHOP, channel: 'web_chat', lane: text }) as const;

describe('a guest who says who he is', () => {
  test('becomes the visitor when nobody had that identity', async () => {
    await guest();
    await store.chat.updateVisitor(SHOP, GUEST, { name: 'Ada', email: 'typed@example.com' });
    await say(GUEST, 'g1', 1);
    const identified = await identify();
    expect(identified).toMatchObject({
      visitor: { id: GUEST, subject: 'ada', name: 'Ada', lane: `${GUEST}/1` },
      superseded: GUEST,
      joinedLines: 0,
    });
    // What he typed himself must not pass for verified.
    expect(identified.visitor.email).toBeFalsy();
    expect(await record(GUEST)).toEqual(['1 g1']);
  });

  test('brings his lines along behind the known visitor’s, in their order', async () => {
    await guest();
    await known();
    await say(KNOWN, 'k1', 1);
    await say(GUEST, 'g1', 2);
    // The platform's clock is late.
    await reply(GUEST, 'r1', 1);
    await say(KNOWN, 'k2', 3);
    await say(GUEST, 'g2', 4);
    const { visitor, superseded, joinedLines } = await identify({ name: 'Ada' });
    expect({ superseded, joinedLines }).toEqual({ superseded: GUEST, joinedLines: 3 });
    expect(visitor).toMatchObject({ id: KNOWN, lastSeq: 5, name: 'Ada' });
    expect(await record(KNOWN)).toEqual(['1 k1', '2 k2', '3 g1', '4 r1', '5 g2']);
    expect(await record(GUEST)).toEqual([]);
    expect(await store.chat.visitor(SHOP, GUEST)).toMatchObject({ joined: KNOWN, lastSeq: 0 });
  });

  test('keeps a verified address from one that was typed while he was recognized', async () => {
    await guest();
    // Both are on their way before the other has an answer.
    await Promise.all([
      identify({ email: 'ada@customer.example' }),
      store.chat.updateVisitor(SHOP, GUEST, { email: 'someone@else.example' }),
    ]);
    const visitor = await store.chat.visitorBySubject(SHOP, 'ada');
    expect(visitor).toMatchObject({ id: GUEST, email: 'ada@customer.example' });
  });

  test('does so once, whoever comes with his token later', async () => {
    await guest();
    await known();
    await say(GUEST, 'g1', 1);
    await identify();
    expect(await identify()).toEqual({
      visitor: expect.objectContaining({ id: KNOWN, lastSeq: 1 }),
      joinedLines: 0,
    });
    const stranger = await identify({ subject: 'eve' });
    expect(stranger).toEqual({
      visitor: expect.objectContaining({ id: NEW, subject: 'eve', lastSeq: 0 }),
      joinedLines: 0,
    });
    // Nor does a visitor who has an identity of his own join another.
    expect(await identify({ subject: 'eve', guestId: KNOWN })).toMatchObject({ joinedLines: 0 });
    expect(await record(KNOWN)).toEqual(['1 g1']);
  });

  test('at two devices at once is one visitor with the lines of both', async () => {
    await guest();
    await guest(NEW);
    await say(GUEST, 'g1', 1);
    await say(NEW, 'n1', 2);
    const [one, two] = await Promise.all([
      identify({ newId: asVisitorId('d'.repeat(32)) }),
      identify({ guestId: NEW, newId: asVisitorId('e'.repeat(32)) }),
    ]);
    expect(two.visitor.id).toBe(one.visitor.id);
    expect(await record(one.visitor.id)).toEqual(['1 g1', '2 n1']);
  });

  test('who has left no trace yet writes nothing under his old name', async () => {
    await known();
    expect(await identify()).toMatchObject({ superseded: GUEST, visitor: { id: KNOWN } });
    // A first line that was on its way while another tab said who he is.
    await guest();
    expect(await say(GUEST, 'g1', 1)).toBe('joined');
    expect(await say(KNOWN, 'g1', 1)).toMatchObject({ seq: 1, duplicate: false });
  });
});

describe('guests who left no trace', () => {
  const unused = (index: number) => asVisitorId(index.toString(16).padStart(32, '0'));
  const kept = (): string[] => {
    const db = new Database(join(dir, 'spool.db'), { readonly: true });
    const ids = db.prepare('SELECT id FROM visitors ORDER BY no').pluck().all() as string[];
    db.close();
    return ids;
  };
  const retention = { rawMs: 1e12, deadMs: 1e12, entriesMs: 1e12 };

  test('are few rows, however often somebody says who he is with new tokens', async () => {
    await known();
    for (let index = 0; index < 50; index += 1) {
      const identified = await identify({ guestId: unused(index), at: Date.now() });
      expect(identified).toMatchObject({ superseded: unused(index), visitor: { id: KNOWN } });
    }
    expect(kept()).toEqual([KNOWN, ...Array.from({ length: 20 }, (_, at) => unused(30 + at))]);
    expect(await say(unused(49), 'late', 1)).toBe('joined');
    // Of one that is forgotten nothing is on its way any more: he comes back as a new visitor.
    expect(await say(unused(0), 'late', 1)).toBe('joined');
    expect(await record(KNOWN)).toEqual([]);
  });

  test('are forgotten after a day, and nobody else is', async () => {
    await known();
    await guest();
    await say(GUEST, 'g1', Date.now());
    await identify();
    await identify({ guestId: unused(1), at: Date.now() - 25 * 3_600_000 });
    await identify({ guestId: unused(2), at: Date.now() });
    expect(kept()).toEqual([KNOWN, GUEST, unused(1), unused(2)]);
    await store.spool.sweep(retention);
    expect(kept()).toEqual([KNOWN, GUEST, unused(2)]);
    expect(await record(KNOWN)).toEqual(['1 g1']);
  });
});

describe('after a guest has joined', () => {
  beforeEach(async () => {
    await guest();
    await known();
    await say(KNOWN, 'k1', 1);
    await say(GUEST, 'g1', 2);
  });

  test('his messages are accepted for the visitor only, and those of before are known', async () => {
    await identify();
    expect(await say(GUEST, 'g2', 3)).toBe('joined');
    expect(await say(KNOWN, 'g1', 3)).toMatchObject({ seq: 2, duplicate: true, at: 2 });
    expect(await say(KNOWN, 'g2', 3)).toMatchObject({ seq: 3, duplicate: false });
    expect(await record(KNOWN)).toEqual(['1 k1', '2 g1', '3 g2']);
    expect(await store.spool.list({ limit: 10 })).toHaveLength(3);
  });

  test('what still comes for him reaches the visitor', async () => {
    await store.spool.rememberConversation(lane(`${GUEST}/1`), 'c-guest');
    await identify();
    await store.spool.rememberConversation(lane(`${KNOWN}/1`), 'c-known');
    const watched = await store.chat.conversationsOf(SHOP, [GUEST, KNOWN]);
    expect(watched.map(({ visitorId, conversationId }) => [visitorId, conversationId])).toEqual([
      [KNOWN, 'c-known'],
      [KNOWN, 'c-guest'],
    ]);
    expect(await reply(GUEST, 'r1', 4)).toMatchObject({ visitorId: KNOWN, line: { seq: 3 } });
    expect(await reply(KNOWN, 'r1', 4)).toBeUndefined();
    expect(await store.chat.markMessage(SHOP, GUEST, 'g1', 'delivered')).toBe(KNOWN);
    expect(await store.chat.linesAfter(SHOP, KNOWN, 1, 1)).toMatchObject([
      { id: 'g1', state: 'delivered' },
    ]);
  });

  test('his uploads are the visitor’s, those under way too', async () => {
    await addUpload('unused', GUEST);
    await addUpload('used', GUEST);
    await say(GUEST, 'g2', 3, ['used']);
    await identify();
    await addUpload('late', GUEST);
    expect(await store.chat.countUnusedUploads(SHOP, KNOWN)).toBe(2);
    expect(await store.chat.upload(SHOP, GUEST, 'used')).toBeUndefined();
    expect(await store.chat.upload(SHOP, KNOWN, 'used')).toMatchObject({ id: 'used' });
    expect(await say(KNOWN, 'k2', 4, ['unused', 'late'])).toMatchObject({ duplicate: false });
    const lines = await store.chat.linesAfter(SHOP, KNOWN, 0, 10);
    expect(lines.at(-1)?.attachments.map(({ id }) => id)).toEqual(['unused', 'late']);
  });

  test('the conversation goes on in which was spoken last', async () => {
    const { visitor } = await identify();
    expect(visitor.lane).toBe(`${GUEST}/1`);
    const next = await store.chat.startConversation(SHOP, KNOWN);
    expect(next.lane).toMatch(new RegExp(`^${KNOWN}/`));
    expect(next.lane).not.toBe(`${KNOWN}/1`);
  });

  test('the visitor’s own conversation goes on when that was the last one', async () => {
    await say(KNOWN, 'k2', 3);
    expect((await identify()).visitor.lane).toBe(`${KNOWN}/1`);
  });

  test('what was seen stays seen, and the rest does not', async () => {
    await store.chat.updateVisitor(SHOP, KNOWN, { seenSeq: 1 });
    await reply(GUEST, 'r1', 3);
    await store.chat.updateVisitor(SHOP, GUEST, { seenSeq: 2 });
    await reply(GUEST, 'r2', 4);
    expect((await identify()).visitor).toMatchObject({ lastSeq: 4, seenSeq: 3 });
  });

  test('all of it outlives the process', async () => {
    await identify();
    await store.spool.close();
    store = await open();
    expect(await record(KNOWN)).toEqual(['1 k1', '2 g1']);
    expect(await say(KNOWN, 'g1', 5)).toMatchObject({ duplicate: true });
    expect(await say(GUEST, 'g9', 5)).toBe('joined');
  });
});

test('a spool of the version before is brought up to date with all that is in it', async () => {
  await store.spool.close();
  const old = tempDir();
  ends(() => old.remove());
  dir = old.path;
  const db = new Database(join(dir, 'spool.db'));
  for (const step of MIGRATIONS.slice(0, 2)) db.exec(step);
  db.pragma('user_version = 2');
  db.prepare(
    `INSERT INTO visitors (shop, id, conversation, last_seq, created_at) VALUES (?, ?, 3, 1, 1)`,
  ).run(SHOP, GUEST);
  db.prepare(
    `INSERT INTO journal (visitor, seq, sender, message_id, text, format, attachments, at, state)
     VALUES (1, 1, 'visitor', 'g1', 'hello', 'TEXT', '[]', 1, 'accepted')`,
  ).run();
  db.close();
  store = await open();
  expect(await store.chat.visitor(SHOP, GUEST)).toMatchObject({ lane: `${GUEST}/3`, lastSeq: 1 });
  await known();
  await identify();
  expect(await record(KNOWN)).toEqual(['1 g1']);
});
