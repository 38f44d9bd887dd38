import { expect, test } from '@jest/globals';
import type { ActionProgress, EntryState } from '../../../src/console/contract.ts';
import {
  actionsFor,
  extendTo,
  follow,
  isEmpty,
  isSelected,
  predictEffect,
  MAX_IDS,
  NO_SELECTION,
  resultLine,
  selectAll,
  toggle,
} from '../../../src/console/page/messages/actions.ts';
import { scrollToShow, visibleRows } from '../../../src/console/page/messages/message-list.ts';
import { Refusal } from '../../../src/console/page/refusal.ts';

const LIST = ['a', 'b', 'c', 'd', 'e'];
const between = (one: string, other: string): readonly string[] => {
  const [i, j] = [LIST.indexOf(one), LIST.indexOf(other)];
  return i < 0 || j < 0 ? [] : LIST.slice(Math.min(i, j), Math.max(i, j) + 1);
};

test('one is picked and dropped, a range is added to what was picked', () => {
  const one = toggle(NO_SELECTION, 'b');
  expect(isSelected(one, 'b')).toBe(true);
  expect(isEmpty(toggle(one, 'b'))).toBe(true);
  const range = extendTo(one, 'd', between);
  expect(LIST.filter((id) => isSelected(range, id))).toEqual(['b', 'c', 'd']);
  const back = extendTo(range, 'a', between);
  expect(LIST.filter((id) => isSelected(back, id))).toEqual(['a', 'b', 'c', 'd']);
});

test('a range from what is no longer loaded is the one entry', () => {
  const range = extendTo(toggle(NO_SELECTION, 'gone'), 'd', between);
  expect(isSelected(range, 'd')).toBe(true);
  expect(isSelected(range, 'c')).toBe(false);
});

test('no more are picked than a request may name', () => {
  const many = selectAll(Array.from({ length: MAX_IDS + 5 }, (_, n) => String(n)));
  const more = toggle(many, 'another');
  expect(isSelected(more, 'another')).toBe(false);
});

test('picking one of all that match is picking that one', () => {
  const one = toggle({ kind: 'all' }, 'c');
  expect(LIST.filter((id) => isSelected(one, id))).toEqual(['c']);
});

test.each<[readonly EntryState[], readonly string[]]>([
  [['dead'], ['retry', 'discard']],
  [['held'], ['release', 'discard']],
  [
    ['dead', 'discarded'],
    ['retry', 'discard', 'restore'],
  ],
  [['delivered', 'delivering'], []],
  [[], ['retry', 'release', 'discard', 'restore']],
])('what can be done with %j', (states, actions) => {
  expect(actionsFor(new Set(states))).toEqual(actions);
});

test('those whose state does not allow it are told before', () => {
  const states = new Map<EntryState, number>([
    ['dead', 3],
    ['delivered', 1],
    ['held', 2],
  ]);
  expect(predictEffect('retry', states)).toEqual({
    affected: 3,
    notes: ['1 message is delivered', '2 messages are held'],
  });
});

const PROGRESS: ActionProgress = {
  id: 'x',
  action: 'retry',
  total: 10,
  done: 0,
  changed: 0,
  refused: [],
  finished: false,
  canUndo: false,
  undone: false,
};

test.each<[Partial<ActionProgress>, string]>([
  [{ changed: 10 }, '10 messages queued for a retry.'],
  [{ changed: 1, action: 'discard' }, '1 message discarded.'],
  [
    { changed: 8, refused: [{ why: 'it is delivered', count: 2 }] },
    '8 messages queued for a retry; 2 messages unchanged.',
  ],
  [{ refused: [{ why: 'x', count: 1 }] }, 'No messages queued for a retry; 1 message unchanged.'],
  [{ changed: 3, action: 'discard', undone: true }, '3 messages restored.'],
])('%j came to %j', (change, line) => {
  expect(resultLine({ ...PROGRESS, ...change })).toBe(line);
});

