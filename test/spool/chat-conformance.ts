// Longer than usual: the whole promise of a backend in one suite, so that a second one runs all of it.
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  ChatStore,
  JournalLine,
  MarkedState,
  VisitorIdentity,
} from '../../src/spool/chat-store.ts';
import type { NewEntry } from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { asEntryId, asVisitorId, type VisitorId } from '../../src/domain/ids.ts';
import { anEntry, OTHER_SHOP, SHOP } from '../support/entries.ts';

interface Opened {
  readonly spool: Spool;
  readonly chat: ChatStore;
}

/** A backend under test. `reopen` ends the process that had it and starts another. */
export interface ChatStoreUnderTest extends Opened {
  /** The ids of all stored visitors, in the order in which they were stored. */
  visitorIds(): Promise<readonly string[]>;
  reopen(): Promise<Opened>;
  remove(): Promise<void>;
}

const VISITOR = asVisitorId('a'.repeat(32));
const OTHER = asVisitorId('b'.repeat(32));
const GUEST = VISITOR;
const KNOWN = OTHER;
const NEW = asVisitorId('c'.repeat(32));
/** How many unused uploads a visitor may have. */
const MOST = 10;
const never = { rawMs: 1e12, deadMs: 1e12, entriesMs: 1e12 };

/** What every backend must do; `chat-store.ts` says it in words. */
export function describeChatStore(backend: string, open: () => Promise<ChatStoreUnderTest>): void {
  describe(`a chat store on ${backend}`, () => {
    let under: ChatStoreUnderTest;
    let store: Opened;
    beforeEach(async () => {
      under = await open();
      store = under;
    });
    afterEach(() => under.remove());

    describe('with two visitors', () => {
      beforeEach(async () => {
        await store.chat.createVisitor({ shopId: SHOP, id: VISITOR, createdAt: 1 });
        await store.chat.createVisitor({ shopId: SHOP, id: OTHER, createdAt: 1 });
      });

      const chatEntry = (messageId: string, change: Partial<NewEntry> = {}) =>
        anEntry({
          ...{ channel: 'web_chat', dedupKey: `${VISITOR}:${messageId}` },
          ...{ remoteId: `remote-of-${messageId}`, ...change },
        });
      const say = (messageId: string, uploadIds: string[] = []) =>
        store.chat.acceptMessage(chatEntry(messageId), {
          visitorId: VISITOR,
          messageId,
          text: `text of ${messageId}`,
          uploadIds,
        });
      const reply = (platformMessageId: string) =>
        store.chat.storeReply({
          shopId: SHOP,
          visitorId: VISITOR,
          platformMessageId,
          text: 'answer',
          format: 'MARKDOWN',
          at: 5,
        });
      const mark = (state: MarkedState, messageId = 'm1') =>
        store.chat.markMessage(SHOP, VISITOR, messageId, state);
      const stateOf = async (seq: number) =>
        (await store.chat.linesAfter(SHOP, VISITOR, seq - 1, 1))[0]?.state;
      const upload = (id: string, visitorId = VISITOR, at = Date.now()) =>
        addUpload(store, { id, visitorId, at });

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
          const stored = answers.filter(
            (answer) => typeof answer !== 'string' && !answer.duplicate,
          );
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

        test('a reply whose text changes keeps its place, and the last text counts', async () => {
          const authored = {
            author: { agentId: 'agent-1' },
            choices: [{ id: 'yes', text: 'Yes' }],
          };
          const change = (text: string, updatedAt?: number, id = 'r1', by: object = authored) =>
            store.chat.storeReply({
              ...{ shopId: SHOP, visitorId: VISITOR, platformMessageId: id, text, at: 5 },
              ...{ format: 'TEXT', ...by, ...(updatedAt !== undefined && { updatedAt }) },
            });
          await say('m1');
          const first = await change('on Monday', 10);
          expect(first).toMatchObject({ isNew: true, line: { seq: 2, ...authored } });
          expect(first?.line).not.toHaveProperty('rev');
          await say('m2');
          await change('another', 10, 'r2');
          expect(await change('on Monday', 11)).toBeUndefined();
          expect(await change('on Tuesday', 20)).toEqual({
            visitorId: VISITOR,
            isNew: false,
            line: {
              ...{ seq: 2, id: 'r1', from: 'agent', text: 'on Tuesday', format: 'TEXT', at: 5 },
              ...{ attachments: [], state: 'delivered', ...authored, rev: 1 },
            },
          });
          // A reader who was slower has an older text.
          expect(await change('on Sunday', 15)).toBeUndefined();
          expect(await change('changed', 30, 'r2')).toMatchObject({ line: { seq: 4, rev: 2 } });
          // Its author stays, also when the platform no longer names them.
          const unnamed = await change('on Wednesday', undefined, 'r1', {});
          expect(unnamed).toMatchObject({ line: { seq: 2, rev: 3, ...authored } });
          const texts = (lines: readonly JournalLine[]) =>
            lines.map(({ seq, text }) => [seq, text]);
          const revised = (after: number, limit = 10) =>
            store.chat.linesRevised(SHOP, VISITOR, after, limit).then(texts);
          expect(await revised(0)).toEqual([
            [4, 'changed'],
            [2, 'on Wednesday'],
          ]);
          expect(await revised(2)).toEqual([[2, 'on Wednesday']]);
          expect(await revised(0, 1)).toEqual([[4, 'changed']]);
          expect(await revised(3)).toEqual([]);
          expect(await store.chat.linesRevised(SHOP, OTHER, 0, 10)).toEqual([]);
          expect(await store.chat.linesAfter(SHOP, VISITOR, 1, 1)).toMatchObject([
            { text: 'on Wednesday', rev: 3, ...authored },
          ]);
          const record = await store.chat.visitor(SHOP, VISITOR);
          expect(record).toMatchObject({ lastSeq: 4, lastRev: 3 });
        });

        test('a reply tells since when the visitor waited for it', async () => {
          await say('m1');
          const asked = await store.chat.linesAfter(SHOP, VISITOR, 0, 1);
          await say('m2');
          expect(await reply('r1')).toMatchObject({ askedAt: asked[0]?.at });
          expect(await reply('r2')).not.toHaveProperty('askedAt');
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

        test.each<[MarkedState[], JournalLine['state']]>([
          [['delivered', 'seen'], 'seen'],
          [['seen', 'delivered'], 'seen'],
          [['seen', 'seen'], 'seen'],
          [['seen', 'failed'], 'seen'],
          [['delivered', 'failed'], 'delivered'],
          [['failed', 'seen'], 'failed'],
          // An operator has sent it again.
          [['failed', 'seen', 'delivered'], 'delivered'],
          [['failed', 'delivered', 'seen'], 'seen'],
        ])('a tick takes no later one back: %j is %s', async (states, expected) => {
          await say('m1');
          for (const state of states) {
            const owner = await mark(state);
            // Nobody is told a state that the line does not have.
            expect(owner).toBe((await stateOf(1)) === state ? VISITOR : undefined);
          }
          expect(await stateOf(1)).toBe(expected);
        });

        test.each<[MarkedState[], JournalLine['state']]>([
          [['delivered', 'seen'], 'seen'],
          [['seen', 'delivered', 'failed'], 'seen'],
          [['failed', 'delivered', 'seen'], 'seen'],
          [['delivered', 'delivered'], 'delivered'],
        ])('nor does one of several at once: %j is %s', async (states, expected) => {
          await say('m1');
          // The first is under way while the others gather, where many share a commit.
          await Promise.all([mark('failed', 'm2'), ...states.map((state) => mark(state))]);
          expect(await stateOf(1)).toBe(expected);
        });

        test('a page ends at its limit of bytes, after at least one line', async () => {
          // As JSON: "text of m1" with its quotation marks.
          for (let n = 1; n <= 4; n += 1) await say(`m${n}`);
          const after = await store.chat.linesAfter(SHOP, VISITOR, 1, 10, 24);
          expect(after.map(({ seq }) => seq)).toEqual([2, 3]);
          const before = await store.chat.linesBefore(SHOP, VISITOR, 5, 10, 35);
          expect(before.map(({ seq }) => seq)).toEqual([4, 3].reverse());
          expect(await store.chat.linesAfter(SHOP, VISITOR, 0, 10, 1)).toHaveLength(1);
        });

        test('messages at once are delivered in the order of their lines', async () => {
          const ids = Array.from({ length: 20 }, (_, n) => `m${n}`);
          await Promise.all([...ids.slice(0, 10).map((id) => say(id)), reply('r1')]);
          await Promise.all(ids.slice(5).map((id) => say(id)));
          const lines = await store.chat.linesAfter(SHOP, VISITOR, 0, 100);
          expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
          const written = lines.filter(({ from }) => from === 'visitor').map(({ id }) => id);
          const stored = await store.spool.list({ shopId: SHOP, limit: 100 });
          const delivered = stored.map(({ remoteId }) => remoteId).reverse();
          expect(written).toHaveLength(20);
          expect(delivered).toEqual(written.map((id) => `remote-of-${id}`));
          expect(new Set(stored.map(({ lane }) => lane)).size).toBe(1);
        });

        test('a message that is refused does not hold up those beside it', async () => {
          const gone = asVisitorId('9'.repeat(32));
          const [one, refused, stranger, two] = await Promise.all([
            say('m1'),
            say('m2', ['nowhere']),
            store.chat.acceptMessage(chatEntry('m3', { dedupKey: `${gone}:m3` }), {
              ...{ visitorId: gone, messageId: 'm3', text: 'hello', uploadIds: [] },
            }),
            say('m4'),
          ]);
          expect([refused, stranger]).toEqual(['unknown_upload', 'joined']);
          const seqs = [one, two].map((answer) => typeof answer !== 'string' && answer.seq);
          expect(seqs.sort()).toEqual([1, 2]);
          expect(await say('m2')).toMatchObject({ seq: 3, duplicate: false });
        });

        test('a duplicate whose line was swept is a duplicate', async () => {
          await say('m1');
          await store.spool.sweep({ rawMs: 1e12, deadMs: 1e12, entriesMs: -1000 });
          expect(await say('m1')).toMatchObject({ seq: 0, duplicate: true });
        });

        test('a text that is no proper Unicode hurts nothing but itself', async () => {
          const text = 'a\0b\ud800c"\\u0000\u{1f600}';
          const raw = Buffer.from(text, 'utf16le');
          const entry = chatEntry('m1', { raw: { kind: 'inline', bytes: raw } });
          await store.chat.acceptMessage(entry, {
            ...{ visitorId: VISITOR, messageId: 'm1', text, uploadIds: [] },
          });
          await store.chat.updateVisitor(SHOP, VISITOR, { name: text });
          await store.chat.storeReply({
            ...{ shopId: SHOP, visitorId: VISITOR, platformMessageId: text, text, at: 5 },
            format: 'HTML',
          });
          const lines = await store.chat.linesAfter(SHOP, VISITOR, 0, 10);
          const readable = /^a[\0\ufffd]b\ufffd+c"\\u0000\u{1f600}$/u;
          expect(lines.map((line) => readable.test(line.text))).toEqual([true, true]);
          expect(await store.spool.raw(entry.id)).toMatchObject({ bytes: raw });
          expect((await store.chat.visitor(SHOP, VISITOR))?.name).toMatch(readable);
        });

        test('what comes for a visitor who was never stored is told so', async () => {
          const gone = asVisitorId('9'.repeat(32));
          expect(
            await store.chat.storeReply({
              ...{ shopId: SHOP, visitorId: gone, platformMessageId: 'r', text: 'r', at: 5 },
              format: 'TEXT',
            }),
          ).toBeUndefined();
          expect(await store.chat.markMessage(SHOP, gone, 'm1', 'failed')).toBeUndefined();
          expect(await store.chat.markMessage(SHOP, VISITOR, 'm1', 'failed')).toBe(VISITOR);
          await expect(upload('u1', gone)).rejects.toThrow();
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

        test('go after a day when no message used them, and else with their message', async () => {
          const day = 24 * 3_600_000;
          await upload('old', VISITOR, Date.now() - day - 1000);
          await upload('new');
          await upload('used', VISITOR, Date.now() - day - 1000);
          const message = await say('m1', ['used']);
          expect(await store.spool.sweep(never)).toMatchObject({ files: 1 });
          expect(await store.chat.upload(SHOP, VISITOR, 'old')).toBeUndefined();
          expect(await store.chat.upload(SHOP, VISITOR, 'new')).toBeDefined();
          expect(await store.chat.upload(SHOP, VISITOR, 'used')).toBeDefined();
          await store.spool.discard(asEntryId(typeof message === 'string' ? '' : message.id));
          expect(await store.spool.sweep({ ...never, rawMs: -1000 })).toMatchObject({ files: 1 });
          expect(await store.chat.upload(SHOP, VISITOR, 'used')).toBeUndefined();
        });

        test('are refused while as many as are allowed wait, however they come', async () => {
          const added = await Promise.all(
            Array.from({ length: MOST + 5 }, (_, n) => upload(`u${n}`)),
          );
          expect(added.filter((isAdded) => isAdded)).toHaveLength(MOST);
          expect(await store.chat.countUnusedUploads(SHOP, VISITOR)).toBe(MOST);
          expect(await upload('foreign', OTHER)).toBe(true);
          await say('m1', [`u${added.indexOf(true)}`]);
          expect([await upload('next'), await upload('last')]).toEqual([true, false]);
        });

        test('that no message used can be taken back, once', async () => {
          await upload('u1');
          const blob = (await store.chat.upload(SHOP, VISITOR, 'u1'))?.blob;
          await upload('u2');
          await say('m1', ['u2']);
          expect(await store.chat.removeUpload(SHOP, OTHER, 'u1')).toBeUndefined();
          expect(await store.chat.removeUpload(SHOP, VISITOR, 'u2')).toBeUndefined();
          const removed = [1, 2].map(() => store.chat.removeUpload(SHOP, VISITOR, 'u1'));
          expect(new Set(await Promise.all(removed))).toEqual(new Set([blob, undefined]));
          expect(await say('m2', ['u1'])).toBe('unknown_upload');
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
        test('each logout is counted, of that visitor alone', async () => {
          const logoutsOf = async (id = VISITOR) => (await store.chat.visitor(SHOP, id))?.logouts;
          expect(await logoutsOf()).toBe(0);
          await Promise.all([1, 2, 3].map(() => store.chat.logOut(SHOP, VISITOR)));
          expect(await logoutsOf()).toBe(3);
          expect(await store.chat.visitorsAmong(SHOP, [VISITOR])).toMatchObject([{ logouts: 3 }]);
          expect(await logoutsOf(OTHER)).toBe(0);
          const nobody = asVisitorId('9'.repeat(32));
          await store.chat.logOut(SHOP, nobody);
          expect(await logoutsOf(nobody)).toBeUndefined();
        });

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

        test('a message goes to the conversation that is the current one when it is stored', async () => {
          const stored = [say('m1'), store.chat.startConversation(SHOP, VISITOR), say('m2')];
          await Promise.all(stored);
          await store.chat.startConversation(SHOP, VISITOR);
          await say('m3');
          const entries = await store.spool.list({ limit: 10 });
          const lanes = entries.map(({ lane }) => lane).reverse();
          expect(lanes[0]).toBe(`${VISITOR}/1`);
          const { lane } = await store.chat.startConversation(SHOP, VISITOR);
          expect(lane).not.toBe(lanes[2]);
          expect([...lanes].sort()).toEqual(lanes);
          expect((await store.chat.visitor(SHOP, VISITOR))?.lane).toBe(lane);
        });

        test('are found together, those that are stored', async () => {
          await store.chat.updateVisitor(SHOP, OTHER, { name: 'Ada' });
          await say('m1');
          const nobody = asVisitorId('9'.repeat(32));
          const found = await store.chat.visitorsAmong(SHOP, [VISITOR, nobody, OTHER]);
          expect(new Map(found.map((visitor) => [visitor.id, visitor]))).toEqual(
            new Map([
              [VISITOR, await store.chat.visitor(SHOP, VISITOR)],
              [OTHER, await store.chat.visitor(SHOP, OTHER)],
            ]),
          );
          expect(await store.chat.visitorsAmong(OTHER_SHOP, [VISITOR])).toEqual([]);
          expect(await store.chat.visitorsAmong(SHOP, [])).toEqual([]);
        });

        test('one who was never stored stays in the first conversation', async () => {
          const nobody = asVisitorId('9'.repeat(32));
          const first = { conversation: 1, lane: `${nobody}/1` };
          expect(await store.chat.startConversation(SHOP, nobody)).toEqual(first);
          expect(await under.visitorIds()).toEqual([VISITOR, OTHER]);
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
          const known = await store.chat.visitorsAmong(
            SHOP,
            ['c', 'd'].map((id) => asVisitorId(id.repeat(32))),
          );
          expect(known).toMatchObject([{ id: one.id, subject: 'customer-7' }]);
          expect(await store.chat.visitor(OTHER_SHOP, one.id)).toBeUndefined();
        });

        test('changes keep what they do not name, and seen never goes back', async () => {
          await store.chat.updateVisitor(SHOP, VISITOR, { name: 'Ada', seenSeq: 4 });
          await store.chat.updateVisitor(SHOP, VISITOR, {
            email: 'ada@customer.example',
            seenSeq: 2,
          });
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
    });

    describe('guests and known visitors', () => {
      const guest = (id = GUEST) => store.chat.createVisitor({ shopId: SHOP, id, createdAt: 1 });
      const known = () =>
        store.chat.createVisitor({ shopId: SHOP, id: KNOWN, subject: 'ada', createdAt: 1 });
      const identify = (change: Partial<VisitorIdentity> = {}) =>
        store.chat.identifyVisitor({
          ...{ shopId: SHOP, subject: 'ada', guestId: GUEST, newId: NEW, at: 9 },
          ...change,
        });

      async function say(
        visitorId: VisitorId,
        messageId: string,
        at: number,
        uploadIds: string[] = [],
      ) {
        return store.chat.acceptMessage(
          anEntry({
            channel: 'web_chat',
            dedupKey: `${visitorId}:${messageId}`,
            receivedAt: at,
          }),
          { visitorId, messageId, text: messageId, uploadIds },
        );
      }
      const reply = (visitorId: VisitorId, platformMessageId: string, at: number) =>
        store.chat.storeReply({
          ...{ shopId: SHOP, visitorId, platformMessageId, at },
          ...{ text: platformMessageId, format: 'TEXT' },
        });
      const record = async (id: VisitorId) =>
        (await store.chat.linesAfter(SHOP, id, 0, 100)).map((line) => `${line.seq} ${line.id}`);
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
          expect(await store.chat.visitor(SHOP, GUEST)).toMatchObject({
            joined: KNOWN,
            lastSeq: 0,
          });
        });

        test('keeps a verified address from one that was typed while he was recognized', async () => {
          await guest();
          // Both are on their way before the other has an answer.
          await Promise.all([
            identify({ email: 'ada@customer.example' }),
            store.chat.updateVisitor(SHOP, GUEST, { email: 'someone@else.example' }),
          ]);
          const visitor = await store.chat.visitor(SHOP, GUEST);
          expect(visitor).toMatchObject({ subject: 'ada', email: 'ada@customer.example' });
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
          expect(await identify({ subject: 'eve', guestId: KNOWN })).toMatchObject({
            joinedLines: 0,
          });
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
          // Either device may be the first.
          expect([
            ['1 g1', '2 n1'],
            ['1 n1', '2 g1'],
          ]).toContainEqual(await record(one.visitor.id));
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
        const kept = () => under.visitorIds();

        test('are few rows, however often somebody says who he is with new tokens', async () => {
          await known();
          for (let index = 0; index < 50; index += 1) {
            const identified = await identify({ guestId: unused(index), at: Date.now() });
            expect(identified).toMatchObject({ superseded: unused(index), visitor: { id: KNOWN } });
          }
          expect(await kept()).toEqual([
            KNOWN,
            ...Array.from({ length: 20 }, (_, at) => unused(30 + at)),
          ]);
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
          expect(await kept()).toEqual([KNOWN, GUEST, unused(1), unused(2)]);
          await store.spool.sweep(never);
          expect(await kept()).toEqual([KNOWN, GUEST, unused(2)]);
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
          expect(
            watched.map(({ visitorId, conversationId }) => [visitorId, conversationId]),
          ).toEqual([
            [KNOWN, 'c-known'],
            [KNOWN, 'c-guest'],
          ]);
          expect(await reply(GUEST, 'r1', 4)).toMatchObject({ visitorId: KNOWN, line: { seq: 3 } });
          expect(await reply(KNOWN, 'r1', 4)).toBeUndefined();
          expect(await store.chat.markMessage(SHOP, GUEST, 'g1', 'delivered')).toBe(KNOWN);
          expect(await store.chat.linesAfter(SHOP, KNOWN, 1, 1)).toMatchObject([
            { id: 'g1', state: 'delivered' },
          ]);
          expect(await store.chat.markMessage(SHOP, GUEST, 'g1', 'seen')).toBe(KNOWN);
          expect(await store.chat.linesAfter(SHOP, KNOWN, 1, 1)).toMatchObject([
            { id: 'g1', state: 'seen' },
          ]);
        });

        test('his uploads are the visitor’s, those under way too', async () => {
          await addUpload(store, { id: 'unused', visitorId: GUEST, at: Date.now() });
          await addUpload(store, { id: 'used', visitorId: GUEST, at: Date.now() });
          await say(GUEST, 'g2', 3, ['used']);
          await identify();
          await addUpload(store, { id: 'late', visitorId: GUEST, at: Date.now() });
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
          store = await under.reopen();
          expect(await record(KNOWN)).toEqual(['1 k1', '2 g1']);
          expect(await say(KNOWN, 'g1', 5)).toMatchObject({ duplicate: true });
          expect(await say(GUEST, 'g9', 5)).toBe('joined');
        });
      });
    });
  });
}

/** An upload of three bytes, of at most `MOST` that wait. */
export async function addUpload(
  { spool, chat }: Pick<Opened, 'spool' | 'chat'>,
  { id, visitorId, at }: { id: string; visitorId: VisitorId; at: number },
): Promise<boolean> {
  const writer = spool.blobs.writer({ inlineMaxBytes: 0 });
  await pipeline([Buffer.from('abc')], writer);
  const file = await writer.commit();
  if (file.kind !== 'file') throw new Error('it was asked to be a file');
  const about = { shopId: SHOP, visitorId, name: 'a.png', type: 'image/png' };
  return chat.addUpload({ id, ...about, size: 3, blob: file.blob, at }, MOST);
}
