import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineEnds } from '../../src/cli/ingest/incoming.ts';
import type {
  Hints,
  MessagePosition,
  MessageReceiver,
} from '../../src/cli/ingest/message-position.ts';
import { readLines } from '../../src/cli/ingest/read-export.ts';
import { readMbox } from '../../src/cli/ingest/read-mbox.ts';
import { fromLine, MboxQuote } from '../../src/cli/mbox-lines.ts';
import { longSpan, moment, shortSpan } from '../../src/cli/time-argument.ts';
import { timelineParts } from '../../src/spool/timeline.ts';
import { runCount } from '../support/run-count.ts';

/** Cut where it hurts. */
function* chunks(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function* later(parts: Iterable<Buffer>): AsyncGenerator<Buffer> {
  for (const part of parts) yield await Promise.resolve(part);
}

interface Read {
  readonly position: MessagePosition;
  readonly hints: Hints;
  text: string;
}

async function readAll(bytes: Buffer, sizes: readonly number[]): Promise<Read[]> {
  const all: Read[] = [];
  const receiver: MessageReceiver = {
    begin: (position, hints) => void all.push({ position, hints, text: '' }),
    write: (part) => {
      const last = all.at(-1);
      if (last !== undefined) last.text += part.toString('latin1');
      return undefined;
    },
    end: () => Promise.resolve(),
    fail: () => undefined,
    advance: () => undefined,
  };
  await readMbox('box', later(chunks(bytes, sizes)), receiver);
  return all;
}

async function quote(text: string, sizes: readonly number[]): Promise<string> {
  const stream = new MboxQuote();
  for (const part of chunks(Buffer.from(text, 'latin1'), sizes)) stream.write(part);
  stream.end();
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('latin1');
}

/** Lines as they are mistaken: empty, `From `, quoted, long, with all kinds of ends. */
const aLine = fc.oneof(
  fc.constantFrom(
    '',
    'From ',
    'From ann@b.c Sat Nov 21 10:00:00 2026',
    '>From x',
    '>>From y',
    '> a',
  ),
  fc.string({ maxLength: 20, unit: fc.constantFrom('a', 'F', '>', ' ', 'r', 'o', 'm', '\u00e4') }),
  fc.constant('x'.repeat(1500)),
);
const aMessage = fc
  .array(aLine, { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));
const sizes = fc.array(fc.integer({ min: 1, max: 1100 }), { minLength: 1, maxLength: 5 });

test('what is written as mbox is read as it was, however it is cut', async () => {
  const box = fc.array(aMessage, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(box, sizes, sizes, async (messages, writing, reading) => {
      let text = '';
      const offsets: number[] = [];
      for (const message of messages) {
        offsets.push(Buffer.byteLength(text, 'latin1'));
        text +=
          fromLine('ann@customer.example', Date.UTC(2026, 10, 1, 9, 5)) +
          (await quote(message, writing));
      }
      const read = await readAll(Buffer.from(text, 'latin1'), reading);
      expect(read.map((each) => each.text)).toEqual(messages);
      expect(read.map(({ position }) => position.offset)).toEqual(offsets);
      expect(read[0]?.hints).toEqual({
        sender: 'ann@customer.example',
        receivedAt: Date.UTC(2026, 10, 1, 9, 5),
      });
    }),
    { numRuns: runCount(300) },
  );
});

test('CRLF is LF in an mbox, and CRLF again afterwards', async () => {
  expect(await quote('a: b\r\n\r\nFrom me\r\n', [3])).toBe('a: b\n\n>From me\n\n');
  expect(await quote('no end', [2])).toBe('no end\n\n');
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', '\r', '\n', '\r\n')), sizes, (parts, cut) => {
      const bytes = Buffer.from(parts.join(''));
      const lineEnds = new LineEnds();
      const made = Buffer.concat(
        [...chunks(bytes, cut)].map((part) => Buffer.from(lineEnds.convert(part))),
      );
      expect(made.toString()).toBe(bytes.toString().replace(/(?<!\r)\n/g, '\r\n'));
    }),
  );
});

