import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MessageEvent } from '../../../src/channels/chat/events.ts';
import { LineRecord } from '../../../src/widget/engine/line-record.ts';
import { aLine, lines } from './scripted-server.ts';

const seqs = (record: LineRecord): number[] => record.lines.map(({ seq = 0 }) => seq);

/** What a server answers for a page of history. */
const page = (journal: readonly MessageEvent[], before: number, limit: number) => {
  const older = journal.filter(({ seq }) => seq < before);
  const messages = older.slice(-limit);
  return { messages, more: messages.length < older.length };
};

describe('the run of lines', () => {
  test('has no gap and no duplicate when lines are repeated, lost or early', () => {
    const room = fc.array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ kind: fc.constant('line'), seq: fc.integer({ min: 1, max: 40 }) }),
        },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('repair'), seq: fc.constant(0) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('older'), seq: fc.constant(0) }) },
      ),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(room, fc.integer({ min: 1, max: 7 }), (steps, limit) => {
        const journal = lines(1, 40);
        const record = new LineRecord();
        const repair = (): void => {
          const { gap } = record;
          if (gap === undefined) return;
          const { messages, more } = page(journal, gap.before, Math.min(gap.limit, limit));
          record.fillGap(gap.before, messages, more);
        };
        for (const { kind, seq } of steps) {
          const { bottom } = record;
          if (kind === 'line') record.add(aLine(seq));
          else if (kind === 'repair') repair();
          else if (bottom !== undefined) {
            const { messages, more } = page(journal, bottom, limit);
            record.addOlder(messages, more);
          }
          const first = seqs(record)[0] ?? 0;
          expect(seqs(record)).toEqual(record.lines.map((_, index) => first + index));
        }
        const highest = Math.max(0, ...steps.map(({ seq }) => seq));
        for (let round = 0; round < 40; round += 1) repair();
        expect(record.gap).toBeUndefined();
        expect(record.top).toBe(highest);
      }),
    );
  });

  test('is the same in whichever order a page of history and a replay come', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 30 }),
        (lastSeq, limit, at) => {
          const journal = lines(1, 30);
          const replay = journal.slice(lastSeq);
          const newest = page(journal, Infinity, limit);
          const record = new LineRecord();
          for (const line of replay.slice(0, at)) record.add(line);
          record.addOlder(newest.messages, newest.more);
          for (const line of replay.slice(at)) record.add(line);
          expect(record.top).toBe(30);
          expect(seqs(record)).toEqual(lines(record.bottom ?? 0, 30).map(({ seq }) => seq));
          expect(record.isComplete).toBe(record.bottom === 1);
        },
      ),
    );
  });

  test('skips lines that no longer exist', () => {
    const journal = [...lines(1, 2), ...lines(6, 7)];
    const record = new LineRecord();
    for (const line of journal) record.add(line);
    expect(seqs(record)).toEqual([1, 2]);
    expect(record.gap).toEqual({ before: 6, limit: 3 });
    record.fillGap(6, lines(1, 2), false);
    expect(seqs(record)).toEqual([1, 2, 6, 7]);
    expect(record.gap).toBeUndefined();
  });

  test('starts again after a gap that is too large to fetch', () => {
    const record = new LineRecord();
    for (const line of [...lines(1, 5), ...lines(1_000, 1_300)]) record.add(line);
    expect(seqs(record)).toEqual(lines(1_000, 1_300).map(({ seq }) => seq));
    expect(record.isComplete).toBe(false);
    record.addOlder(lines(900, 999), true);
    expect(record.bottom).toBe(900);
  });

  test('forgets everything with its visitor', () => {
    const record = new LineRecord();
    record.add(aLine(1, { from: 'visitor' }));
    record.mark({ id: 'id-1', state: 'delivered' });
    record.clear();
    expect(record.lines).toEqual([]);
    record.add(aLine(5, { id: 'id-1', from: 'visitor' }));
    expect(record.lines[0]?.state).toBe('accepted');
  });
});

