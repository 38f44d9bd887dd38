import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readPerson } from '../../src/cli/erase-person.ts';
import { asVisitorId } from '../../src/domain/ids.ts';
import type { ChatStore } from '../../src/spool/chat-store.ts';
import type { EntryMeta } from '../../src/spool/entry.ts';
import type { Eraser } from '../../src/spool/erasure.ts';
import type { OptOutStore } from '../../src/spool/opt-out-store.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { anEntry, because, claimFrom, SHOP } from '../support/entries.ts';

interface Opened {
  readonly spool: Spool;
  readonly chat: ChatStore;
  readonly optOuts: OptOutStore;
}

export interface ErasureUnderTest extends Opened {
  readonly eraser: Eraser;
  /** Ends the process that had the store and starts another. */
  reopen(): Promise<Opened>;
  remove(): Promise<void>;
}

const INBOX = 'support@acme.example';
const ANN = readPerson('ann@example.com', []);
const NOTHING = { entries: [], visitors: [], conversations: [], optOuts: [], notes: [] };

function mailOf(address: string, change: { key?: string; meta?: EntryMeta } = {}) {
  return anEntry({
    channel: 'email',
    lane: `${address} ${INBOX}`,
    meta: { agentContact: INBOX, ...change.meta },
    raw: { kind: 'inline', bytes: Buffer.from(`From: ${address}\r\n\r\nHello`) },
    ...(change.key !== undefined && { dedupKey: change.key }),
  });
}

