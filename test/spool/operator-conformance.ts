// Longer than usual: what every backend promises to operators, in one suite.
import type { Reason } from '../../src/domain/reasons.ts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { finished } from 'node:stream/promises';
import { type NewEntry, type Outcome, WAITS_FOR } from '../../src/spool/entry.ts';
import type { EntryState } from '../../src/domain/entry-state.ts';
import type { EntryIndex, EntrySearch } from '../../src/spool/entry-index.ts';
import type { AuditFilter, DeliveryRecord, OperatorStore } from '../../src/spool/operator-store.ts';
import type { Spool } from '../../src/spool/spool.ts';
import type { StoredFormReaders } from '../../src/spool/stored-form.ts';
import { storedFormReaderOf } from '../../src/gateway/stored-forms.ts';
import { asEntryId, type EntryId } from '../../src/domain/ids.ts';
import { anEntry, claimFrom, OTHER_SHOP, retryLater, SHOP, because } from '../support/entries.ts';
import { waitFor } from '../support/wait-for.ts';

interface Opened {
  readonly spool: Spool;
  readonly operator: OperatorStore;
  readonly index: EntryIndex;
  renewSummaries(forms: StoredFormReaders, signal: AbortSignal): Promise<number>;
}

export interface OperatorStoreUnderTest extends Opened {
  /** Ends the process that had it and starts another. */
  reopen(): Promise<Opened>;
  /** Makes all summaries those of an earlier version, whose senders are nobody. */
  makeSummariesOld(): Promise<void> | void;
  remove(): Promise<void>;
}

const RECORD: DeliveryRecord = {
  request: { message: { content: 'hello', attachments: ['m1'] } },
  trimmed: '> quoted',
  attachments: [{ part: '1', name: 'a.png', type: 'image/png', bytes: 7, mediaId: 'm1' }],
};

