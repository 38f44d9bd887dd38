import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NewEntry } from '../../../src/spool/entry.ts';
import type { Store } from '../../../src/spool/store.ts';
import { openStore } from '../../support/store.ts';
import { asBlobName, asVisitorId } from '../../../src/domain/ids.ts';
import { anEntry, OTHER_SHOP, SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const VISITOR = asVisitorId('a'.repeat(32));
const OTHER = asVisitorId('b'.repeat(32));

let dir: ReturnType<typeof tempDir>;
let store: Store;
beforeEach(async () => {
  dir = tempDir();
  store = await openStore(dir.path);
  await store.chat.createVisitor({ shopId: SHOP, id: VISITOR, createdAt: 1 });
  await store.chat.createVisitor({ shopId: SHOP, id: OTHER, createdAt: 1 });
});
afterEach(async () => {
  await store.spool.close();
  dir.remove();
});

const chatEntry = (messageId: string, change: Partial<NewEntry> = {}) =>
  anEntry({ channel: 'web_chat', dedupKey: `${VISITOR}:${messageId}`, ...change });
const say = (messageId: string, uploadIds: string[] = []) =>
  store.chat.acceptMessage(chatEntry(messageId), {
    visitorId: VISITOR,
    messageId,
    text: `text of ${messageId}`,
    uploadIds,
  });
const reply = (platformMessageId: string) =>
  store.chat.appendReply({
    shopId: SHOP,
    visitorId: VISITOR,
    platformMessageId,
    text: 'answer',
    format: 'MARKDOWN',
    at: 5,
  });
const upload = (id: string, visitorId = VISITOR) =>
  store.chat.addUpload({
    id,
    shopId: SHOP,
    visitorId,
    name: 'a.png',
    type: 'image/png',
    size: 3,
    blob: asBlobName(`blob-${id}`),
    at: Date.now(),
  });

describe('the journal', () => {
  test('numbers both directions from 1 without gaps, each visitor apart', async () => {
    expect(await say('m1')).toMatchObject({ seq: 1, duplicate: false });
    expect(await reply('r1')).toMatchObject({
      visitorId: VISITOR,
      line: { seq: 2, from: 'agent' },
    });
    expect(await say('m2')).toMatchObject({ seq: 3 });
    const lines = await store.chat.linesAfter(SHOP, VISITOR, 0, 10);
    expect(lines.map(({ seq, id, from }) => [seq, id, from])).toEqual([
      [1, 'm1', 'visitor'],
      [2, 'r1', 'agent'],
      [3, 'm2', 'visitor'],
    ]);
    expect(await store.chat.linesAfter(SHOP, OTHER, 0, 10)).toEqual([]);
  });

  test('ten parallel copies of a message get one number and make one entry', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => say('m1')));
    const stored = answers.filter((answer) => typeof answer !== 'string' && !answer.duplicate);
    expect(stored).toHaveLength(1);
    expect(answers.map((answer) => typeof answer !== 'string' && answer.seq)).toEqual(
      Array(10).fill(1),
    );
    expect(await store.spool.list({ limit: 10 })).toHaveLength(1);
  });

  test('a reply is appended once', async () => {
    await reply('r1');
    expect(await reply('r1')).toBeUndefined();
    expect((await store.chat.visitor(SHOP, VISITOR))?.lastSeq).toBe(1);
  });

  test('history pages backwards, oldest first within a page', async () => {
    for (let n = 1; n <= 5; n += 1) await say(`m${n}`);
    const page = await store.chat.linesBefore(SHOP, VISITOR, 4, 2);
    expect(page.map(({ seq }) => seq)).toEqual([2, 3]);
  });

  test('a tick is kept', async () => {
    await say('m1');
    expect(await store.chat.markMessage(SHOP, VISITOR, 'm1', 'delivered')).toBe(VISITOR);
    expect(await store.chat.linesAfter(SHOP, VISITOR, 0, 1)).toMatchObject([
      { state: 'delivered' },
    ]);
  });

  test('lines go with the retention, and the numbers go on', async () => {
    await say('m1');
    await store.spool.sweep({ rawMs: -1000, deadMs: -1000, entriesMs: -1000 });
    expect(await store.chat.linesAfter(SHOP, VISITOR, 0, 10)).toEqual([]);
    expect(await say('m2')).toMatchObject({ seq: 2 });
  });
});