/** What `Eraser` in `erasure.ts` says in words, of a store that a gateway has open. */
export function describeErasure(backend: string, open: () => Promise<ErasureUnderTest>): void {
  describe(`erasure on ${backend}`, () => {
    let under: ErasureUnderTest;
    let spool: Spool;
    let optOuts: OptOutStore;
    let eraser: Eraser;

    beforeEach(async () => {
      under = await open();
      ({ spool, optOuts, eraser } = under);
    });
    afterEach(() => under.remove());

    const find = () => eraser.find({ person: ANN, others: true });
    const eraseAll = async (waitMs = 0) =>
      eraser.eraseRows((await find()).traces, { person: ANN, shops: [SHOP], waitMs });
    const claimOne = async () => {
      const [claimed] = await claimFrom(spool, SHOP, 1, 60_000);
      if (claimed === undefined) throw new Error('nothing was claimed');
      return claimed;
    };

    test('an attempt under way finds its lease lost, and brings nothing back', async () => {
      const entry = mailOf('ann@example.com');
      await spool.accept([entry]);
      const claimed = await claimOne();
      expect(await eraseAll()).toMatchObject([{ id: entry.id }]);

      const outcome = { state: 'delivered', conversationId: 'c' } as const;
      const steps = [{ at: 1, step: 'delivered' as const }];
      expect(await spool.settle(claimed.lease, outcome, { steps })).toBe(false);
      expect(await spool.saveMedia(claimed.lease, 'part', { id: 'm' })).toBe(false);
      expect(await spool.renew([claimed.lease], 60_000)).toEqual([claimed.lease]);
      expect(await spool.rememberConversation(claimed.entry, 'c')).toBe(false);
      expect(await spool.timeline(entry.id)).toEqual([]);
      expect((await find()).traces).toEqual(NOTHING);
    });

    test('an attempt that ends in time is waited for', async () => {
      await spool.accept([mailOf('ann@example.com')]);
      const claimed = await claimOne();
      const erasing = eraseAll(60_000);
      const settled = new Promise((resolve) => {
        setTimeout(() => {
          const outcome = { state: 'dead', reason: because('no') } as const;
          resolve(spool.settle(claimed.lease, outcome, { steps: [] }));
        }, 300);
      });
      expect(await erasing).toEqual([]);
      expect(await settled).toBe(true);
    });

    test('the next entry of a lane that was in the way of nobody else is claimed', async () => {
      const bounces = { channel: 'email', lane: 'event/mailer', kind: 'event' } as const;
      const about = (email: string) =>
        anEntry({
          ...bounces,
          raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify({ contact: { email } })) },
        });
      const others = about('bob@example.com');
      await spool.accept([about('Ann@example.com'), others]);
      await eraseAll();
      const claimed = await claimFrom(spool, SHOP, 9, 60_000);
      expect(claimed.map(({ entry }) => entry.id)).toEqual([others.id]);
    });

    test("another person's attempt in the same lane keeps its lease", async () => {
      const about = (email: string) =>
        anEntry({
          ...{ channel: 'email', lane: 'event/mailer', kind: 'event' },
          raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify({ contact: { email } })) },
        });
      await spool.accept([about('bob@example.com'), about('ann@example.com')]);
      const claimed = await claimOne();
      expect(await eraseAll()).toEqual([]);
      const outcome = { state: 'delivered', conversationId: 'c' } as const;
      expect(await spool.settle(claimed.lease, outcome, { steps: [] })).toBe(true);
      expect(await claimFrom(spool, SHOP, 9, 60_000)).toEqual([]);
    });

    test('what comes again is known by its keyed hash, after the key is read anew too', async () => {
      const entry = mailOf('ann@example.com', { key: 'same' });
      const again = () => ({
        ...mailOf('ann@example.com', { key: 'same' }),
        remoteId: entry.remoteId,
      });
      await spool.accept([entry]);
      await eraseAll();
      expect(await spool.accept([again()])).toEqual([{ id: entry.id, duplicate: true }]);
      // The running gateway has it in memory still; the next one has not.
      ({ spool } = await under.reopen());
      const bobs = mailOf('bob@example.com');
      expect(await spool.accept([again(), bobs, again()])).toEqual([
        { id: entry.id, duplicate: true },
        { id: bobs.id, duplicate: false },
        { id: entry.id, duplicate: true },
      ]);
      expect(await spool.get(entry.id)).toBeUndefined();
      expect(await spool.knownKeys(SHOP, 'email', ['same', 'other'])).toEqual(new Set(['same']));
      expect(await spool.knownEmailIds(SHOP, [entry.remoteId, 'x'])).toEqual(
        new Set([entry.remoteId]),
      );
      const taken = {
        ...mailOf('b@example.com'),
        remoteId: entry.remoteId,
        remoteIdIfTaken: 'mine',
      };
      await spool.accept([taken]);
      expect((await spool.get(taken.id))?.remoteId).toBe('mine');
    });

    test('who opted out stays out until he comes back', async () => {
      const number = readPerson('+14155552671', []);
      const lane = 'AC1/sms/+15550001111/+14155552671';
      await optOuts.optOut(SHOP, lane, 'SM1');
      const erase = async () => {
        const { traces } = await eraser.find({ person: number, others: false });
        await eraser.eraseRows(traces, { person: number, shops: [SHOP], waitMs: 0 });
      };
      await erase();
      expect(await optOuts.isOptedOut(SHOP, lane)).toBe(true);
      expect(await optOuts.isOptedOut(SHOP, `${lane}9`)).toBe(false);
      expect(await optOuts.optIn(SHOP, lane, 'SM2')).toBe(true);
      expect(await optOuts.isOptedOut(SHOP, lane)).toBe(false);
      await erase();
      expect(await optOuts.isOptedOut(SHOP, lane)).toBe(false);
    });

    test("what was written of others' entries is blackened; their own words are listed", async () => {
      const bobs = mailOf('bob@example.com', { meta: { receivedHeader: 'for ann+x@EXAMPLE.com' } });
      await spool.accept([bobs]);
      const claimed = await claimOne();
      await spool.settle(
        claimed.lease,
        { state: 'dead', reason: because('400 ann@example.com is no') },
        { steps: [{ at: 1, step: 'refused', detail: { answer: 'ann@example.com', status: 400 } }] },
      );
      expect((await find()).mentions).toMatchObject([{ id: bobs.id, where: ['header'] }]);
      await eraseAll();
      expect((await spool.get(bobs.id))?.reason).toEqual(because('[erased]'));
      expect((await spool.timeline(bobs.id)).at(-1)).toEqual({
        ...{ at: 1, step: 'refused', detail: { answer: '[erased]', status: 400 } },
      });
    });

    test('what a platform said of late, which may quote a message, is blackened too', async () => {
      const said = (reason: string) => ({ state: 'open', reason, lastProbe: { at: 1, reason } });
      await spool.saveShopHealth(SHOP, {
        messages: said('400 "ann@example.com is no address"'),
        media: said('400 "bob@example.com is no address"'),
      });
      await eraseAll();
      expect(await spool.shopHealth(SHOP)).toEqual({
        messages: said('[erased]'),
        media: said('400 "bob@example.com is no address"'),
      });
    });

    test('a name is seen behind a line break in JSON, and blackened there', async () => {
      const bobs = anEntry({ meta: { note: 'Hi\nann@example.com' } });
      await spool.accept([bobs]);
      const claimed = await claimOne();
      const answer = 'no such person:\nann@example.com';
      await spool.settle(
        claimed.lease,
        { state: 'dead', reason: because('refused') },
        { steps: [{ at: 1, step: 'refused', detail: { answer, status: 400 } }] },
      );
      const { mentions, traces } = await find();
      expect(mentions).toMatchObject([{ id: bobs.id, where: ['header'] }]);
      expect(traces.notes).toHaveLength(1);
      await eraseAll();
      const detail = { answer: '[erased]', status: 400 };
      expect((await spool.timeline(bobs.id)).at(-1)?.detail).toEqual(detail);
      expect((await find()).traces.notes).toEqual([]);
    });

    test('a blob goes with its last entry, and what is outside is recorded until it is deleted', async () => {
      const writer = spool.blobs.writer({ inlineMaxBytes: 0 });
      writer.end('From: ann@example.com\r\n\r\nHello');
      await finished(writer);
      const raw = await writer.commit();
      if (raw.kind !== 'file') throw new Error('the blob is not a file');
      const [anns, bobs] = ['ann', 'bob'].map((name) => ({
        ...mailOf(`${name}@example.com`),
        raw,
      }));
      if (anns === undefined || bobs === undefined) throw new Error('two mails');
      await spool.accept([anns, bobs]);
      const claimed = await claimOne();
      await spool.saveMedia(claimed.lease, 'part', { id: 'media-1' });
      const outcome = {
        state: 'delivered',
        conversationId: 'c',
        platformMessageId: 'pm-1',
      } as const;
      await spool.settle(claimed.lease, outcome, { steps: [] });
      const { traces } = await eraser.find({ person: ANN, others: false });
      expect(traces.entries.map(({ id }) => id)).toEqual([anns.id]);
      await eraser.eraseRows(traces, { person: ANN, shops: [SHOP], waitMs: 0 });
      expect(await eraser.eraseBlobs()).toBe(0);
      expect(await spool.blobs.exists(raw.blob)).toBe(true);
      expect((await eraser.rest()).media).toEqual(['media-1']);
      expect((await eraser.rest()).message).toEqual(['pm-1']);
      await eraser.forgetRest('media', ['media-1']);
      expect((await eraser.rest()).media).toEqual([]);

      const bob = readPerson('bob@example.com', []);
      const theirs = await eraser.find({ person: bob, others: false });
      const options = { person: bob, shops: [SHOP], waitMs: 0 };
      await eraser.eraseRows(theirs.traces, options);
      // The same again, as after a kill.
      await eraser.eraseRows(theirs.traces, options);
      expect(await eraser.eraseBlobs()).toBe(1);
      expect(await spool.blobs.exists(raw.blob)).toBe(false);
      expect(await eraser.count()).toBe(0);
    });

    test('a visitor goes with the visitors merged into it; lines of others are listed', async () => {
      const { chat } = under;
      const create = (id: string, email?: string) =>
        chat.createVisitor({
          ...{ shopId: SHOP, id: asVisitorId(id), createdAt: Date.now() },
          ...(email !== undefined && { email }),
        });
      await create('guest');
      await create('other');
      const says = (visitorId: string, text: string) =>
        chat.storeReply({
          ...{ shopId: SHOP, visitorId: asVisitorId(visitorId), platformMessageId: `r-${text}` },
          ...{ text, format: 'TEXT' as const, at: Date.now() },
        });
      await says('guest', 'hello');
      await says('other', 'ask ann@example.com');
      await chat.identifyVisitor({
        ...{ shopId: SHOP, subject: 's-1', email: 'ann@example.com', at: Date.now() },
        ...{ guestId: asVisitorId('guest'), newId: asVisitorId('new') },
      });
      await create('second');
      await chat.identifyVisitor({
        ...{ shopId: SHOP, subject: 's-1', at: Date.now() },
        ...{ guestId: asVisitorId('second'), newId: asVisitorId('newer') },
      });
      const { traces, lines } = await find();
      expect(traces.visitors.map(({ id, lines: count }) => [id, count])).toEqual([
        ['guest', 1],
        ['second', 0],
      ]);
      expect(lines).toMatchObject([{ visitorId: 'other', seq: 1 }]);
      await eraseAll();
      expect(await chat.visitor(SHOP, asVisitorId('guest'))).toBeUndefined();
      expect(await chat.visitor(SHOP, asVisitorId('other'))).toBeDefined();
      expect((await find()).traces).toEqual(NOTHING);
      expect((await eraser.rest()).visitor).toEqual(['guest', 'second']);
    });

    test('a person always has the same hash', async () => {
      const hash = await eraser.hashOf('email ann@example.com');
      expect(hash).toMatch(/^[0-9a-f]{32}$/);
      expect(await eraser.hashOf('email ann@example.com')).toBe(hash);
      expect(await eraser.hashOf('email bob@example.com')).not.toBe(hash);
    });
  });
}
