import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  readEncoded,
  withByteSource,
} from '../../../../src/channels/email/normalize/parts/part-content.ts';
import { readFileParts } from '../../../../src/channels/email/normalize/parts/read-file-parts.ts';
import {
  type Leaf,
  type Part,
  readParts,
} from '../../../../src/channels/email/normalize/parts/read-parts.ts';
import { Base64Extractor } from '../../../../src/channels/email/normalize/parts/base64-extractor.ts';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { ends } from '../../../support/ends.ts';
import { runCount } from '../../../support/run-count.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const BYTES = randomBytes(400_000);

/** Base64 in lines, as mail has it. */
function lines(bytes: Buffer, length = 76, end = '\r\n'): string {
  const text = bytes.toString('base64');
  return (text.match(new RegExp(`.{1,${length}}`, 'g')) ?? []).map((line) => line + end).join('');
}

const HEAD = 'From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n';
const TEXT = '--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n';
const END = '--b--\r\n';
const fileHead = (type = 'application/octet-stream', encoding = 'base64') =>
  `--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
const withFile = (body: string, type?: string, encoding?: string) =>
  HEAD + TEXT + fileHead(type, encoding) + body + END;
/** Not a multiple of what a line has, so that it ends in a short line and padding. */
const PLAIN = lines(BYTES.subarray(0, 399_998));

const MESSAGES: Record<string, string> = {
  'one attachment': withFile(PLAIN),
  'line ends of one byte': withFile(PLAIN).replaceAll('\r\n', '\n'),
  'short lines': withFile(lines(BYTES, 60)),
  'long lines': withFile(lines(BYTES, 996)),
  'lines of no multiple of four': withFile(lines(BYTES, 75)),
  'lines all of one length': withFile(lines(BYTES.subarray(0, 57 * 5000))),
  'no attachment part at all, a body': `From: a@b.example\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n${PLAIN}`,
  'two attachments': `${HEAD}${TEXT}${fileHead()}${PLAIN}${fileHead('image/png')}${PLAIN}${END}`,
  'the same twice in one part': withFile(`${lines(BYTES.subarray(0, 57 * 4000))}\r\n${PLAIN}`),
  'something before it, aligned': withFile(`QUJD\r\n\r\n${PLAIN}`),
  'something before it, not aligned': withFile(`QUI\r\n\r\n${PLAIN}`),
  'padding before it': withFile(`QQ==\r\n\r\n${PLAIN}`),
  'an empty line before it': withFile(`\r\n${PLAIN}`),
  'no base64 in the middle': withFile(
    `${PLAIN.slice(0, 78 * 3000 + 7)}!${PLAIN.slice(78 * 3000 + 8)}`,
  ),
  'the alphabet of URLs in the middle': withFile(
    `${PLAIN.slice(0, 78 * 3000 + 7)}_-${PLAIN.slice(78 * 3000 + 9)}`,
  ),
  'a boundary in the middle': withFile(
    `${PLAIN.slice(0, 78 * 3000)}--b\r\nContent-Type: text/plain\r\n\r\nnext\r\n`,
  ),
  'a line feed that is missing': withFile(
    `${PLAIN.slice(0, 78 * 3000 + 77)}${PLAIN.slice(78 * 3000 + 78)}`,
  ),
  'it breaks off': `${HEAD}${TEXT}${fileHead()}${PLAIN.slice(0, 78 * 3000)}`,
  'it breaks off in a line': `${HEAD}${TEXT}${fileHead()}${PLAIN.slice(0, 78 * 3000 + 20)}`,
  'in a text that is not encoded': withFile(PLAIN, 'text/plain', '7bit'),
  'in quoted-printable': withFile(PLAIN, 'application/x', 'quoted-printable'),
  'in an enclosed message': withFile(withFile(PLAIN), 'message/rfc822', '7bit'),
  'an enclosed message that is encoded': withFile(
    lines(Buffer.from(`Subject: x\r\n\r\n${'a'.repeat(300_000)}`)),
    'message/rfc822',
  ),
  'a body of text': withFile(lines(Buffer.from('Hello, wörld. '.repeat(20_000))), 'text/plain'),
  'a body of text that is too long': withFile(
    lines(Buffer.from('Hello, wörld. '.repeat(100_000))),
    'text/html; charset=utf-8',
  ),
  'a calendar': withFile(lines(Buffer.from('BEGIN:VCALENDAR\r\n'.repeat(20_000))), 'text/calendar'),
  'after the last boundary': `${HEAD}${TEXT}${END}\r\n${PLAIN}`,
  'before the first boundary': `${HEAD}${PLAIN}\r\n${TEXT}${END}`,
  'another boundary than declared': withFile(PLAIN).replace('boundary=b', 'boundary=other'),
  'no boundary, and the file is all there is': `${HEAD}${PLAIN}`,
  'spaces after the boundaries': withFile(PLAIN).replaceAll(/^--b.*(?=\r)/gm, '$& \t'),
  'an outer boundary while the inner multipart is open': `${HEAD}--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${TEXT.replace('--b', '--c')}--c${fileHead().slice(3)}${PLAIN}${fileHead('image/png')}${PLAIN}${END}`,
  'no empty line after the head': withFile(PLAIN).replace('text/plain\r\n', 'text/plain'),
  'an unknown encoding': withFile(PLAIN, 'text/plain', 'x-base65'),
  'lines that end in CR': withFile(lines(BYTES.subarray(0, 57 * 4000))).replaceAll('\r\n', '\r'),
  'text only before the first part': `${HEAD}See the file.\r\n${fileHead()}${PLAIN}${END}`,
};

interface Seen extends Omit<Leaf, 'kind' | 'content' | 'parameters'> {
  readonly size: number;
  readonly start: string;
  readonly content: string;
}

async function seen(leaf: Leaf): Promise<Seen> {
  const { content, index, contentType, disposition, fileName, contentId, sha256 } = leaf;
  // What is kept of a file's start is more or less; of a text it is what is read.
  const start = contentType.startsWith('text/') ? content.start : content.start.subarray(0, 16_384);
  return {
    ...{ index, contentType, disposition, fileName, contentId, sha256 },
    size: content.size,
    start: digest(start),
    content: await digestOf(leaf),
  };
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function digestOf({ content }: Leaf): Promise<string> {
  const hash = createHash('sha256');
  await withByteSource(content, async (source) => {
    for (let at = 0; at < content.size;) {
      // Odd sizes, so that no read is of whole lines.
      const bytes = await source.read(at, 9973);
      hash.update(bytes);
      at += bytes.length;
    }
  });
  return hash.digest('hex');
}

function shape(part: Part | undefined): unknown {
  return part?.kind === 'multipart' ? part.children.map(shape) : part?.index;
}

function setting(message: string | Buffer) {
  const dir = tempDir();
  ends(() => dir.remove());
  const path = join(dir.path, 'message.eml');
  const bytes = Buffer.from(message);
  writeFileSync(path, bytes);
  const scratch = () => new ScratchFolder(join(dir.path, 'scratch'));
  return { path, bytes, scratch };
}

function inChunks(bytes: Buffer): AsyncIterable<Buffer> {
  const count = Math.ceil(bytes.length / 65_536);
  return Readable.from(
    Array.from({ length: count }, (_, n) => bytes.subarray(n * 65_536, (n + 1) * 65_536)),
  );
}

describe('a message in a file comes to the same as one that the parser sees whole', () => {
  test.each(Object.entries(MESSAGES))('%s', async (_, message) => {
    const { path, bytes, scratch } = setting(message);
    const observed: Uint8Array[] = [];
    const source = {
      path,
      observe: (chunk: Uint8Array) => void observed.push(chunk),
      maxBufferBytes: 1e9,
    };
    const found = await readFileParts(source, scratch());
    const expected = await readParts(() => inChunks(bytes), scratch());
    expect(await Promise.all(found.leaves.map(seen))).toEqual(
      await Promise.all(expected.leaves.map(seen)),
    );
    expect(shape(found.root)).toEqual(shape(expected.root));
    expect(found.broken).toBe(expected.broken);
    expect(found.recoveries).toEqual(expected.recoveries);
    expect(Buffer.concat(observed).equals(bytes)).toBe(true);
  });
});

test.each([
  ['one attachment', 'one attachment', [57 * 7017]],
  ['two', 'two attachments', [57 * 7017, 57 * 7017]],
  ['line ends of one byte', 'line ends of one byte', [57 * 7017]],
])('a large attachment stays in the message: %s', async (_, name, decoded) => {
  const { path, scratch } = setting(MESSAGES[name] ?? '');
  const { leaves } = await readFileParts(
    { path, observe: () => undefined, maxBufferBytes: 1e9 },
    scratch(),
  );
  const runs = leaves.flatMap(({ content: { content } }) =>
    content.kind === 'encoded' ? [content] : [],
  );
  expect(runs.map(({ run }) => run.lines * 57)).toEqual(decoded);
  for (const run of runs) {
    const chunks: Buffer[] = [];
    for await (const chunk of readEncoded(run)) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(BYTES.subarray(0, 399_998))).toBe(true);
  }
});

test('what passes and what is left out is the message, however it is cut', () => {
  const piece = fc.oneof(
    fc.constantFrom('\r\n', '\n', '\r', '\r\n\r\n', '\n\n', '--b\r\n', 'a', '=', 'Q: b\r\n'),
    fc
      .tuple(
        fc.integer({ min: 1000, max: 3000 }),
        fc.constantFrom(40, 60, 72, 76, 77),
        fc.constantFrom('\r\n', '\n'),
      )
      .map(([count, length, end]) => lines(BYTES.subarray(0, count * 57), length, end)),
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), cuts, (pieces, sizes) => {
      const message = Buffer.from(pieces.join(''));
      const extractor = new Base64Extractor();
      const passed: Buffer[] = [];
      for (let at = 0, cut = 0; at < message.length; cut += 1) {
        const size = sizes[cut % sizes.length] ?? 1;
        passed.push(...extractor.push(message.subarray(at, at + size)));
        at += size;
      }
      passed.push(...extractor.end());
      let whole = Buffer.concat(passed);
      for (const { run, keptBytes, marker, hash } of extractor.runs) {
        const bytes = message.subarray(
          run.offset,
          run.offset + run.lines * (run.lineLength + run.lineEnd),
        );
        const decoded = Buffer.from(bytes.toString('latin1'), 'base64');
        expect(decoded).toHaveLength((run.lines * run.lineLength * 3) / 4);
        expect(hash.copy().digest('hex')).toBe(digest(decoded));
        const line = Buffer.from(`${marker.toString('base64')}\r\n`);
        const at = whole.indexOf(line);
        const keptLines = ((keptBytes / 3) * 4) / run.lineLength;
        const kept = keptLines * (run.lineLength + run.lineEnd);
        whole = Buffer.concat([
          whole.subarray(0, at),
          bytes.subarray(kept),
          whole.subarray(at + line.length),
        ]);
      }
      expect(whole.equals(message)).toBe(true);
    }),
    { numRuns: runCount(60) },
  );
});