describe('uploads', () => {
  test('are used once, by their visitor, with the message that names them', async () => {
    await upload('u1');
    await upload('foreign', OTHER);
    expect(await say('m0', ['foreign'])).toBe('unknown_upload');
    expect(await say('m0', ['nowhere'])).toBe('unknown_upload');
    expect(await say('m1', ['u1'])).toMatchObject({ seq: 1 });
    expect(await say('m2', ['u1'])).toBe('unknown_upload');
    expect(await say('m1', ['u1'])).toMatchObject({ seq: 1, duplicate: true });
    expect(await store.spool.list({ limit: 10 })).toHaveLength(1);
  });

  test('of two messages at once that name the same upload one is stored', async () => {
    await upload('u1');
    const answers = await Promise.all([say('m1', ['u1']), say('m2', ['u1'])]);
    expect(answers.filter((answer) => answer === 'unknown_upload')).toHaveLength(1);
  });

  test('count while they wait', async () => {
    await upload('u1');
    await upload('u2');
    await say('m1', ['u1']);
    expect(await store.chat.countUnusedUploads(SHOP, VISITOR)).toBe(1);
    expect(
      (await store.chat.unusedUploads(SHOP, VISITOR, ['u2', 'u1'])).map(({ id }) => id),
    ).toEqual(['u2']);
  });
});

describe('visitors', () => {
  test('a new conversation begins once, until something is said in it', async () => {
    const current = (conversation: number) => ({
      conversation,
      lane: `${VISITOR}/${conversation}`,
    });
    expect(await store.chat.startConversation(SHOP, VISITOR)).toEqual(current(1));
    await say('m1');
    expect(await store.chat.startConversation(SHOP, VISITOR)).toEqual(current(2));
    expect(await store.chat.startConversation(SHOP, VISITOR)).toEqual(current(2));
  });

  test('one subject is one visitor, also when two devices come at once', async () => {
    const device = (id: string) =>
      store.chat.createVisitor({
        shopId: SHOP,
        id: asVisitorId(id.repeat(32)),
        subject: 'customer-7',
        createdAt: 1,
      });
    const [one, two] = await Promise.all([device('c'), device('d')]);
    expect(one.id).toBe(two.id);
    expect((await store.chat.visitorBySubject(SHOP, 'customer-7'))?.id).toBe(one.id);
    expect(await store.chat.visitorBySubject(OTHER_SHOP, 'customer-7')).toBeUndefined();
  });

  test('changes keep what they do not name, and seen never goes back', async () => {
    await store.chat.updateVisitor(SHOP, VISITOR, { name: 'Ada', seenSeq: 4 });
    await store.chat.updateVisitor(SHOP, VISITOR, { email: 'ada@customer.example', seenSeq: 2 });
    expect(await store.chat.visitor(SHOP, VISITOR)).toMatchObject({
      name: 'Ada',
      email: 'ada@customer.example',
      seenSeq: 4,
    });
  });

  test('the conversations of a visitor are those its lanes remember', async () => {
    const lane = (visitor: string, n: number) =>
      ({ shopId: SHOP, channel: 'web_chat', lane: `${visitor}/${n}` }) as const;
    await store.spool.rememberConversation(lane(VISITOR, 1), 'c1');
    await store.spool.rememberConversation(lane(VISITOR, 2), 'c2');
    await store.spool.rememberConversation(lane(OTHER, 1), 'c3');
    const found = await store.chat.conversationsOf(SHOP, [VISITOR]);
    expect(new Set(found.map(({ conversationId }) => conversationId))).toEqual(
      new Set(['c1', 'c2']),
    );
  });
});