test.each([
  [
    'From ann@b.c Sat Nov 21 10:00:00 2026',
    { sender: 'ann@b.c', receivedAt: Date.UTC(2026, 10, 21, 10) },
  ],
  [
    'From ann@b.c Sat Nov 21 10:00:00 +0200 2026',
    { sender: 'ann@b.c', receivedAt: Date.UTC(2026, 10, 21, 8) },
  ],
  [
    'From 1234@xxx Sat Nov 21 10:00:00 +0000 2026',
    { sender: '1234@xxx', receivedAt: Date.UTC(2026, 10, 21, 10) },
  ],
  ['From - Sat Nov 21 10:00:00 2026', { sender: '', receivedAt: Date.UTC(2026, 10, 21, 10) }],
])('%s', async (line, hints) => {
  const [read] = await readAll(Buffer.from(`${line}\na: b\n\n`), [5]);
  expect(read?.hints).toEqual(hints);
});

test('a line with From and no time is no beginning, nor is one within a paragraph', async () => {
  const box =
    'From a@b.c Sat Nov 21 10:00:00 2026\na: b\n\nhello\nFrom a@b.c Sat Nov 21 10:00:00 2026\n\nFrom here on\n\n';
  const read = await readAll(Buffer.from(box), [7]);
  expect(read.map(({ text }) => text)).toEqual([
    'a: b\n\nhello\nFrom a@b.c Sat Nov 21 10:00:00 2026\n\nFrom here on\n',
  ]);
});

test('lines of a file, with their places; one that is too long is told without its text', async () => {
  const lines: unknown[] = [];
  const bytes = Buffer.from('one\n\n12345678901\nlast');
  for await (const line of readLines(later(chunks(bytes, [4, 1])), 10)) lines.push(line);
  expect(lines).toEqual([
    { offset: 0, text: 'one' },
    { offset: 4, text: '' },
    { offset: 5 },
    { offset: 17, text: 'last' },
  ]);
});

describe('times', () => {
  const now = Date.UTC(2026, 10, 22, 12);
  test.each([
    ['2h', Date.UTC(2026, 10, 22, 10)],
    ['7d', Date.UTC(2026, 10, 15, 12)],
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21T10:00', Date.UTC(2026, 10, 21, 10)],
    ['2026-11-21 10:00:30', Date.UTC(2026, 10, 21, 10, 0, 30)],
    ['2026-11-21T10:00+02:00', Date.UTC(2026, 10, 21, 8)],
  ])('%s', (text, at) => expect(moment(text)(now)).toBe(at));

  test.each([
    '',
    'yesterday',
    '2h30m',
    '2026-13-01',
    '2026-02-30',
    '2026-02-30T10:00Z',
    '21.11.2026',
  ])('%j is none', (text) => {
    expect(() => moment(text)).toThrow('Expected a duration');
  });

  test('spans for people', () => {
    expect([0, 999, 61_000, 7_200_000, 200_000_000].map(shortSpan)).toEqual([
      '0s',
      '0s',
      '1m',
      '2h',
      '2d',
    ]);
    expect([12, 1250, 2000, 190_000, 7_500_000, 3_600_000, 100 * 3_600_000].map(longSpan)).toEqual([
      '12 ms',
      '1.25 s',
      '2 s',
      '3 min 10 s',
      '2 h 5 min',
      '1 h',
      '4 d 4 h',
    ]);
  });
});

test('attempts are the steps up to what they came to; an operator stands alone', () => {
  const steps = ['accepted', 'normalized', 'refused', 'dead', 'discarded', 'normalized'].map(
    (step, at) => ({ at, step }),
  );
  expect(timelineParts(steps)).toMatchObject([
    { kind: 'step', step: { step: 'accepted' } },
    { kind: 'attempt', no: 1, steps: [{ at: 1 }, { at: 2 }, { at: 3 }], outcome: { step: 'dead' } },
    { kind: 'step', step: { step: 'discarded' } },
    { kind: 'attempt', no: 2, steps: [{ at: 5 }] },
  ]);
});
