import { afterAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { readParts } from '../../../../src/channels/email/normalize/parts/read-parts.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

const folder = tempDir();
afterAll(() => folder.remove());

let reads = 0;
const read = (message: string) => {
  reads += 1;
  const bytes = Buffer.from(message.replaceAll(/\r?\n/g, '\r\n'), 'latin1');
  return readParts(bytes, new ScratchFolder(join(folder.path, String(reads))));
};

/** The parts as text, and what was odd. */
async function parts(message: string) {
  const { leaves, recoveries, broken } = await read(message);
  expect(broken).toBe(false);
  return {
    texts: leaves.map(({ content }) => Buffer.from(content.start).toString().trim()),
    types: leaves.map(({ contentType }) => contentType),
    recoveries,
  };
}

const HEAD = 'From: ann@customer.example\n';
const mixed = (body: string, boundary = 'b') =>
  `${HEAD}Content-Type: multipart/mixed; boundary="${boundary}"\n\n${body}`;
const part = (text: string, boundary = 'b') =>
  `--${boundary}\nContent-Type: text/plain\n\n${text}\n`;

describe('how sure the reading of a structure is', () => {
  test.each<[string, string, readonly string[], readonly string[]]>([
    ['spaces behind a boundary are allowed', mixed(`--b \t\n\none\n--b-- \n`), ['one'], []],
    ['a missing end is no fault', mixed(part('one')), ['one'], []],
    [
      'an outer boundary ends all inner multiparts',
      mixed(
        `--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: multipart/mixed; boundary=d\n\n${part('one', 'd')}${part('two')}--b--`,
      ),
      ['one', 'two'],
      ['inner_not_closed'],
    ],
    [
      'the innermost of two with the same boundary counts',
      mixed(
        `--b\nContent-Type: multipart/mixed; boundary=b\n\n${part('one')}--b--\n${part('two')}--b--`,
      ),
      ['one', 'two'],
      [],
    ],
    [
      'parts after an end before the first',
      mixed(`--b--\n${part('one')}--b--`),
      ['one'],
      ['early_end'],
    ],
    [
      'the boundary that the lines use',
      mixed(`${part('one', 'c')}${part('two', 'c')}`),
      ['one', 'two'],
      ['other_boundary'],
    ],
    [
      'in four levels',
      mixed(
        ['c', 'd', 'e'].reduceRight(
          (inside, each) =>
            `--${each}\nContent-Type: multipart/mixed; boundary=wrong-${each}\n\n${inside}`,
          part('deep', 'f'),
        ),
      ),
      [`deep`],
      ['other_boundary'],
    ],
    [
      'what a wrongly declared multipart has outside is kept',
      mixed(`Before.\n${part('one', 'c')}--c--\nAfter.\n`),
      ['Before.\r\n\r\nAfter.', 'one'],
      ['other_boundary', 'text_outside_parts'],
    ],
    [
      'ruled lines are no boundaries',
      mixed('One\n------------\nTwo\n------------\nThree\n'),
      ['One\r\n------------\r\nTwo\r\n------------\r\nThree'],
      ['no_boundary'],
    ],
    [
      'the original message is no boundary',
      mixed('-----Original Message-----\nFrom: x\n\n-----Original Message-----\n\nx'),
      ['-----Original Message-----\r\nFrom: x\r\n\r\n-----Original Message-----\r\n\r\nx'],
      ['no_boundary'],
    ],
    [
      'a declared boundary that is used is never replaced',
      mixed(`--c\nContent-Type: text/plain\n\nforged\n--c--\n${part('one')}--b--`),
      ['one'],
      [],
    ],
    [
      'text that only looks like a message with parts',
      `${HEAD}\nHello,\n\n--b\nContent-Type: text/plain\n\none\n--b--`,
      ['Hello,\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b--'],
      [],
    ],
  ])('%s', async (_, message, texts, recoveries) => {
    expect(await parts(message)).toMatchObject({ texts, recoveries });
  });

  test.each<[string, string, string]>([
    ['a known field', 'odd\nContent-Language: de', ''],
    ['a field of which nobody knows', 'odd\nNote: this', 'odd\r\nNote: this\r\n\r\n'],
    ['text', 'odd\nContent-Language: de\nmore', 'odd\r\nContent-Language: de\r\nmore\r\n\r\n'],
    ['a link', 'See\nhttps://x.example/y', 'See\r\nhttps://x.example/y\r\n\r\n'],
  ])('a line that is no field, before %s', async (_, lines, before) => {
    const { texts, recoveries } = await parts(
      mixed(`--b\nContent-Type: text/plain\n${lines}\n\nBody.\n--b--`),
    );
    expect(texts).toEqual([`${before}Body.`]);
    expect(recoveries).toEqual(before === '' ? [] : ['no_empty_line']);
  });

  test('after five levels, something is missing', async () => {
    const levels = ['c', 'd', 'e', 'f', 'g'].reduceRight(
      (inside, each) =>
        `--${each}\nContent-Type: multipart/mixed; boundary=no-${each}\n\n${inside}`,
      part('deep', 'h'),
    );
    expect((await read(mixed(levels))).broken).toBe(true);
  });

  test('bytes without any header are no text', async () => {
    const { leaves } = await read('\0\0\x01 binary');
    expect(leaves.every(({ content }) => content.size === 0)).toBe(true);
  });
});

/** Each is quadratic for a reader that compares every line with every boundary, or reads again. */
test.each<[string, string]>([
  [
    'lines like boundaries in 900 open multiparts',
    `${HEAD}${Array.from({ length: 900 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`).join('')}\n${'--x\n'.repeat(150_000)}`,
  ],
  ['lines like boundaries in a multipart without parts', mixed('--x y\n'.repeat(150_000))],
  ['different ones', mixed(Array.from({ length: 100_000 }, (_, at) => `--x${at}\n\n`).join(''))],
  ['boundaries of 60 KB', mixed(`--${'b'.repeat(60_000)} \n`.repeat(40), 'b'.repeat(60_000))],
  ['blanks behind a boundary', mixed(`--b${' '.repeat(60_000)}x\n`.repeat(40))],
  ['lines like boundaries in heads', mixed(`--b\n${'--x\n'.repeat(10_000)}\n`.repeat(20))],
  ['heads without a field', mixed(`--b\n${'odd line\n'.repeat(10_000)}\n`.repeat(20))],
  [
    'parameters on lines of their own',
    mixed(`--b\nContent-Type: a/b;\n${'x=y;\n'.repeat(10_000)}\n`.repeat(20)),
  ],
  ['folded fields', mixed(`--b\nContent-Type: a/b;\n${' x=y;\n'.repeat(16_000)}\n`.repeat(20))],
  [
    'wrong boundaries in 900 levels',
    mixed(
      Array.from(
        { length: 900 },
        (_, at) => `--x${at}\nContent-Type: multipart/mixed; boundary=y${at}\n\n`,
      ).join(''),
    ),
  ],
  ['empty lines outside of parts', mixed(`${'\n'.repeat(400_000)}--b--`)],
])('is linear in %s', async (_, message) => {
  await withinProcessorTime(8000, () => read(message));
});