/** What `operator-store.ts` and `entry-index.ts` say in words. */
export function describeOperatorStore(
  backend: string,
  open: () => Promise<OperatorStoreUnderTest>,
): void {
  describe(`what operators ask of ${backend}`, () => {
    let under: OperatorStoreUnderTest;
    let spool: Spool;
    let operator: OperatorStore;
    let index: EntryIndex;

    beforeEach(async () => {
      under = await open();
      ({ spool, operator, index } = under);
      await spool.recover();
    });
    afterEach(async () => {
      await under.remove();
    });

    const reopen = async () => {
      ({ spool, operator, index } = await under.reopen());
      await spool.recover();
    };
    const accept = async (change: Partial<NewEntry> = {}) => {
      const entry = anEntry(change);
      await spool.accept([entry]);
      return entry.id;
    };
    /** Claims until it gets this one. */
    const settle = async (id: EntryId, outcome: Outcome, record?: DeliveryRecord) => {
      const claimed = await claimFrom(spool, SHOP, 1000, 60_000);
      const lease = claimed.find(({ entry }) => entry.id === id)?.lease;
      if (lease === undefined) throw new Error('not claimed');
      expect(await spool.settle(lease, outcome, { steps: [] }, record)).toBe(true);
    };
    const found = async (search: Partial<EntrySearch>) =>
      (await index.find({ limit: 100, ...search })).found.map(({ entry }) => entry.id);
    /** The index may be a moment behind. */
    const expectFound = (search: Partial<EntrySearch>, ids: readonly EntryId[]) => {
      const isFound = async () => String(await found(search)) === String(ids);
      return waitFor(`${ids.length} entries by ${JSON.stringify(search)}`, isFound, 20);
    };

    const mail = (from: string, subject: string, change: Partial<NewEntry> = {}) =>
      accept({
        channel: 'email',
        raw: {
          kind: 'inline',
          bytes: Buffer.from(
            `From: ${from}\r\nTo: shop@acme.example\r\nSubject: ${subject}\r\n\r\nx`,
          ),
        },
        ...change,
      });

    describe('searching', () => {
      test('every entry is found by its summary and its ids, newest first', async () => {
        const one = await mail('Ann <ann@x.example>', 'Order 17');
        const two = await mail('Bob <bob@x.example>', 'Order 18');
        await expectFound({ text: 'order' }, [two, one]);
        await expectFound({ text: 'ann@x.example' }, [one]);
        await expectFound({ text: 'ord ann' }, [one]);
        await expectFound({ text: 'carla' }, []);
        await expectFound({ text: two }, [two]);
        await expectFound({ text: two.slice(0, 14) }, [two]);
        const { found: all } = await index.find({ text: 'order 18', limit: 10 });
        expect(all[0]?.summary).toEqual({
          from: 'Bob <bob@x.example>',
          to: 'shop@acme.example',
          subject: 'Order 18',
        });
        expect(await index.summaries([one])).toEqual(
          new Map([[one, expect.objectContaining({ subject: 'Order 17' })]]),
        );
      });

      test('what the platform calls it finds it after delivery', async () => {
        const id = await accept();
        await expectFound({ text: 'remote' }, [id]);
        const ids = { platformMessageId: 'msg-abc-1', conversationId: 'conv-xyz-9' };
        await settle(id, { state: 'delivered', ...ids });
        // At once: a search that finds nothing takes in what is new, and searches again.
        expect(await found({ text: 'msg-abc-1' })).toEqual([id]);
        await expectFound({ text: 'conv-xyz' }, [id]);
        await expectFound({ text: 'conv-xyz', states: ['queued'] }, []);
      });

      test('by shop, channel, state, reason and time, and by all together', async () => {
        const at = 1_700_000_000_000;
        const ids = [
          await mail('a@x.example', 'word', { receivedAt: at }),
          await accept({ channel: 'sms', receivedAt: at + 1000 }),
          await accept({ channel: 'sms', shopId: OTHER_SHOP, receivedAt: at + 2000 }),
          await accept({ channel: 'web_chat', hold: { code: 'dmarc' }, receivedAt: at + 3000 }),
        ] as const;
        const [email, sms, other, held] = ids;
        const reason: Reason = {
          code: 'platform_answered',
          params: { failure: 'http', status: 422, path: '/messages/', answer: 'no' },
        };
        await settle(email, { state: 'dead', reason });
        await expectFound({}, [held, other, sms, email]);
        await expectFound({ shopId: OTHER_SHOP }, [other]);
        await expectFound({ channel: 'sms' }, [other, sms]);
        await expectFound({ states: ['dead'] }, [email]);
        await expectFound({ states: ['dead', 'held'] }, [held, email]);
        // The claim that found the dead one has taken these as well.
        await expectFound({ states: ['delivering'] }, [sms]);
        await expectFound({ states: ['delivering', 'held'] }, [held, sms]);
        await expectFound({ states: ['queued'] }, [other]);
        await expectFound({ states: [] }, []);
        await expectFound({ reason: 'the platform' }, [email]);
        await expectFound({ reason: 'the platform answered 422 (http) to' }, [email]);
        await expectFound({ reason: 'the platform answered 5' }, []);
        await expectFound({ reason: 'platform_answered' }, [email]);
        await expectFound({ reason: 'platform_answered', states: ['dead'] }, [email]);
        await expectFound({ reason: 'platform_answered', states: ['held'] }, []);
        await expectFound({ reason: 'dm' }, [held]);
        await expectFound({ from: at + 1000, to: at + 3000 }, [other, sms]);
        await expectFound({ to: at + 1 }, [email]);
        await expectFound({ from: at + 10_000 }, []);
        await expectFound(
          {
            text: 'word',
            shopId: SHOP,
            channel: 'email',
            states: ['dead'],
            reason: 'the',
            to: at + 1,
          },
          [email],
        );
        await expectFound({ text: 'word', channel: 'sms' }, []);
        expect(await index.count({ channel: 'sms' }, 10)).toBe(2);
        expect(await index.count({ channel: 'sms' }, 1)).toBe(1);
        expect(await index.count({ states: ['delivering'] }, 10)).toBe(1);
        expect(await index.count({ text: 'word', from: at, to: at + 1 }, 10)).toBe(1);
      });

      test('pages come to an end and have every entry once', async () => {
        const entries = Array.from({ length: 25 }, () => anEntry({ meta: {}, lane: 'same' }));
        await spool.accept(entries);
        await waitFor('the index', async () => (await index.backlog()) === 0);
        for (const filter of [{}, { channel: 'sms' as const }, { text: 'remote' }]) {
          const seen: EntryId[] = [];
          let before: EntryId | undefined;
          do {
            const page = await index.find({ ...filter, limit: 10, ...(before && { before }) });
            seen.push(...page.found.map(({ entry }) => entry.id));
            before = page.next;
          } while (before !== undefined);
          expect(seen).toEqual(entries.map(({ id }) => id).reverse());
        }
        // Of an entry that was the oldest and has been deleted since.
        const before = asEntryId('00000000-0000-4000-8000-000000000000');
        expect((await index.find({ limit: 10, before })).found).toEqual([]);
      });

      test('nothing is lost over a restart', async () => {
        const one = await mail('a@x.example', 'before');
        await reopen();
        const two = await mail('a@x.example', 'between');
        await reopen();
        await expectFound({ text: 'a@x.example' }, [two, one]);
        expect(await index.backlog()).toBe(0);
      });

      test('an entry is found in the state that it is in', async () => {
        const id = await mail('a@x.example', 'state', { hold: because('why') });
        await expectFound({ text: 'state', states: ['held'] }, [id]);
        await spool.discard(id);
        await expectFound({ text: 'state', states: ['discarded'] }, [id]);
        expect(await found({ states: ['held'] })).toEqual([]);
        await operator.restore(id);
        await expectFound({ text: 'state', states: ['held'] }, [id]);
        await spool.requeue(id);
        await expectFound({ text: 'state', states: ['queued'] }, [id]);
      });

      test('what is swept is not found any more', async () => {
        const id = await mail('gone@x.example', 'swept');
        await settle(id, { state: 'delivered' });
        await expectFound({ text: 'gone@x.example', states: ['delivered'] }, [id]);
        await spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: 1e12 });
        // The summary outlives the raw form.
        await expectFound({ text: 'gone@x.example' }, [id]);
        await spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: -1 });
        await expectFound({ text: 'gone@x.example' }, []);
        await waitFor('its end', async () => (await index.summaries([id])).size === 0);
        const next = await mail('next@x.example', 'after');
        await expectFound({ text: 'x.example' }, [next]);
      });
    });

    describe('summaries of an earlier version', () => {
      const LATER = new AbortController().signal;
      const withoutSummary = async (raw: NewEntry['raw']): Promise<EntryId> => {
        const { summary: _summary, ...entry } = anEntry({ channel: 'email', raw });
        await spool.accept([entry]);
        return entry.id;
      };
      const renew = (signal = LATER) => under.renewSummaries(storedFormReaderOf, signal);
      const senderOf = async (id: EntryId) => (await index.summaries([id])).get(id)?.from;

      test('are computed once, of rows and of files, and the entries are found by them', async () => {
        const bytes = Buffer.from('From: ann@x.example\r\n\r\nbody');
        const inRow = await withoutSummary({ kind: 'inline', bytes });
        const writer = spool.blobs.writer({ inlineMaxBytes: 0 });
        await finished(writer.end(bytes));
        const inFile = await withoutSummary(await writer.commit());
        await expectFound({ text: 'remote' }, [inFile, inRow]);
        expect(await found({ text: 'ann' })).toEqual([]);
        expect(await renew()).toBe(2);
        await expectFound({ text: 'ann@x.example' }, [inFile, inRow]);
        expect(await senderOf(inFile)).toBe('ann@x.example');
        expect(await renew()).toBe(0);
      });

      test('are computed again when the version is another one', async () => {
        const id = await mail('ann@x.example', 'x');
        expect(await renew()).toBe(0);
        await under.makeSummariesOld();
        expect(await senderOf(id)).toBe('nobody');
        expect(await renew()).toBe(1);
        await expectFound({ text: 'ann' }, [id]);
        expect(await senderOf(id)).toBe('ann@x.example');
      });

      test('wait for the next start when the gateway stops', async () => {
        await withoutSummary({ kind: 'inline', bytes: Buffer.from('From: ann@x.example') });
        expect(await renew(AbortSignal.abort())).toBe(0);
        expect(await renew()).toBe(1);
      });
    });

    describe('what an attempt made of a message', () => {
      test.each([
        { state: 'delivered' } as const,
        { state: 'dead', reason: because('no') } as const,
        { state: 'held', reason: because('no') } as const,
        { state: 'suppressed', reason: because('no') } as const,
      ])('is kept with the outcome $state, over a restart', async (outcome) => {
        const id = await accept();
        await settle(id, outcome, RECORD);
        await reopen();
        expect(await operator.record(id)).toEqual(RECORD);
      });

      test('the last attempt counts; without one there is nothing', async () => {
        const id = await accept();
        expect(await operator.record(id)).toBeUndefined();
        await settle(id, retryLater(), { request: 1, attachments: [] });
        expect(await operator.record(id)).toEqual({ request: 1, attachments: [] });
        await settle(id, retryLater());
        await settle(id, { state: 'delivered' }, RECORD);
        expect(await operator.record(id)).toEqual(RECORD);
      });

      test('a long text comes back whole; a monstrous one as its beginning', async () => {
        const long = { request: { content: 'line of text 😀\n'.repeat(20_000) }, attachments: [] };
        const id = await accept();
        await settle(id, { state: 'delivered' }, long);
        expect(await operator.record(id)).toEqual(long);
        const random = Array.from({ length: 400_000 }, () => Math.random()).join();
        const monstrous = { request: { content: random }, attachments: RECORD.attachments };
        const other = await accept();
        await settle(other, { state: 'delivered' }, monstrous);
        const kept = await operator.record(other);
        expect(kept?.attachments).toEqual(RECORD.attachments);
        expect(JSON.stringify(kept?.request)).toContain(random.slice(0, 1000));
        expect(JSON.stringify(kept).length).toBeLessThan(100_000);
      });

      test('it is swept with the raw form', async () => {
        const id = await accept();
        await settle(id, { state: 'delivered' }, RECORD);
        await spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: 1e12 });
        expect(await operator.record(id)).toBeUndefined();
        expect(await spool.get(id)).toBeDefined();
      });
    });

    describe('taking back', () => {
      const stateOf = async (id: EntryId) => {
        const entry = await spool.get(id);
        return [entry?.state, entry?.reason, entry?.settledAt !== undefined];
      };

      test.each(['queued', 'dead', 'held', 'suppressed'] as const)(
        'a discarded entry goes back to %s',
        async (state) => {
          const id = await accept();
          if (state !== 'queued') await settle(id, { state, reason: because('because') });
          const before = await spool.get(id);
          expect(await spool.discard(id)).toBe(true);
          expect(await operator.restore(id)).toBe(true);
          expect(await spool.get(id)).toEqual(before);
          expect(await operator.restore(id)).toBe(false);
          expect((await spool.timeline(id)).map(({ step }) => step)).toEqual([
            'accepted',
            'discarded',
            'restored',
          ]);
        },
      );

      test('a restored entry has its place in its lane again', async () => {
        const [first, second] = [await accept({ lane: 'l' }), await accept({ lane: 'l' })];
        await spool.discard(first);
        await operator.restore(first);
        const claimed = await claimFrom(spool, SHOP, 10, 60_000);
        expect(claimed.map(({ entry }) => entry.id)).toEqual([first]);
        const [head] = claimed;
        if (head) await spool.settle(head.lease, { state: 'delivered' }, { steps: [] });
        const [next] = await claimFrom(spool, SHOP, 10, 60_000);
        expect(next?.entry.id).toBe(second);
      });

      test('a released entry waits for those of its lane that came before it', async () => {
        const earlier = await accept({ lane: 'l' });
        const released = await accept({ lane: 'l', hold: because('held') });
        await spool.requeue(released);
        const claimed = await claimFrom(spool, SHOP, 10, 60_000);
        expect(claimed.map(({ entry }) => entry.id)).toEqual([earlier]);
      });

      test('what is discarded waits for nothing', async () => {
        const id = await accept();
        await settle(id, retryLater({ waitsFor: WAITS_FOR.shop }));
        await spool.discard(id);
        expect((await spool.get(id))?.waitsFor).toBe(WAITS_FOR.time);
      });

      test('only what is discarded can be restored, and only while its raw form is kept', async () => {
        const id = await accept();
        expect(await operator.restore(id)).toBe(false);
        expect(await operator.restore(anEntry().id)).toBe(false);
        await spool.discard(id);
        await spool.sweep({ rawMs: -1, deadMs: -1, entriesMs: 1e12 });
        expect(await operator.restore(id)).toBe(false);
      });

      test.each(['dead', 'held', 'suppressed'] as const)(
        'a retry or release goes back to %s, until it is claimed',
        async (state: EntryState & ('dead' | 'held' | 'suppressed')) => {
          const id = await accept();
          await settle(id, { state, reason: because('because') });
          const before = await stateOf(id);
          expect(await spool.requeue(id)).toBe(true);
          expect(await operator.takeBack(id)).toBe(true);
          expect(await stateOf(id)).toEqual(before);
          expect(await claimFrom(spool, SHOP, 10, 60_000)).toEqual([]);
          expect(await operator.takeBack(id)).toBe(false);

          await spool.requeue(id);
          const [claimed] = await claimFrom(spool, SHOP, 10, 60_000);
          expect(await operator.takeBack(id)).toBe(false);
          if (claimed) await spool.settle(claimed.lease, retryLater(), { steps: [] });
          expect(await operator.takeBack(id)).toBe(false);
        },
      );
    });

    test('a claim that ended without an outcome cannot be taken back', async () => {
      for (const again of [false, true]) {
        const id = await accept();
        await settle(id, { state: 'dead', reason: because('because') });
        await spool.requeue(id);
        expect(await claimFrom(spool, SHOP, 10, -1)).toHaveLength(1);
        if (again) await spool.requeue(id);
        else await reopen();
        expect(await operator.takeBack(id)).toBe(false);
        await spool.discard(id);
        await operator.restore(id);
        expect(await operator.takeBack(id)).toBe(false);
      }
    });

    test('what was retried twice before an attempt goes back to where it was before the first', async () => {
      const id = await accept();
      await settle(id, { state: 'dead', reason: because('because') });
      await spool.requeue(id);
      await spool.requeue(id);
      expect(await operator.takeBack(id)).toBe(true);
      expect(await spool.get(id)).toMatchObject({ state: 'dead' });
      const fresh = await accept();
      await spool.requeue(fresh);
      expect(await operator.takeBack(fresh)).toBe(false);
    });

    test('the audit keeps every line, newest first, over a restart', async () => {
      const line = (n: number) => ({ who: 'ann', action: 'retry', target: `e${n}`, outcome: 'ok' });
      for (const n of [1, 2, 3, 4, 5]) await operator.audit(line(n));
      await reopen();
      const [five, four, ...rest] = await operator.auditLines({ limit: 3 });
      expect([five, four]).toMatchObject([line(5), line(4)]);
      expect(rest).toHaveLength(1);
      expect(five?.at).toBeGreaterThan(1.6e12);
      const older = await operator.auditLines({ before: rest[0]?.no ?? 0, limit: 10 });
      expect(older).toMatchObject([line(2), line(1)]);
    });

    test('lines of the audit are found by words, action and time', async () => {
      const write = (who: string, action: string, address?: string) =>
        operator.audit({
          ...{ who, action, target: 'console', outcome: 'ok' },
          ...(address !== undefined && { address }),
        });
      await write('ann', 'login', '192.0.2.7');
      await write('unknown', 'login_failed', '198.51.100.9');
      await write('terminal:ben', 'erase');
      await write('Änne', 'reload');
      const found = async (filter: AuditFilter) =>
        (await operator.auditLines({ ...filter, limit: 10 })).map(({ who }) => who);
      expect(await found({ text: '198.51' })).toEqual(['unknown']);
      expect(await found({ text: 'ANN' })).toEqual(['ann']);
      expect(await found({ text: 'äNNE' })).toEqual(['Änne']);
      expect(await found({ text: 'n\nl' })).toEqual([]);
      expect(await found({ text: 'a_n' })).toEqual([]);
      expect(await found({ actions: ['login', 'login_failed'] })).toEqual(['unknown', 'ann']);
      expect(await found({ actions: [] })).toEqual([]);
      const [newest] = await operator.auditLines({ limit: 1 });
      expect(newest).not.toHaveProperty('address');
      const { at = 0 } = newest ?? {};
      expect(await found({ from: at + 1 })).toEqual([]);
      expect(await found({ to: at + 1, text: 'ben' })).toEqual(['terminal:ben']);
    });

    test('of many lines of the audit, the oldest is found, and any page of them', async () => {
      const line = { who: 'ann', action: 'open', outcome: 'ok' };
      await operator.audit({ ...line, target: 'first' });
      // On a busy machine, more at once would wait in vain for one of the database's connections.
      for (let from = 0; from < 4100; from += 100) {
        const targets = Array.from({ length: 100 }, (_, n) => `e${from + n}`);
        await Promise.all(targets.map((target) => operator.audit({ ...line, target })));
      }
      const [found, ...rest] = await operator.auditLines({ text: 'FIRST', limit: 10 });
      expect(rest).toEqual([]);
      const older = await operator.auditLines({ limit: 5000 });
      expect(older).toHaveLength(4101);
      expect(older.at(-1)).toEqual(found);
      expect(older.map(({ no }) => no)).toEqual(
        older.map(({ no }) => no).toSorted((x, y) => y - x),
      );
      const beforeAll = { before: found?.no ?? 0, limit: 10 };
      expect(await operator.auditLines(beforeAll)).toEqual([]);
    });

    test('the timeline names the operator of a move', async () => {
      const id = await accept();
      await settle(id, { state: 'held', reason: because('because') });
      await spool.discard(id, 'ann');
      await operator.restore(id, 'ben');
      await spool.requeue(id, 'terminal:cleo');
      await operator.takeBack(id, 'ann');
      await spool.requeue(id);
      const moves = (await spool.timeline(id)).slice(-5);
      expect(moves.map(({ step, detail }) => [step, detail?.['by']])).toEqual([
        ['discarded', 'ann'],
        ['restored', 'ben'],
        ['requeued', 'terminal:cleo'],
        ['taken_back', 'ann'],
        ['requeued', undefined],
      ]);
    });
  });
}