describe('the state of a line', () => {
  test.each([
    [['accepted', 'delivered'], 'delivered'],
    [['delivered', 'accepted'], 'delivered'],
    [['failed', 'accepted'], 'failed'],
    // An operator has sent it again.
    [['failed', 'delivered'], 'delivered'],
    [['delivered', 'failed'], 'delivered'],
    [['delivered', 'seen'], 'seen'],
    [['seen', 'delivered'], 'seen'],
    [[], 'accepted'],
  ] as const)('is, after %j, %s: before the line comes and after it', (states, expected) => {
    const line = aLine(1, { from: 'visitor', id: 'own' });
    for (const early of [0, 1, states.length]) {
      const record = new LineRecord();
      for (const state of states.slice(0, early)) record.mark({ id: 'own', state });
      record.add(line);
      for (const state of states.slice(early)) record.mark({ id: 'own', state });
      expect(record.lines[0]?.state).toBe(expected);
    }
  });

  test('is asked for again, unless it is final or a reply says more', () => {
    const record = new LineRecord();
    const own = (seq: number) => record.add(aLine(seq, { from: 'visitor', id: `own-${seq}` }));
    own(1);
    own(2);
    expect(record.unsettled).toEqual({ before: 3, limit: 2 });
    record.mark({ id: 'own-1', state: 'delivered' });
    expect(record.unsettled).toEqual({ before: 3, limit: 1 });
    record.mark({ id: 'own-2', state: 'delivered' });
    expect(record.unsettled).toEqual({ before: 3, limit: 1 });
    record.mark({ id: 'own-2', state: 'seen' });
    expect(record.unsettled).toBeUndefined();
    own(3);
    record.mark({ id: 'own-3', state: 'of a later version' as 'seen' });
    record.add(aLine(4));
    expect(record.unsettled).toBeUndefined();
  });

  test('of a reply is always delivered, whatever its id', () => {
    const record = new LineRecord();
    record.mark({ id: 'id-1', state: 'failed' });
    record.add(aLine(1));
    expect(record.mark({ id: 'id-1', state: 'accepted' })).toBe(false);
    expect(record.lines[0]?.state).toBe('delivered');
  });
});

describe('a text that has changed', () => {
  const update = (seq: number, rev: number, text: string) =>
    ({ seq, rev, text, format: 'TEXT' }) as const;
  const texts = (record: LineRecord): string[] => record.lines.map(({ text }) => text);

  test('replaces the text of its line, the last one last, in whatever order they come', () => {
    const record = new LineRecord();
    for (const line of lines(1, 3)) record.add(line);
    record.revise(update(2, 5, 'five'));
    record.revise(update(2, 4, 'four'));
    expect(record.lines[1]).toMatchObject({ seq: 2, text: 'five', rev: 5 });
    // It is there already, newer.
    const page = [{ ...aLine(2), text: 'three', rev: 3 }];
    record.addOlder(page, false);
    expect(texts(record)).toEqual([aLine(1).text, 'five', aLine(3).text]);
  });

  test('counts for a line that comes later, unless that has a newer one', () => {
    const record = new LineRecord();
    record.add(aLine(5));
    record.revise(update(7, 2, 'seven'));
    record.revise(update(3, 3, 'three'));
    record.revise(update(4, 4, 'four'));
    // Line 6 is missing: 7 is held.
    record.add(aLine(7));
    record.revise(update(7, 6, 'seven again'));
    record.add(aLine(6));
    record.addOlder([aLine(3), { ...aLine(4), text: 'newer', rev: 5 }], true);
    expect(texts(record)).toEqual(['three', 'newer', aLine(5).text, aLine(6).text, 'seven again']);
    record.clear();
    record.add(aLine(7));
    expect(texts(record)).toEqual([aLine(7).text]);
  });
});
