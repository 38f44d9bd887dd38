import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineFeed, RevisionFeed } from '../../../src/channels/chat/line-feed.ts';
import type { JournalLine } from '../../../src/spool/chat-store.ts';

type Line = Omit<JournalLine, 'author'>;

/** A journal whose readings take their picture at once, and are answered when the test says. */
class Journal {
  readonly lines: Line[] = [];
  readonly #waiting: (() => void)[] = [];

  store(): Line {
    const seq = this.lines.length + 1;
    const line: Line = {
      ...{ seq, id: `m${seq}`, from: 'agent', text: `line ${seq}`, format: 'TEXT' },
      ...{ attachments: [], at: seq, state: 'delivered' },
    };
    this.lines.push(line);
    return line;
  }

  read(after: number, limit: number): Promise<readonly JournalLine[]> {
    const picture = this.lines.filter(({ seq }) => seq > after).slice(0, limit);
    return new Promise((resolve) => this.#waiting.push(() => resolve(picture)));
  }

  /** @returns whether a reading waited */
  answer(): boolean {
    const next = this.#waiting.shift();
    next?.();
    return next !== undefined;
  }
}

/** Lines of one step. */
const STEP = 2;

function feedOf(journal: Journal, sent = 0, hasRoom = () => true) {
  const emitted: number[] = [];
  const feed = new LineFeed(sent, {
    read: (after) => journal.read(after, STEP),
    emit: ({ seq }) => void emitted.push(seq),
    toEvent: ({ author: _, ...line }) => line,
    hasRoom,
    drained: () => Promise.resolve(),
    onError: (error) => {
      throw error;
    },
  });
  return { feed, emitted };
}

async function settle(journal: Journal): Promise<void> {
  do await nextTurn();
  while (journal.answer());
}

test('a line that is stored and announced while an empty journal is read goes out', async () => {
  const journal = new Journal();
  const { feed, emitted } = feedOf(journal);
  feed.catchUp();
  feed.offer(journal.store());
  expect(journal.answer()).toBe(true);
  await settle(journal);
  expect(emitted).toEqual([1]);
});

test('a line for which there is no room waits in the journal, and goes out when there is', async () => {
  const journal = new Journal();
  let hasRoom = false;
  const { feed, emitted } = feedOf(journal, 0, () => hasRoom);
  for (let nth = 0; nth < 5; nth += 1) feed.offer(journal.store());
  expect(emitted).toEqual([]);
  hasRoom = true;
  await settle(journal);
  expect(emitted).toEqual([1, 2, 3, 4, 5]);
});

test('a line that was announced and is gone is not looked for again and again', async () => {
  const journal = new Journal();
  const { feed, emitted } = feedOf(journal);
  const [, second] = [journal.store(), journal.store()];
  journal.lines.length = 0;
  feed.offer(second);
  expect(journal.answer()).toBe(true);
  await nextTurn();
  expect(journal.answer()).toBe(false);
  // Another gateway's poll announces it each time.
  feed.announce(2);
  expect(journal.answer()).toBe(false);
  expect(emitted).toEqual([]);
});

test('a line that another gateway stored is read, with those before it, and once', async () => {
  const journal = new Journal();
  const { feed, emitted } = feedOf(journal);
  for (let nth = 0; nth < 3; nth += 1) journal.store();
  feed.announce(2);
  await settle(journal);
  expect(emitted).toEqual([1, 2, 3]);
  feed.announce(3);
  expect(journal.answer()).toBe(false);
});

const STEPS = [
  ...['store', 'offer', 'offer the newest', 'answer', 'catch up', 'turn'],
  'announce the newest',
  // Twice as likely: a reading that ends takes some of them.
  ...['microtask', 'microtask'],
];

test('however storing, announcing and reading overlap, each line goes out once and in order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...STEPS), { maxLength: 60 }),
      fc.nat({ max: 3 }),
      async (steps, before) => {
        const journal = new Journal();
        for (let seq = 0; seq < before; seq += 1) journal.store();
        const { feed, emitted } = feedOf(journal);
        feed.catchUp();
        const unannounced: Line[] = [];
        for (const step of steps) {
          if (step === 'store') unannounced.push(journal.store());
          else if (step === 'answer') journal.answer();
          else if (step === 'catch up') feed.catchUp();
          else if (step === 'announce the newest') feed.announce(journal.lines.length);
          else if (step === 'turn') await nextTurn();
          else if (step === 'microtask') await Promise.resolve();
          else {
            const line = step === 'offer' ? unannounced.shift() : unannounced.pop();
            if (line !== undefined) feed.offer(line);
          }
        }
        for (const line of unannounced) feed.offer(line);
        await settle(journal);
        expect(emitted).toEqual(journal.lines.map(({ seq }) => seq));
      },
    ),
  ));

test('of several changes to a line, a socket gets the last text, and those to others in their order', async () => {
  const lines: JournalLine[] = [];
  const revise = (seq: number, rev: number, text: string): void => {
    const before = lines.findIndex((line) => line.seq === seq);
    if (before !== -1) lines.splice(before, 1);
    lines.push({
      ...{ seq, id: `m${seq}`, from: 'agent', text, format: 'TEXT', rev },
      ...{ attachments: [], at: seq, state: 'delivered' },
    });
  };
  const emitted: string[] = [];
  const feed = new RevisionFeed(0, {
    read: async (after) => {
      await nextTurn();
      return lines.filter(({ rev = 0 }) => rev > after).slice(0, STEP);
    },
    emit: ({ seq, rev, text }) => void emitted.push(`${seq} ${rev ?? ''} ${text}`),
    drained: () => Promise.resolve(),
    onError: (error) => {
      throw error;
    },
  });
  revise(1, 1, 'one');
  feed.announce(1);
  revise(1, 2, 'two');
  feed.announce(2);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(emitted).toEqual(['1 2 two']);
  revise(4, 3, 'three');
  revise(2, 4, 'four');
  revise(3, 5, 'five');
  feed.announce(5);
  feed.announce(3);
  for (let turn = 0; turn < 9; turn += 1) await nextTurn();
  expect(emitted.slice(1)).toEqual(['4 3 three', '2 4 four', '3 5 five']);
  // The retention has deleted it.
  feed.announce(6);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  feed.close();
  revise(1, 7, 'seven');
  feed.announce(7);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(emitted).toHaveLength(4);
});
