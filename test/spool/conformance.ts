// Longer than usual: the whole promise of a backend in one suite, so that a second one runs all of it.
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Claimed,
  type ClaimRequest,
  type ClaimSource,
  FIRST_REFUSAL_NUMBER,
  type Lease,
  type NewEntry,
  type Outcome,
  type RawForm,
  type Settlement,
  WAITS_FOR,
} from '../../src/spool/entry.ts';
import type { Reason } from '../../src/domain/reasons.ts';
import type { CountedMessage, RateLimit, RateLimits } from '../../src/spool/sender-rates.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { SHOP, OTHER_SHOP, anEntry, claimFrom, retryLater, because } from '../support/entries.ts';
import { runCount } from '../support/run-count.ts';

const LEASE = 60_000;
const HOUR = 3_600_000;

/** A backend under test. `reopen` ends the process that had it and starts another. */
export interface SpoolUnderTest {
  readonly spool: Spool;
  reopen(): Promise<Spool>;
  remove(): Promise<void>;
  /** Makes all blobs so old that whatever wrote them has ended. */
  ageBlobs?(): Promise<unknown>;
}

/** What every backend must do; `spool.ts` says it in words. */
export function describeSpool(backend: string, open: () => Promise<SpoolUnderTest>): void {
  describe(`a spool on ${backend}`, () => {
    let under: SpoolUnderTest;
    let spool: Spool;

    beforeEach(async () => {
      under = await open();
      spool = under.spool;
      await spool.recover();
    });
    afterEach(async () => {
      await under.remove();
    });

    const reopen = async () => {
      spool = await under.reopen();
      return spool.recover();
    };
    const accept = async (entry: NewEntry) => {
      const [accepted] = await spool.accept([entry]);
      if (accepted === undefined) throw new Error('no answer');
      return accepted;
    };
    const claimAll = (shop = SHOP) => claimFrom(spool, shop, 100, LEASE);
    const claimOne = async (): Promise<Claimed> => {
      const [claimed] = await claimFrom(spool, SHOP, 1, LEASE);
      if (claimed === undefined) throw new Error('nothing to claim');
      return claimed;
    };
    const claimIds = async (...from: ClaimSource[]) => {
      const [claimed = []] = await spool.claim([{ shopId: SHOP, limit: 100, from }], LEASE, 100);
      return claimed.map(({ entry }) => entry.id);
    };
    const deliver = (lease: Lease) => spool.settle(lease, { state: 'delivered' }, { steps: [] });
    const retryIn = (retryInMs: number, detach = false) => retryLater({ retryInMs, detach });
    const stateOf = async (entry: NewEntry) => (await spool.get(entry.id))?.state;

    describe('accepting', () => {
      test('an entry survives a restart with all that was given', async () => {
        const entry = anEntry({ meta: { from: 'x', nested: { list: [1, 2] } } });
        expect(await accept(entry)).toEqual({ id: entry.id, duplicate: false });
        await reopen();
        const claimed = await claimOne();
        expect(claimed.entry).toMatchObject({
          id: entry.id,
          kind: 'message',
          shopId: entry.shopId,
          channel: 'sms',
          lane: entry.lane,
          remoteId: entry.remoteId,
          receivedAt: entry.receivedAt,
          meta: entry.meta,
          attempts: 0,
        });
        expect(await bytesOf(claimed.raw)).toEqual(await bytesOf(entry.raw));
      });

      test.each([1, 1000, 64 * 1024, 64 * 1024 + 1, 5_000_000])(
        'a raw form of %i bytes comes back byte for byte, also after a restart',
        async (size) => {
          const bytes = Buffer.alloc(size, 'abcdefg\r\n');
          const raw = await write(bytes);
          expect(raw.kind).toBe(size <= 64 * 1024 ? 'inline' : 'file');
          const entry = anEntry({ raw });
          await accept(entry);
          await reopen();
          const stored = await spool.raw(entry.id);
          if (stored === undefined) throw new Error('no raw form');
          expect((await bytesOf(stored)).equals(bytes)).toBe(true);
        },
      );

      test('a duplicate resolves with the first id and stores nothing', async () => {
        const first = anEntry();
        const second = anEntry({ dedupKey: first.dedupKey });
        await accept(first);
        expect(await accept(second)).toEqual({ id: first.id, duplicate: true });
        expect(await spool.get(second.id)).toBeUndefined();
      });

      test('of equal keys in one batch one is stored', async () => {
        const entries = Array.from({ length: 10 }, () => anEntry({ dedupKey: 'same' }));
        const answers = await Promise.all(entries.map(accept));
        expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
        expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
        expect(await claimAll()).toHaveLength(1);
      });

      test('the same key in another shop or channel is another message', async () => {
        const entry = anEntry();
        await accept(entry);
        const elsewhere = anEntry({ dedupKey: entry.dedupKey, shopId: OTHER_SHOP });
        const otherwise = anEntry({ dedupKey: entry.dedupKey, channel: 'email' });
        expect(await accept(elsewhere)).toMatchObject({ duplicate: false });
        expect(await accept(otherwise)).toMatchObject({ duplicate: false });
      });

      test('a duplicate stays a duplicate after a restart and after delivery', async () => {
        const entry = anEntry();
        await accept(entry);
        await deliver((await claimOne()).lease);
        await reopen();
        const again = anEntry({ dedupKey: entry.dedupKey });
        expect(await accept(again)).toEqual({ id: entry.id, duplicate: true });
      });

      test('a duplicate stays a duplicate after a restart that came before its delivery', async () => {
        const entry = anEntry();
        await accept(entry);
        await reopen();
        const again = anEntry({ dedupKey: entry.dedupKey });
        expect(await accept(again)).toEqual({ id: entry.id, duplicate: true });
        expect(await claimAll()).toHaveLength(1);
        expect(await accept(again)).toEqual({ id: entry.id, duplicate: true });
      });

      test('entries given together are stored together, in order', async () => {
        const entries = [anEntry({ lane: 'l' }), anEntry({ shopId: OTHER_SHOP }), anEntry()];
        const answers = await spool.accept(entries);
        expect(answers.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
      });

      test('a remote id that is taken is replaced by the alternative, for good', async () => {
        const email = { channel: 'email', remoteId: '<a@b>' } as const;
        await accept(anEntry({ ...email, remoteIdIfTaken: '<a@b>#1' }));
        const second = anEntry({ ...email, remoteIdIfTaken: '<a@b>#2' });
        await accept(second);
        await reopen();
        expect((await spool.get(second.id))?.remoteId).toBe('<a@b>#2');
        expect(await spool.knownEmailIds(SHOP, ['<a@b>', '<a@b>#2', '<x@y>'])).toEqual(
          new Set(['<a@b>', '<a@b>#2']),
        );
      });

      test('which dedup keys are known is told by shop and channel, before and after filing', async () => {
        const keys = ['filed', 'fresh', 'unknown'];
        await accept(anEntry({ dedupKey: 'filed' }));
        await claimAll();
        await accept(anEntry({ dedupKey: 'fresh' }));
        const known = new Set(['filed', 'fresh']);
        expect(await spool.knownKeys(SHOP, 'sms', keys)).toEqual(known);
        expect(await spool.knownKeys(SHOP, 'web_chat', keys)).toEqual(new Set());
        expect(await spool.knownKeys(OTHER_SHOP, 'sms', keys)).toEqual(new Set());
        await reopen();
        expect(await spool.knownKeys(SHOP, 'sms', keys)).toEqual(known);
      });

      test('a mark keeps the last time that it was set to, also after a restart', async () => {
        expect(await spool.mark('a')).toBeUndefined();
        await spool.setMark('a', 1_700_000_000_123);
        await spool.setMark('b', 1);
        await spool.setMark('a', 1_600_000_000_000);
        await reopen();
        expect(await spool.mark('a')).toBe(1_600_000_000_000);
        expect(await spool.mark('b')).toBe(1);
        expect(await spool.mark('c')).toBeUndefined();
      });

      test('a mark is raised up to a number, by as many callers as there are, and never from below 0', async () => {
        const raised = await Promise.all([1, 2, 3, 4, 5].map(() => spool.raiseMark('a', 3)));
        expect(raised.filter(Boolean)).toHaveLength(3);
        expect(await spool.mark('a')).toBe(3);
        expect(await spool.raiseMark('a', 4)).toBe(true);
        await spool.setMark('a', -1);
        expect(await spool.raiseMark('a', 9)).toBe(false);
        expect(await spool.mark('a')).toBe(-1);
      });

      test('a held arrival waits for a person', async () => {
        const entry = anEntry({ hold: { code: 'postmaster' } });
        await accept(entry);
        expect(await claimAll()).toHaveLength(0);
        expect(await spool.get(entry.id)).toMatchObject({
          state: 'held',
          reason: { code: 'postmaster' },
        });
        expect(await spool.requeue(entry.id)).toBe(true);
        expect(await claimOne()).toMatchObject({ released: true });
      });
    });

    describe('lanes', () => {
      const lane = (count: number) => Array.from({ length: count }, () => anEntry({ lane: 'l' }));

      test('one entry of a lane at a time, in the order of acceptance', async () => {
        const entries = lane(3);
        for (const entry of entries) await accept(entry);
        for (const entry of entries) {
          const claimed = await claimAll();
          expect(claimed.map((c) => c.entry.id)).toEqual([entry.id]);
          expect(await claimAll()).toHaveLength(0);
          await deliver(claimed[0]?.lease ?? fail());
        }
      });

      test('lanes do not wait for one another', async () => {
        await spool.accept([anEntry(), anEntry(), anEntry()]);
        expect(await claimAll()).toHaveLength(3);
      });

      test('a lane does not wait for another that is very long', async () => {
        await spool.accept(lane(1000));
        const last = anEntry();
        await accept(last);
        const claimed = await claimFrom(spool, SHOP, 2, LEASE);
        expect(claimed.map((c) => c.entry.id)).toContain(last.id);
      });

      test('an entry that was discarded before its turn never comes', async () => {
        const [first, second, third] = lane(3);
        await spool.accept([first ?? fail(), second ?? fail(), third ?? fail()]);
        expect(await spool.discard(second?.id ?? fail())).toBe(true);
        await deliver((await claimOne()).lease);
        expect((await claimOne()).entry.id).toBe(third?.id);
      });

      test('a retry of an entry that waits for its turn changes no order', async () => {
        const [first, second] = lane(2);
        await spool.accept([first ?? fail(), second ?? fail()]);
        expect(await spool.requeue(second?.id ?? fail())).toBe(true);
        expect((await claimAll()).map((c) => c.entry.id)).toEqual([first?.id]);
      });

      test('the same lane name in another channel is another lane', async () => {
        await spool.accept([anEntry({ lane: 'l' }), anEntry({ lane: 'l', channel: 'email' })]);
        expect(await claimAll()).toHaveLength(2);
      });

      test('a head that waits for a retry holds its lane back', async () => {
        const [first, second] = lane(2);
        await spool.accept([first ?? fail(), second ?? fail()]);
        await spool.settle((await claimOne()).lease, retryIn(HOUR), { steps: [] });
        expect(await claimAll()).toHaveLength(0);
      });

      test.each(['dead', 'held', 'suppressed'] as const)(
        'a head that is %s lets its lane pass',
        async (state) => {
          const [first, second] = lane(2);
          await spool.accept([first ?? fail(), second ?? fail()]);
          await spool.settle(
            (await claimOne()).lease,
            { state, reason: because('r') },
            { steps: [] },
          );
          expect((await claimOne()).entry.id).toBe(second?.id);
        },
      );

      test('a discarded head lets its lane pass', async () => {
        const [first, second] = lane(2);
        await spool.accept([first ?? fail(), second ?? fail()]);
        expect(await spool.discard(first?.id ?? fail())).toBe(true);
        expect((await claimOne()).entry.id).toBe(second?.id);
      });

      test('a detached entry lets its lane pass and is itself tried again', async () => {
        const [first, second] = lane(2);
        await spool.accept([first ?? fail(), second ?? fail()]);
        await spool.settle((await claimOne()).lease, retryIn(0, true), { steps: [] });
        const claimed = await claimAll();
        expect(new Set(claimed.map((c) => c.entry.id))).toEqual(new Set([first?.id, second?.id]));
        expect(claimed.find((c) => c.entry.id === first?.id)?.entry.detached).toBe(true);
      });

      test('an entry that comes back waits for the one of its lane that is in flight', async () => {
        const [first, second, third] = lane(3);
        await spool.accept([first ?? fail(), second ?? fail(), third ?? fail()]);
        await spool.settle(
          (await claimOne()).lease,
          { state: 'dead', reason: because('r') },
          { steps: [] },
        );
        const inFlight = await claimOne();
        expect(await spool.requeue(first?.id ?? fail())).toBe(true);
        expect(await claimAll()).toHaveLength(0);
        await deliver(inFlight.lease);
        const next = await claimAll();
        expect(next.map((c) => c.entry.id)).toEqual([first?.id]);
        await deliver(next[0]?.lease ?? fail());
        expect((await claimOne()).entry.id).toBe(third?.id);
      });

      test('an entry that comes back goes before those that wait', async () => {
        const [first, second] = lane(2);
        await spool.accept([first ?? fail(), second ?? fail()]);
        await spool.settle(
          (await claimOne()).lease,
          { state: 'dead', reason: because('r') },
          { steps: [] },
        );
        await spool.requeue(first?.id ?? fail());
        expect((await claimAll()).map((c) => c.entry.id)).toEqual([first?.id]);
      });

      test('random traffic keeps the order of every lane', async () => {
        const entries = Array.from({ length: 200 }, (_, n) => anEntry({ lane: `l${n % 7}` }));
        await spool.accept(entries);
        const delivered: string[] = [];
        const random = generator(7);
        while (delivered.length < entries.length) {
          const claimed = await claimFrom(spool, SHOP, 1 + Math.floor(random() * 7), LEASE);
          for (const { entry, lease } of claimed) {
            if (random() < 0.3) {
              await spool.settle(lease, retryIn(0), { steps: [] });
            } else {
              delivered.push(entry.id);
              await deliver(lease);
            }
          }
        }
        for (let n = 0; n < 7; n += 1) {
          const expected = entries.filter(({ lane: l }) => l === `l${n}`).map(({ id }) => id);
          expect(delivered.filter((id) => expected.some((e) => e === id))).toEqual(expected);
        }
      });
    });

    describe('leases', () => {
      test('settling with an old generation changes nothing', async () => {
        const entry = anEntry();
        await accept(entry);
        const [stale] = await claimFrom(spool, SHOP, 1, -1);
        const fresh = await claimOne();
        expect(await deliver(stale?.lease ?? fail())).toBe(false);
        expect(await spool.saveMedia(stale?.lease ?? fail(), 'p', { id: 'm' })).toBe(false);
        expect(await stateOf(entry)).toBe('delivering');
        expect(await deliver(fresh.lease)).toBe(true);
      });

      test('an outcome counts although its lease ran out, until the entry is claimed anew', async () => {
        const entry = anEntry();
        await accept(entry);
        const [late] = await claimFrom(spool, SHOP, 1, -1);
        expect(await deliver(late?.lease ?? fail())).toBe(true);
        expect(await stateOf(entry)).toBe('delivered');
      });

      test('an outcome is true as often as it is written, and counts once', async () => {
        const [entry, next] = [anEntry({ lane: 'l' }), anEntry({ lane: 'l' })];
        await spool.accept([entry, next]);
        const first = await claimOne();
        const later = retryIn(0);
        for (let n = 0; n < 3; n += 1) {
          expect(await spool.settle(first.lease, later, { steps: [] })).toBe(true);
        }
        const again = await claimOne();
        expect(again.entry.failures).toBe(1);
        expect(await deliver(again.lease)).toBe(true);
        const following = await claimOne();
        expect(following.entry.id).toBe(next.id);
        expect(await deliver(again.lease)).toBe(true);
        expect(await spool.settle(first.lease, later, { steps: [] })).toBe(false);
        expect(await stateOf(entry)).toBe('delivered');
      });

      test('a claim says whether an earlier one ended without an outcome', async () => {
        await accept(anEntry());
        const claimFor = async (leaseMs = LEASE) => {
          const [claimed] = await claimFrom(spool, SHOP, 1, leaseMs);
          return claimed ?? fail();
        };
        const first = await claimFor(-1);
        expect(first.isUnended).toBe(false);
        const second = await claimFor(-1);
        expect(second.isUnended).toBe(true);
        await spool.settle(second.lease, retryIn(0), { steps: [] });
        expect((await claimFor()).isUnended).toBe(false);
        await reopen();
        expect((await claimFor()).isUnended).toBe(true);
      });

      test('a lease that ran out returns the entry to the queue', async () => {
        await accept(anEntry());
        await claimFrom(spool, SHOP, 1, -1);
        expect(await claimAll()).toHaveLength(1);
      });

      test('a renewed lease holds; a lost one is named', async () => {
        await spool.accept([anEntry(), anEntry()]);
        const [kept, lost] = await claimAll();
        await deliver(lost?.lease ?? fail());
        const leases = [kept?.lease ?? fail(), lost?.lease ?? fail()];
        expect(await spool.renew(leases, LEASE)).toEqual([lost?.lease]);
      });

      test('a restart returns what was in flight', async () => {
        const entry = anEntry();
        await accept(entry);
        const before = await claimOne();
        expect(await reopen()).toMatchObject({ requeued: 1 });
        expect((await claimOne()).entry.id).toBe(entry.id);
        expect(await deliver(before.lease)).toBe(false);
      });

      test('media ids are kept for the next attempt, also across a restart', async () => {
        await accept(anEntry());
        const { lease } = await claimOne();
        expect(await spool.saveMedia(lease, '0:abc', { id: 'media-1' })).toBe(true);
        const shown = { id: 'media-2', url: 'https://media.example/2' };
        expect(await spool.saveMedia(lease, '1:def', shown)).toBe(true);
        await reopen();
        expect((await claimOne()).media).toEqual(
          new Map([
            ['0:abc', { id: 'media-1' }],
            ['1:def', { id: 'media-2', url: 'https://media.example/2' }],
          ]),
        );
      });
    });

    describe('settling', () => {
      test('a reason may contain any characters', async () => {
        const entry = anEntry();
        await accept(entry);
        const { lease } = await claimOne();
        const reason = because('a\0b\ud800c');
        expect(await spool.settle(lease, { state: 'dead', reason }, { steps: [] })).toBe(true);
        const found = await spool.get(entry.id);
        expect(JSON.stringify(found?.reason)).toMatch(/"a.+b.+c"/);
      });

      test('delivered keeps what the platform answered', async () => {
        const entry = anEntry({ channel: 'web_chat' });
        await accept(entry);
        const { lease } = await claimOne();
        await spool.settle(
          lease,
          { state: 'delivered', platformMessageId: 'm1', conversationId: 'c1' },
          { steps: [{ at: 5, step: 'submitted', detail: { status: 201 } }] },
        );
        expect(await spool.get(entry.id)).toMatchObject({
          state: 'delivered',
          platformMessageId: 'm1',
          conversationId: 'c1',
        });
        expect((await spool.timeline(entry.id)).map(({ step }) => step)).toEqual([
          'accepted',
          'submitted',
        ]);
        expect(await spool.ownPlatformMessages(SHOP, ['m1', 'm2'])).toEqual(new Set(['m1']));
        expect(await spool.ownPlatformMessages(OTHER_SHOP, ['m1'])).toEqual(new Set());
      });

      test('a lease that ran out is over, unless the caller says as of when', async () => {
        const entry = anEntry();
        await accept(entry);
        const asked = { shopId: SHOP, limit: 1, from: ['due' as const] };
        expect(await spool.claim([asked], -1, 1)).toMatchObject([[{ entry: { id: entry.id } }]]);
        expect(await spool.claim([asked], LEASE, 1, Date.now() - HOUR)).toEqual([[]]);
        expect(await spool.claim([asked], LEASE, 1)).toMatchObject([[{ entry: { id: entry.id } }]]);
      });

      test.each([
        ['a retry', (lease: Lease) => spool.settle(lease, retryIn(0), { steps: [] })],
        ['a restart', () => spool.recover()],
      ])(
        'what was released while a later one of its lane was tried comes before it after %s',
        async (_name, ends) => {
          const lane = { lane: 'same' };
          const [first, second] = [anEntry({ ...lane, hold: because('held') }), anEntry(lane)];
          await accept(first);
          await accept(second);
          const claimed = await claimOne();
          expect(claimed.entry.id).toBe(second.id);
          await spool.requeue(first.id);
          await ends(claimed.lease);
          expect((await claimOne()).entry.id).toBe(first.id);
        },
      );

      test('a retry waits for its time, counts its attempt and adds up the failing', async () => {
        const entry = anEntry();
        await accept(entry);
        await spool.settle((await claimOne()).lease, retryIn(HOUR / 2), { steps: [] });
        expect(await claimAll()).toHaveLength(0);
        const after = await spool.get(entry.id);
        expect(after).toMatchObject({ attempts: 1, failingMs: 10, reason: because('no') });
        // The store's own clock decides when it is due.
        expect((after?.nextAttemptAt ?? 0) - (after?.lastAttemptAt ?? 0)).toBe(HOUR / 2);
      });

      test('an outage uses up no attempt', async () => {
        const entry = anEntry();
        await accept(entry);
        const outage = { ...retryIn(0), counts: false, failingMs: 0 };
        await spool.settle((await claimOne()).lease, outage, { steps: [] });
        expect(await spool.get(entry.id)).toMatchObject({ attempts: 0, failingMs: 0 });
      });

      test('a time that only a clock that jumped can have set is pulled in at a restart', async () => {
        const entry = anEntry();
        await accept(entry);
        const { lease } = await claimOne();
        await spool.settle(lease, retryIn(1000 * HOUR), { steps: [] });
        await reopen();
        const next = (await spool.get(entry.id))?.nextAttemptAt ?? Infinity;
        expect(next).toBeLessThanOrEqual(Date.now() + HOUR);
      });

      test('an operator can retry what is dead and discard what waits, and nothing else', async () => {
        const [a, b] = [anEntry(), anEntry()];
        await spool.accept([a, b]);
        const [first, second] = await claimAll();
        expect(await spool.discard(a.id)).toBe(false);
        await spool.settle(
          first?.lease ?? fail(),
          { state: 'dead', reason: because('refused') },
          { steps: [] },
        );
        await deliver(second?.lease ?? fail());
        expect(await spool.requeue(b.id)).toBe(false);
        expect(await spool.requeue(a.id)).toBe(true);
        expect(await spool.discard(a.id)).toBe(true);
        expect(await stateOf(a)).toBe('discarded');
      });
    });

    describe('what an entry waits for', () => {
      /** Accepts one and settles its first attempt. */
      const settled = async (outcome: Outcome, entry = anEntry()) => {
        await accept(entry);
        await settleOf(entry, outcome);
        return entry.id;
      };
      const settleOf = async (entry: NewEntry, outcome: Outcome, rest?: Partial<Settlement>) => {
        const from: ClaimSource[] = ['due', WAITS_FOR.shop, FIRST_REFUSAL_NUMBER];
        const [claimed = []] = await spool.claim([{ shopId: SHOP, limit: 100, from }], LEASE, 100);
        for (const { entry: each, lease } of claimed) {
          if (each.id !== entry.id) throw new Error('another entry was claimed');
          expect(await spool.settle(lease, outcome, { steps: [], ...rest })).toBe(true);
        }
        expect(claimed).toHaveLength(1);
      };
      const waiting = (waitsFor: number, change = {}) => retryLater({ waitsFor, ...change });

      test.each([
        ['its shop', WAITS_FOR.shop],
        ['uploads', WAITS_FOR.media],
        ['a refusal', FIRST_REFUSAL_NUMBER + 7],
      ])('what waits for %s is claimed only when that is asked for', async (_, waitsFor) => {
        const id = await settled(waiting(waitsFor));
        const others = [1, 2, 3, 10].filter((number) => number !== waitsFor);
        expect(await claimIds('due', 'untried', ...others)).toEqual([]);
        expect((await spool.get(id))?.waitsFor).toBe(waitsFor);
        expect(await claimIds(waitsFor)).toEqual([id]);
      });

      test('a restart changes nothing about what waits for its shop', async () => {
        const id = await settled(waiting(WAITS_FOR.shop));
        await reopen();
        expect(await claimIds('due', 'untried')).toEqual([]);
        expect(await claimIds(WAITS_FOR.shop)).toEqual([id]);
      });

      test('it comes with the fewest failures first, then the oldest', async () => {
        const entries = [anEntry(), anEntry(), anEntry(), anEntry()];
        const [twice, first, second, never] = entries.map(({ id }) => id);
        for (const [index, entry] of entries.entries()) {
          await accept(entry);
          await settleOf(entry, waiting(WAITS_FOR.media, { failed: index < 3 }));
        }
        const [answer = []] = await spool.claim(
          [{ shopId: SHOP, limit: 1, from: [WAITS_FOR.media] }],
          LEASE,
          1,
        );
        // It had never failed: it had been paused.
        expect(answer.map(({ entry }) => entry.id)).toEqual([never]);
        await deliver(answer[0]?.lease ?? fail());
        const [next = []] = await spool.claim(
          [{ shopId: SHOP, limit: 1, from: [WAITS_FOR.media] }],
          LEASE,
          1,
        );
        expect(next.map(({ entry }) => entry.id)).toEqual([twice]);
        const again = { steps: [] };
        await spool.settle(next[0]?.lease ?? fail(), waiting(WAITS_FOR.media), again);
        expect(await claimIds(WAITS_FOR.media)).toEqual([first, second, twice]);
        expect((await spool.get(twice ?? fail()))?.failures).toBe(2);
      });

      test('it comes not before its time, whatever it waits for', async () => {
        await settled(waiting(WAITS_FOR.shop, { retryInMs: HOUR }));
        expect(await claimIds(WAITS_FOR.shop, 'due', 'untried')).toEqual([]);
      });

      /** Accepts two and settles the first attempts of both. */
      const settledBoth = async (...outcomes: readonly [Outcome, Outcome]) => {
        const entries = [anEntry(), anEntry()] as const;
        await spool.accept(entries);
        for (const { entry, lease } of await claimAll()) {
          const outcome = entry.id === entries[0].id ? outcomes[0] : outcomes[1];
          await spool.settle(lease, outcome, { steps: [] });
        }
        return [entries[0].id, entries[1].id] as const;
      };

      test('what has never failed can be claimed apart', async () => {
        const [failed, paused] = await settledBoth(retryLater(), retryLater({ failed: false }));
        const fresh = anEntry();
        await accept(fresh);
        expect(await claimIds('untried')).toEqual([paused, fresh.id]);
        expect(await claimIds('untried')).toEqual([]);
        expect(await claimIds('due')).toEqual([failed]);
      });

      test('a source that comes first is emptied first', async () => {
        const waits = await settled(waiting(WAITS_FOR.shop));
        const due = anEntry();
        await accept(due);
        const one = async (...from: ClaimSource[]) => {
          const [claimed = []] = await spool.claim([{ shopId: SHOP, limit: 1, from }], LEASE, 1);
          return claimed.map(({ entry }) => entry.id);
        };
        expect(await one(WAITS_FOR.shop, 'due')).toEqual([waits]);
        expect(await one(WAITS_FOR.shop, 'due')).toEqual([due.id]);
      });

      test('every request gets its share; what is left over goes to those that come first', async () => {
        const own = Array.from({ length: 5 }, () => anEntry());
        const others = Array.from({ length: 5 }, () => anEntry({ shopId: OTHER_SHOP }));
        await spool.accept([...own, ...others]);
        const of = (shopId: typeof SHOP, limit: number): ClaimRequest => ({
          ...{ shopId, limit, from: ['due'] },
        });
        const claim = async (atMost: number, ...requests: ClaimRequest[]) =>
          (await spool.claim(requests, LEASE, atMost)).map((claimed) => claimed.length);
        expect(await claim(4, of(OTHER_SHOP, 3), of(SHOP, 3))).toEqual([2, 2]);
        expect(await claim(3, of(SHOP, 3), of(OTHER_SHOP, 3))).toEqual([2, 1]);
        expect(await claim(9, of(OTHER_SHOP, 1), of(SHOP, 9))).toEqual([1, 1]);
        expect(await claim(9, of(SHOP, 9), of(OTHER_SHOP, 9))).toEqual([0, 1]);
        expect(await claim(9)).toEqual([]);
      });

      test('of those that are due again so many come as were asked for, after the untried', async () => {
        const failed = Array.from({ length: 6 }, () => anEntry());
        await spool.accept(failed);
        for (const { lease } of await claimAll()) {
          await spool.settle(lease, retryLater(), { steps: [] });
        }
        const fresh = Array.from({ length: 3 }, () => anEntry());
        const others = Array.from({ length: 3 }, () => anEntry({ shopId: OTHER_SHOP }));
        await spool.accept([...fresh, ...others]);
        const request = { shopId: SHOP, limit: 50, from: ['untried'], retries: 1 } as const;
        const other = { shopId: OTHER_SHOP, limit: 50, from: ['due'] } as const;
        // The first share is 4: three untried and one again; there is much left over after that.
        const [claimed = []] = await spool.claim([request, other], LEASE, 8);
        expect(claimed.map(({ entry }) => entry.failures)).toEqual([0, 0, 0, 1]);
      });

      test('a limit is filled also from a backlog that has not been claimed from before', async () => {
        await spool.accept(Array.from({ length: 600 }, (_, n) => anEntry({ lane: `l${n % 300}` })));
        expect(await claimFrom(spool, SHOP, 1000, LEASE)).toHaveLength(300);
      });

      test('what waits for a refusal waits for its shop once that is over', async () => {
        const number = FIRST_REFUSAL_NUMBER + 7;
        const alike = await settled(waiting(number, { detach: true }));
        const other = await settled(waiting(number + 1, { detach: true }));
        expect(await spool.waitForShopInstead(OTHER_SHOP, number)).toBe(0);
        expect(await spool.waitForShopInstead(SHOP, number)).toBe(1);
        expect(await claimIds(WAITS_FOR.shop)).toEqual([alike]);
        expect(await claimIds(number + 1)).toEqual([other]);
      });

      test('what waits for its time is due soon when it is hastened, spread over that', async () => {
        const entries = Array.from({ length: 20 }, () => anEntry());
        for (const entry of entries) {
          await settled(retryLater({ retryInMs: HOUR }), entry);
        }
        await settled(waiting(WAITS_FOR.shop, { retryInMs: HOUR }));
        expect(await spool.hasten(OTHER_SHOP, 5000)).toBe(0);
        const before = Date.now();
        expect(await spool.hasten(SHOP, 5000)).toBe(20);
        const times = await Promise.all(
          entries.map(async ({ id }) => (await spool.get(id))?.nextAttemptAt ?? Infinity),
        );
        expect(Math.min(...times)).toBeGreaterThanOrEqual(before);
        expect(Math.max(...times)).toBeLessThanOrEqual(Date.now() + 5000);
        expect(new Set(times).size).toBeGreaterThan(10);
      });

      test('only what failed in its lane since a time is hastened, when that is asked', async () => {
        const soon = Date.now() - 1;
        const inAnHour = { retryInMs: HOUR };
        const inLane = await settled(retryLater(inAnHour));
        await settled(retryLater({ ...inAnHour, detach: true }));
        await settled(retryLater({ ...inAnHour, failed: false }));
        expect(await spool.hasten(SHOP, 5000, Date.now() + HOUR)).toBe(0);
        expect(await spool.hasten(SHOP, 5000, soon)).toBe(1);
        expect((await spool.get(inLane))?.nextAttemptAt).toBeLessThan(Date.now() + 6000);
      });

      test('a reason stays until there is another, also when an operator tries it again', async () => {
        const entry = anEntry();
        await settled(retryLater({ reason: because('refused') }), entry);
        await settleOf(entry, retryLater({ reason: undefined }));
        expect((await spool.get(entry.id))?.reason).toEqual(because('refused'));
        await spool.requeue(entry.id);
        expect((await spool.get(entry.id))?.reason).toEqual(because('refused'));
        await settleOf(entry, { state: 'dead', reason: because('refused again') });
        await spool.requeue(entry.id);
        expect(await spool.get(entry.id)).toMatchObject({
          ...{ state: 'queued', reason: because('refused again'), attempts: 0, failures: 0 },
          ...{ waitsFor: WAITS_FOR.time, detached: false },
        });
      });

      test('an operator’s retry waits for nothing any more', async () => {
        const id = await settled(waiting(WAITS_FOR.shop, { retryInMs: HOUR }));
        await spool.requeue(id);
        expect(await claimIds('untried')).toEqual([id]);
      });

      test('a delivered entry has a caveat, or no reason at all', async () => {
        const [plain, answerless] = await settledBoth(retryLater(), retryLater());
        const caveat = because('cannot be answered');
        for (const { entry, lease } of await claimAll()) {
          const outcome = {
            state: 'delivered',
            ...(entry.id === answerless && { caveat }),
          } as const;
          await spool.settle(lease, outcome, { steps: [] });
        }
        expect((await spool.get(plain))?.reason).toBeUndefined();
        expect(await spool.get(answerless)).toMatchObject({ state: 'delivered', reason: caveat });
      });

      describe('notes', () => {
        const notes = { posts: 3, forms: [['copies']] };

        test('come with the next claim, also after a restart', async () => {
          const entry = anEntry();
          await accept(entry);
          const first = await claimOne();
          expect(first.notes).toEqual({});
          await spool.settle(first.lease, retryLater(), { steps: [], notes });
          await reopen();
          expect((await claimOne()).notes).toEqual(notes);
        });

        test('stay when an attempt ends without any, and are replaced as a whole', async () => {
          await accept(anEntry());
          for (const [noted, expected] of [
            [notes, {}],
            [undefined, notes],
            [{ posts: 4 }, notes],
            [undefined, { posts: 4 }],
          ] as const) {
            const claimed = await claimOne();
            expect(claimed.notes).toEqual(expected);
            const settlement = { steps: [], ...(noted && { notes: noted }) };
            await spool.settle(claimed.lease, retryLater(), settlement);
          }
        });

        test('stay after an operator’s retry, which they tell', async () => {
          const entry = anEntry();
          await accept(entry);
          await settleOf(entry, retryLater(), { notes });
          await spool.requeue(entry.id);
          expect((await claimOne()).notes).toEqual({ ...notes, restarted: true });
        });

        test('tell after an operator’s moves that a claim had ended without an outcome', async () => {
          const entry = anEntry();
          await accept(entry);
          await claimFrom(spool, SHOP, 1, -1);
          await spool.requeue(entry.id);
          await reopen();
          expect((await claimOne()).notes).toEqual({ unended: true, restarted: true });
        });

        test('of an attempt whose lease was lost change nothing', async () => {
          await accept(anEntry());
          const [stale] = await claimFrom(spool, SHOP, 1, -1);
          const settlement = { steps: [], notes };
          const fresh = await claimOne();
          expect(await spool.settle(stale?.lease ?? fail(), retryLater(), settlement)).toBe(false);
          await spool.settle(fresh.lease, retryLater(), { steps: [] });
          expect((await claimOne()).notes).toEqual({});
        });
      });
    });

    describe('entries that are detached from the beginning', () => {
      test('are claimed beside the head of their lane, and after a restart', async () => {
        const [head, second] = [anEntry({ lane: 'l' }), anEntry({ lane: 'l' })];
        const detached = anEntry({ lane: 'l', detached: true });
        await spool.accept([head, detached, second]);
        await reopen();
        const claimed = await claimAll();
        expect(claimed.map(({ entry }) => [entry.id, entry.detached]).toSorted()).toEqual(
          [
            [head.id, false],
            [detached.id, true],
          ].toSorted(),
        );
        for (const { lease } of claimed) await deliver(lease);
        expect((await claimOne()).entry.id).toBe(second.id);
      });

      test('keep their lane and its conversation', async () => {
        const detached = anEntry({ lane: 'l', detached: true });
        await accept(detached);
        await spool.rememberConversation({ shopId: SHOP, channel: 'sms', lane: 'l' }, 'c1');
        const { entry } = await claimOne();
        expect(entry.lane).toBe('l');
        expect(await spool.conversation(entry)).toMatchObject({ id: 'c1' });
        expect(await spool.rememberConversation(entry, 'c1')).toBe(true);
      });

      test('are unique, and may be held', async () => {
        const first = anEntry({ detached: true });
        await accept(first);
        const again = anEntry({ detached: true, dedupKey: first.dedupKey });
        expect(await accept(again)).toEqual({ id: first.id, duplicate: true });
        await accept(anEntry({ detached: true, hold: because('a person looks first') }));
        expect((await claimAll()).map(({ entry }) => entry.id)).toEqual([first.id]);
      });
    });

    describe('follow-ups', () => {
      test('are stored with the outcome that they follow', async () => {
        await accept(anEntry());
        const followUp = anEntry({ lane: 'l', detached: true });
        const { lease } = await claimOne();
        expect(await spool.get(followUp.id)).toBeUndefined();
        const settlement = { steps: [], followUps: [followUp] };
        expect(await spool.settle(lease, { state: 'delivered' }, settlement)).toBe(true);
        await reopen();
        expect((await claimOne()).entry).toMatchObject({ id: followUp.id, lane: 'l' });
      });

      test('are not stored when the lease was lost', async () => {
        await accept(anEntry());
        const [stale] = await claimFrom(spool, SHOP, 1, -1);
        await claimOne();
        const followUp = anEntry();
        const settlement = { steps: [], followUps: [followUp] };
        expect(await spool.settle(stale?.lease ?? fail(), { state: 'delivered' }, settlement)).toBe(
          false,
        );
        expect(await spool.get(followUp.id)).toBeUndefined();
      });

      test('that are there already are stored once', async () => {
        const followUp = anEntry();
        await spool.accept([anEntry(), followUp]);
        const claimed = await claimAll();
        const lease = claimed.find(({ entry }) => entry.id !== followUp.id)?.lease ?? fail();
        const settlement = { steps: [], followUps: [{ ...followUp }] };
        expect(await spool.settle(lease, { state: 'delivered' }, settlement)).toBe(true);
        expect(await spool.list({ shopId: SHOP, limit: 10 })).toHaveLength(2);
      });
    });

    describe('repairing', () => {
      const repair = () => spool.repair({ shops: [SHOP], lanesAfter: Number.MIN_SAFE_INTEGER });

      test('finds nothing where all is well', async () => {
        await spool.accept(Array.from({ length: 20 }, (_, n) => anEntry({ lane: `l${n % 3}` })));
        await accept(anEntry({ detached: true }));
        await spool.settle((await claimOne()).lease, retryLater(), { steps: [] });
        await claimAll();
        expect(await repair()).toEqual({
          ...{ lanesUpTo: undefined, lanes: 0, due: [], released: 0 },
        });
      });

      test('names a shop with an entry whose time has come', async () => {
        await accept(anEntry());
        const { lease } = await claimOne();
        expect(await repair()).toMatchObject({ due: [] });
        await spool.settle(lease, retryLater(), { steps: [] });
        expect(await repair()).toMatchObject({ due: [SHOP] });
      });

      test('releases what waits for a refusal that is over', async () => {
        const number = FIRST_REFUSAL_NUMBER;
        for (const lane of ['1', '2', '3', '4', '5']) {
          const { id } = anEntry();
          await spool.countRefusal({
            ...{ shopId: SHOP, number, words: '422', id, waited: false },
            lane: { channel: 'email', lane },
          });
        }
        for (const each of [number, number + 1]) {
          await accept(anEntry());
          const outcome = retryLater({ waitsFor: each, detach: true });
          await spool.settle((await claimOne()).lease, outcome, { steps: [] });
        }
        expect(await repair()).toMatchObject({ released: 1 });
        expect(await repair()).toMatchObject({ released: 0 });
        expect(await claimIds(number)).toHaveLength(1);
        expect(await claimIds(WAITS_FOR.shop)).toHaveLength(1);
      });
    });

    describe('the health of shops', () => {
      test('is known as it was last told, also after a restart', async () => {
        expect(await spool.shopHealth(SHOP)).toBeUndefined();
        await spool.saveShopHealth(SHOP, { messages: { state: 'open' } });
        await spool.saveShopHealth(SHOP, { messages: { state: 'steady' } });
        await reopen();
        expect(await spool.shopHealth(SHOP)).toEqual({ messages: { state: 'steady' } });
        expect(await spool.shopHealth(OTHER_SHOP)).toBeUndefined();
      });

      test('a probe that was asked for is taken once', async () => {
        const both = [SHOP, OTHER_SHOP];
        expect(await spool.takeProbeRequests(both)).toEqual([]);
        for (const shop of [SHOP, OTHER_SHOP, SHOP]) await spool.requestProbe(shop);
        await reopen();
        expect(await spool.takeProbeRequests([OTHER_SHOP])).toEqual([OTHER_SHOP]);
        expect(await spool.takeProbeRequests(both)).toEqual([SHOP]);
        expect(await spool.takeProbeRequests(both)).toEqual([]);
      });
    });

    describe('conversations', () => {
      const lane = { shopId: SHOP, channel: 'sms', lane: 'x' } as const;

      test('a lane remembers its conversation across a restart and can forget it', async () => {
        expect(await spool.rememberConversation(lane, 'c1')).toBe(true);
        await reopen();
        expect(await spool.conversation(lane)).toMatchObject({ id: 'c1' });
        await spool.forgetConversation(lane);
        expect(await spool.conversation(lane)).toBeUndefined();
      });

      test('an entry comes with that of its lane, whose use a delivery notes', async () => {
        await spool.rememberConversation(lane, 'c1');
        const first = await spool.conversation(lane);
        await spool.accept([1, 2, 3].map(() => anEntry(lane)));
        await spool.accept([anEntry({ lane: 'y' }), anEntry({ ...lane, channel: 'email' })]);
        const claimed = await claimAll();
        const own = claimed.filter(({ entry }) => entry.lane === 'x' && entry.channel === 'sms');
        // Its use is told by the clock of who claims.
        expect(claimed.map(({ conversation }) => conversation?.id)).toEqual(
          claimed.map((each) => (own.includes(each) ? first?.id : undefined)),
        );
        const settle = async (conversationId: string, caveat?: Reason) => {
          const [next] = own.splice(0);
          const { lease } = next ?? (await claimOne());
          await spool.settle(
            lease,
            { state: 'delivered', conversationId, ...(caveat && { caveat }) },
            { steps: [] },
          );
          return spool.conversation(lane);
        };
        const usedAt = first?.usedAt ?? Infinity;
        while (Date.now() <= usedAt + 1) continue;
        expect(await settle('c2')).toEqual(first);
        expect(await settle('c1', because('no reply can reach them'))).toEqual(first);
        expect((await settle('c1'))?.usedAt).toBeGreaterThan(usedAt);
      });

      test('a conversation belongs to one lane', async () => {
        await spool.rememberConversation(lane, 'c1');
        expect(await spool.rememberConversation({ ...lane, lane: 'y' }, 'c1')).toBe(false);
        expect(await spool.rememberConversation({ ...lane, shopId: OTHER_SHOP }, 'c1')).toBe(true);
        expect(await spool.rememberConversation(lane, 'c2')).toBe(true);
      });
    });

    describe('the lane of a message', () => {
      const of = (dedupKey: string | undefined, conversationId = 'none') =>
        spool.laneOf({ shopId: SHOP, channel: 'sms', dedupKey, conversationId });

      test('is known by its dedup key, before and after it is delivered', async () => {
        await accept(anEntry({ channel: 'sms', lane: 'AC/sms/a/b', dedupKey: 'SM1' }));
        expect(await of('SM1')).toBe('AC/sms/a/b');
        await deliver((await claimOne()).lease);
        expect(await of('SM1')).toBe('AC/sms/a/b');
        expect(await of('SM2')).toBeUndefined();
        const elsewhere = { dedupKey: 'SM1', conversationId: 'none' };
        expect(await spool.laneOf({ shopId: OTHER_SHOP, channel: 'sms', ...elsewhere })).toBe(
          undefined,
        );
        expect(await spool.laneOf({ shopId: SHOP, channel: 'web_chat', ...elsewhere })).toBe(
          undefined,
        );
      });

      test('is known by the conversation that the lane writes into', async () => {
        const lane = { shopId: SHOP, channel: 'sms', lane: 'AC/whatsapp/a/b' } as const;
        await spool.rememberConversation(lane, 'c9');
        expect(await of('swept', 'c9')).toBe('AC/whatsapp/a/b');
        expect(await of(undefined, 'c9')).toBe('AC/whatsapp/a/b');
        const known = { shopId: SHOP, dedupKey: undefined, conversationId: 'c9' };
        expect(await spool.laneOf({ ...known, channel: 'web_chat' })).toBeUndefined();
      });
    });

    describe('counting the messages of a person', () => {
      const MINUTE = 60_000;
      const start = Math.floor(Date.now() / HOUR) * HOUR;
      const limits: RateLimits = {
        per10min: 10,
        perHour: 25,
        perThreadPer10min: 5,
        sameBodyPerHour: 3,
      };
      let messages = 0;
      /** What each message is told; of its own thread and body unless told otherwise. */
      const count = async (sent: readonly Partial<CountedMessage>[], allowed = limits) => {
        const told: (RateLimit | undefined)[] = [];
        for (const change of sent) {
          const message = `m${(messages += 1)}`;
          const own = { message, thread: message, body: message, person: 'ann', at: start };
          told.push(await spool.countMessage({ shopId: SHOP, ...own, ...change }, allowed));
        }
        return told;
      };
      const every = (ms: number, times: number, change: Partial<CountedMessage> = {}) =>
        Array.from({ length: times }, (_, n) => ({ ...change, at: start + n * ms }));
      const none = (times: number) => Array.from({ length: times }, () => undefined);

      test.each<[string, RateLimit, readonly Partial<CountedMessage>[], number]>([
        ['more than 10 in 10 minutes', 'per10min', every(MINUTE - 1, 12), 10],
        ['more than 25 in an hour', 'perHour', every(2 * MINUTE, 26), 25],
        ['more than 5 of a thread', 'perThreadPer10min', every(1000, 6, { thread: 't' }), 5],
        ['the same body three times', 'sameBodyPerHour', every(19 * MINUTE, 3, { body: 'b' }), 2],
        ['also across the turn of the hour', 'per10min', every(MINUTE - 1, 71).slice(55, 66), 10],
        ['more than 30 in a day', 'perDay', every(47 * MINUTE, 31), 30],
        [
          'more than 30 in a day, from noon to noon',
          'perDay',
          every(47 * MINUTE, 46).slice(15),
          30,
        ],
      ])('%s', async (_, limit, sent, passing) => {
        expect(await count(sent, { ...limits, perDay: 30 })).toEqual([
          ...none(passing),
          ...Array.from({ length: sent.length - passing }, () => limit),
        ]);
      });

      test.each<[string, readonly Partial<CountedMessage>[]]>([
        ['10 in 10 minutes', every(MINUTE - 1, 10)],
        ['one every 2.5 minutes, all hour long', every(2.5 * MINUTE, 24)],
        ['one every 49 minutes, for three days', every(49 * MINUTE, 88)],
        ['5 of a thread', every(1000, 5, { thread: 't' })],
        ['the same body three times in more than an hour', every(31 * MINUTE, 4, { body: 'b' })],
        ['the same of others', every(1, 30).map((each, n) => ({ ...each, person: `p${n}` }))],
        [
          'the same body of others',
          every(1, 30).map((each, n) => ({ ...each, person: `p${n}`, body: 'b', thread: 't' })),
        ],
      ])('%s: passes', async (_, sent) => {
        expect(await count(sent, { ...limits, perDay: 30 })).toEqual(none(sent.length));
      });

      test('without a thread or a body, the person alone counts', async () => {
        const told: (RateLimit | undefined)[] = [];
        for (let n = 0; n < 11; n += 1) {
          const message = { shopId: SHOP, person: 'bare', message: `bare${n}`, at: start + n };
          told.push(await spool.countMessage(message, limits));
        }
        expect(told).toEqual([...none(10), 'per10min']);
      });

      test('a day is swept once no window needs it, and not before', async () => {
        const daily = { ...limits, perDay: 3 };
        const DAY = 24 * HOUR;
        const of = (person: string, at: number) => [0, 1, 2].map((n) => ({ person, at: at + n }));
        const old = start - 3 * DAY;
        expect(await count(of('old', old), daily)).toEqual(none(3));
        expect(await count(of('new', start - 23 * HOUR), daily)).toEqual(none(3));
        await spool.sweep({ rawMs: HOUR, deadMs: HOUR, entriesMs: HOUR });
        expect(await count([{ person: 'old', at: old + HOUR }], daily)).toEqual([undefined]);
        expect(await count([{ person: 'new', at: start }], daily)).toEqual(['perDay']);
      });

      test('a message that is counted again counts once, and is told the same', async () => {
        const sent = every(1, 6, { thread: 't' }).map((each, n) => ({ ...each, message: `r${n}` }));
        const told = [...none(5), 'perThreadPer10min'];
        expect(await count(sent.slice(0, 5))).toEqual(none(5));
        for (let again = 0; again < 3; again += 1) expect(await count(sent)).toEqual(told);
      });

      test('a message that comes twice counts once, also at another hour, and with another limit of the day', async () => {
        const first = { ...limits, per10min: 1 };
        const own = { message: 'twice', person: 'ann', thread: 't', body: 'b', shopId: SHOP };
        const HOUR_AND = start + HOUR;
        expect(await spool.countMessage({ ...own, at: HOUR_AND - 1 }, first)).toBeUndefined();
        expect(await spool.countMessage({ ...own, at: HOUR_AND + 1 }, first)).toBeUndefined();
        const daily = { ...first, perDay: 1 };
        expect(await spool.countMessage({ ...own, at: HOUR_AND + 1 }, daily)).toBeUndefined();
        expect(await count([{ at: HOUR_AND + 2 }], first)).toEqual(['per10min']);
      });

      test('it is remembered across a restart', async () => {
        await count(every(1, 10));
        await reopen();
        expect(await count([{ at: start + 10 }])).toEqual(['per10min']);
      });

      test('shops are counted apart', async () => {
        await count(every(1, 10));
        expect(await count([{ at: start + 10, shopId: OTHER_SHOP }])).toEqual([undefined]);
      });

      test('messages are judged by their arrival, in whatever order they are counted', async () => {
        const at = (minute: number) => ({ at: start + minute * MINUTE });
        // Ten came within ten minutes; one that came before them is counted after them.
        expect(await count(every(1, 10))).toEqual(none(10));
        expect(await count([at(-5)])).toEqual([undefined]);
        expect(await count([at(1)])).toEqual(['per10min']);
        // The first of ten minutes counts no more, the one of five minutes before never did.
        expect(await count([at(10)])).toEqual(['per10min']);
        expect(await count([{ at: start + 10 * MINUTE + 8 }])).toEqual([undefined]);
      });

      test('what is older than the longest window is swept, and the rest is kept', async () => {
        const long = Array.from({ length: 10 }, () => ({ at: start - 8 * HOUR }));
        const now = Array.from({ length: 10 }, () => ({ at: Date.now() }));
        expect(await count(long)).toEqual(none(10));
        await count(now);
        await spool.sweep({ rawMs: HOUR, deadMs: HOUR, entriesMs: HOUR });
        expect(await count([{ at: start - 8 * HOUR }])).toEqual([undefined]);
        expect(await count([{ at: Date.now() }])).toEqual(['per10min']);
      });

      test('a high limit is judged: the last of thousands of one person exceeds it', async () => {
        const sent = every(1, runCount(9000), { person: 'robot', thread: 't', body: 'b' });
        const most = sent.length - 1;
        const high = {
          per10min: most,
          perHour: most,
          perThreadPer10min: most,
          sameBodyPerHour: 1e5,
        };
        const told = await Promise.all(
          sent.map((each, n) =>
            spool.countMessage(
              { shopId: SHOP, person: '', thread: '', body: '', message: `x${n}`, ...each },
              high,
            ),
          ),
        );
        expect(told.indexOf('perThreadPer10min')).toBe(most);
        expect(told.filter((limit) => limit !== undefined)).toHaveLength(1);
      });
    });

    describe('retention', () => {
      const none = { rawMs: -1000, deadMs: -1000, entriesMs: -1000 };

      test('raw bytes go first, the entry later', async () => {
        const raw = await write(Buffer.alloc(100_000));
        const entry = anEntry({ raw });
        await accept(entry);
        await deliver((await claimOne()).lease);
        expect(await spool.sweep({ ...none, entriesMs: HOUR })).toEqual({
          raws: 1,
          entries: 0,
          files: 1,
        });
        expect(await spool.raw(entry.id)).toBeUndefined();
        expect(await stateOf(entry)).toBe('delivered');
        expect(await spool.sweep(none)).toMatchObject({ entries: 1 });
        expect(await spool.get(entry.id)).toBeUndefined();
      });

      test('what is queued or held is never swept, what is dead only after its own time', async () => {
        const queued = anEntry({ lane: 'l' });
        const held = anEntry({ hold: because('h') });
        const dead = anEntry();
        await spool.accept([dead, held]);
        await spool.settle(
          (await claimOne()).lease,
          { state: 'dead', reason: because('r') },
          { steps: [] },
        );
        await accept(queued);
        await spool.sweep({ rawMs: -1000, deadMs: HOUR, entriesMs: -1000 });
        expect(await Promise.all([queued, held, dead].map(stateOf))).toEqual([
          'queued',
          'held',
          'dead',
        ]);
        expect(await spool.raw(dead.id)).toBeDefined();
      });

      test('what was swept is no duplicate any more, also if it was discarded before it was claimed', async () => {
        const entry = anEntry();
        await accept(entry);
        await spool.discard(entry.id);
        expect(await spool.sweep(none)).toMatchObject({ entries: 1 });
        const again = { ...anEntry(), dedupKey: entry.dedupKey };
        expect(await spool.accept([again])).toEqual([{ id: again.id, duplicate: false }]);
      });

      test('a file that two entries share stays until the last of them', async () => {
        const raw = await write(Buffer.alloc(100_000));
        const [a, b] = [anEntry({ raw }), anEntry({ raw, shopId: OTHER_SHOP })];
        await spool.accept([a, b]);
        await deliver((await claimOne()).lease);
        await spool.sweep(none);
        const left = await spool.raw(b.id);
        expect((await bytesOf(left ?? fail())).byteLength).toBe(100_000);
      });

      test('a file without a row is swept at start; a row without its file is an alarm', async () => {
        await write(Buffer.alloc(100_000));
        const raw = await write(Buffer.alloc(100_000));
        const entry = anEntry({ raw });
        await accept(entry);
        if (raw.kind === 'file') await spool.blobs.remove(raw.blob);
        await under.ageBlobs?.();
        expect(await reopen()).toMatchObject({ orphans: 1, missing: [entry.id] });
      });

      test('an aborted writer leaves nothing', async () => {
        const writer = spool.blobs.writer();
        await new Promise((resolve) => writer.write(Buffer.alloc(300_000), resolve));
        await writer.abort();
        expect(await reopen()).toMatchObject({ orphans: 0 });
      });
    });

    test('the list filters by shop, channel and state, newest first, up to the limit', async () => {
      const entries = Array.from({ length: 5 }, () => anEntry({ lane: 'l' }));
      await spool.accept(entries);
      await accept(anEntry({ shopId: OTHER_SHOP }));
      const filter = { shopId: SHOP, channel: 'sms', states: ['queued'], limit: 2 } as const;
      const first = await spool.list(filter);
      expect(first.map(({ id }) => id)).toEqual([entries[4]?.id, entries[3]?.id]);
      expect(await spool.list({ ...filter, limit: 9 })).toHaveLength(5);
      expect(await spool.list({ ...filter, channel: 'email' })).toEqual([]);
      expect(await spool.list({ ...filter, states: ['dead', 'held'] })).toEqual([]);
    });

    test('the oldest that waits is none that was put off to a later time without failing', async () => {
      const oldest = async () => (await spool.counts()).map(({ oldestAt }) => oldestAt);
      const later = { retryInMs: 60_000, counts: false };
      const putOff = anEntry({ receivedAt: 1000, detached: true });
      await spool.accept([putOff]);
      const { lease } = await claimOne();
      await spool.settle(lease, retryLater({ ...later, failed: false }), { steps: [] });
      // Its own time is when its wait begins to count.
      expect(await oldest()).toEqual([(await spool.get(putOff.id))?.nextAttemptAt]);
      await spool.accept([anEntry({ receivedAt: 3000 })]);
      expect(await oldest()).toEqual([3000]);
      // One that fails waits, beside its lane or not.
      await spool.accept([anEntry({ receivedAt: 2000, detached: true })]);
      for (const { lease } of await claimAll()) {
        await spool.settle(lease, retryLater(later), { steps: [] });
      }
      expect(await oldest()).toEqual([2000]);
    });

    test('the counts tell each state of each shop and the oldest of it', async () => {
      await spool.accept([
        anEntry({ receivedAt: 1000 }),
        anEntry({ receivedAt: 2000 }),
        anEntry({ shopId: OTHER_SHOP, hold: because('h'), receivedAt: 3000 }),
      ]);
      const counts = await spool.counts();
      expect(counts).toHaveLength(2);
      expect(counts).toEqual(
        expect.arrayContaining([
          { shopId: SHOP, channel: 'sms', state: 'queued', count: 2, oldestAt: 1000 },
          { shopId: OTHER_SHOP, channel: 'sms', state: 'held', count: 1, oldestAt: 3000 },
        ]),
      );
    });

    test('calls after the close are refused', async () => {
      await spool.close();
      await expect(spool.accept([anEntry()])).rejects.toMatchObject({ name: 'SpoolUnavailable' });
    });

    async function write(bytes: Buffer): Promise<RawForm> {
      const writer = spool.blobs.writer();
      await new Promise<void>((resolve, reject) => {
        writer.on('error', reject);
        for (let at = 0; at < bytes.length; at += 60_000)
          writer.write(bytes.subarray(at, at + 60_000));
        writer.end(resolve);
      });
      return writer.commit();
    }

    async function bytesOf(raw: RawForm): Promise<Buffer> {
      return raw.kind === 'inline' ? Buffer.from(raw.bytes) : buffer(spool.blobs.read(raw.blob));
    }
  });
}

function fail(): never {
  throw new Error('missing');
}

/** A small repeatable random source (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