test('an action is followed by the stream, and by asking when the stream is silent', async () => {
  const told: number[] = [];
  let listener: (progress: ActionProgress) => void = () => undefined;
  let asked = 0;
  const end = await follow(
    PROGRESS,
    {
      action: () => {
        asked += 1;
        if (asked === 1) return Promise.reject(new Error('for once'));
        return Promise.resolve({ ...PROGRESS, done: 10, changed: 10, finished: true });
      },
      onAction: (take) => {
        listener = take;
        queueMicrotask(() => {
          listener({ ...PROGRESS, done: 4 });
          listener({ ...PROGRESS, done: 2 });
          listener({ ...PROGRESS, id: 'another', done: 9 });
          listener({ ...PROGRESS, done: 10, finished: true, undone: true });
        });
        return () => undefined;
      },
      pollEveryMs: 5,
    },
    ({ done }) => told.push(done),
  );
  expect(end.finished).toBe(true);
  expect(told).toEqual([0, 4, 10]);
  expect(asked).toBe(2);
});

test('an action of which nothing more is heard fails', async () => {
  const parts = {
    action: () => Promise.reject(new Error('gone')),
    onAction: () => () => undefined,
    pollEveryMs: 1,
  };
  await expect(follow(PROGRESS, parts, () => undefined)).rejects.toThrow('gone');
});

test.each([
  [0, 800, 1_000_000, 0, 28],
  [46_000, 800, 1_000_000, 992, 1026],
  [0, 800, 3, 0, 3],
  [10_000, 800, 3, 2, 3],
])('scrolled by %i, rows %#', (scrollTop, viewHeight, total, first, end) => {
  const shown = visibleRows(scrollTop, viewHeight, 46, total);
  expect(shown.first).toBe(first);
  expect(shown.end).toBeGreaterThanOrEqual(Math.min(end, total) - 2);
  expect(shown.end).toBeLessThanOrEqual(Math.min(end, total));
});

test('a row that is seen is not scrolled to', () => {
  expect(scrollToShow(5, 100, 800, 46)).toBe(100);
  expect(scrollToShow(0, 100, 800, 46)).toBe(0);
  expect(scrollToShow(40, 100, 800, 46)).toBe(41 * 46 - 800);
});

const progress = (done: number, finished = false): ActionProgress => ({
  ...{ id: 'a', action: 'retry', total: 3, done, changed: done, refused: [] },
  ...{ finished, canUndo: finished, undone: false },
});

/** Answers what the gateway would, one after the other, and what was told on the way. */
async function followed(answers: readonly (ActionProgress | Error)[]) {
  const left = [...answers];
  const told: number[] = [];
  const parts = {
    action: () => {
      const next = left.shift() ?? new Error('asked too often');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    onAction: () => () => undefined,
    pollEveryMs: 1,
  };
  const end = await follow(progress(0), parts, ({ done }) => told.push(done));
  return { end, told };
}

test('goes on over an answer that was overtaken', async () => {
  const { end, told } = await followed([progress(2), progress(1), progress(3, true)]);
  expect(told).toEqual([0, 2, 3]);
  expect(end.finished).toBe(true);
});

test('outlives a gateway that is silent, and a session that has ended', async () => {
  const silent = new Refusal('unreachable', 'The gateway does not respond.');
  const signedOut = new Refusal('signed_out', 'Sign in');
  const { told } = await followed([
    ...[silent, silent, silent, signedOut, signedOut, signedOut, silent],
    progress(3, true),
  ]);
  expect(told).toEqual([0, 3]);
});

test('ends at once when nobody knows of it any more', async () => {
  const gone = new Refusal('not_found', 'Action not found');
  await expect(followed([gone, progress(3, true)])).rejects.toThrow(gone);
});

test('ends when the gateway fails three times in a row', async () => {
  const broken = new Refusal('internal', 'no');
  await expect(
    followed([broken, broken, progress(1), broken, broken, broken, progress(3, true)]),
  ).rejects.toThrow(broken);
});
