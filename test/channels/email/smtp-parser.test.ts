import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { DotScanner, SmtpParser } from '../../../src/channels/email/smtp-parser.ts';
import { withinProcessorTime } from '../../support/processor-time.ts';
import { runCount } from '../../support/run-count.ts';

interface Outcome {
  readonly content: string;
  /** What was read as commands after the message; undefined when the message has not ended. */
  readonly rest: string | undefined;
}

function scan(chunks: readonly Buffer[]): Outcome {
  const scanner = new DotScanner();
  let content = '';
  for (const [index, chunk] of chunks.entries()) {
    // Compaction works in place, and the chunks are looked at again.
    const scanned = scanner.scan(Buffer.from(chunk));
    content += scanned.content.toString('latin1');
    if (scanned.rest !== undefined) {
      const rest = Buffer.concat([scanned.rest, ...chunks.slice(index + 1)]);
      return { content, rest: rest.toString('latin1') };
    }
  }
  return { content, rest: undefined };
}

/** What a parser of the library makes of it; bytes it keeps back while it waits do not show. */
async function parse(parser: SMTPStream, chunks: readonly Buffer[]): Promise<Outcome> {
  let content = '';
  const state = { ended: false };
  let commands = '';
  parser.oncommand = (command, next) => {
    commands += `${command.toString('latin1')}\r\n`;
    next?.();
  };
  const message = parser.startDataMode();
  message.on('data', (chunk: Buffer) => (content += chunk.toString('latin1')));
  message.on('end', () => {
    state.ended = true;
    parser.continue();
  });
  for (const chunk of chunks) {
    await new Promise<void>((resolve, reject) => {
      parser.write(Buffer.from(chunk), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }
  await new Promise((resolve) => setImmediate(resolve));
  return { content, rest: state.ended ? commands : undefined };
}

const splits = (bytes: Buffer): Buffer[][] => {
  const all: Buffer[][] = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))];
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      all.push(
        [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)].filter(
          ({ length }) => length > 0,
        ),
      );
    }
  }
  return all;
};

const NEXT = 'NOOP\r\n';

describe('the end of a message', () => {
  test.each<[string, string, string]>([
    ['an empty message', '.\r\n', ''],
    ['one empty line', '\r\n.\r\n', '\r\n'],
    ['one line', 'a\r\n.\r\n', 'a\r\n'],
    ['a first line that is a stuffed dot', '..\r\n.\r\n', '.\r\n'],
    ['a first line that starts with a stuffed dot', '..a\r\n.\r\n', '.a\r\n'],
    ['a first line that starts with a dot', '.a\r\n.\r\n', '.a\r\n'],
    ['a dot and a CR that is text', '.\ra\r\n.\r\n', '.\ra\r\n'],
    ['stuffed dots', 'a\r\n..\r\n...\r\n.b\r\n.\r\n', 'a\r\n.\r\n..\r\n.b\r\n'],
    ['a stuffed end', 'a\r\n..\r\n.\r\n', 'a\r\n.\r\n'],
    ['CRs before it', 'a\r\r\n.\r\n', 'a\r\r\n'],
    ['a dot line that goes on', 'a\r\n.\r\r\n.\r\n', 'a\r\n.\r\r\n'],
    ['NUL', 'a\0\r\n.\0\r\n.\r\n', 'a\0\r\n.\0\r\n'],
  ])('%s', (_, wire, content) => {
    for (const chunks of splits(Buffer.from(wire + NEXT, 'latin1'))) {
      expect(scan(chunks)).toEqual({ content, rest: NEXT });
    }
  });

  test.each([
    'a\n.\n',
    'a\n.\r\n',
    'a\r\n.\n',
    'a\r.\r',
    'a\r.\r\n',
    'a\r\n.\r',
    'a\r\n.\r\0\n',
    'a\r\n\0.\r\n',
    'a\r\0\n.\r\n',
    'a\r\n. \r\n',
    'a\r\n..\r\n',
    '\n.\r\n',
    '.\n',
    '.\r',
    '\r.\r\n',
    '..\r\n',
  ])('is not %j', (wire) => {
    for (const chunks of splits(Buffer.from(`${wire}MAIL FROM:<evil@example.com>\r\n`, 'latin1'))) {
      expect(scan(chunks).rest).toBeUndefined();
    }
  });
});

describe("compared with smtp-server's own scan", () => {
  const ALPHABET = ['.', '\r', '\n', 'a'];
  const words = (length: number): string[] =>
    length === 0 ? [''] : words(length - 1).flatMap((word) => ALPHABET.map((byte) => word + byte));

  test('every message of up to six of the bytes that matter comes out the same', async () => {
    const wires = [1, 2, 3, 4, 5, 6].flatMap(words).map((word) => `${word}X\r\n.\r\n${NEXT}`);
    for (const wire of wires) {
      const chunks = [Buffer.from(wire)];
      const ours = await parse(new SmtpParser(), chunks);
      expect({ wire, ...ours }).toEqual({ wire, ...(await parse(new SMTPStream(), chunks)) });
    }
  });

  test('the same message split anywhere comes out the same', async () => {
    const piece = fc.constantFrom('.', '..', '\r', '\n', '\r\n', '\r\n.', '\r\n.\r\n', 'a', '\0');
    const messages = fc.tuple(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.nat(30), { maxLength: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(messages, async ([pieces, cuts]) => {
        const bytes = Buffer.from(`${pieces.join('')}\r\n.\r\n${NEXT}`);
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
        at.sort((a, b) => a - b);
        const chunks = at
          .map((start, index) => bytes.subarray(start, at[index + 1] ?? start))
          .filter(({ length }) => length > 0);
        const ours = await parse(new SmtpParser(), chunks);
        const theirs = await parse(new SMTPStream(), chunks);
        expect(ours).toEqual(theirs);
      }),
      { numRuns: runCount(2000) },
    );
  });

  test('takes a megabyte of stuffed lines in a fraction of a second', async () => {
    const scanner = new DotScanner();
    const chunk = Buffer.from('..\r\n'.repeat(16 * 1024));
    let size = 0;
    await withinProcessorTime(1000, () => {
      for (let count = 0; count < 16; count += 1)
        size += scanner.scan(Buffer.from(chunk)).content.length;
    });
    expect(size).toBe(16 * 16 * 1024 * 3);
  });
});
