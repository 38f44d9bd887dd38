import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { QuotedPrintableDecoder } from '../../../../src/channels/email/normalize/parts/quoted-printable.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { runCount } from '../../../support/run-count.ts';

async function decoded(chunks: readonly Buffer[]): Promise<Buffer> {
  const decoder = new QuotedPrintableDecoder();
  for (const chunk of chunks) decoder.write(chunk);
  decoder.end();
  return Buffer.concat((await decoder.toArray()) as Buffer[]);
}

test.each([
  ['gr=C3=BCn', 'grün'],
  ['lower case =c3=bc', 'lower case ü'],
  ['soft =\r\nbreak', 'soft break'],
  ['soft =  \t\r\nbreak', 'soft break'],
  ['blanks \t \r\nat the end  ', 'blanks\r\nat the end'],
  ['kept =20\r\n', 'kept  \r\n'],
  ['no escape: =, =z, =1, 1+1=2', 'no escape: =, =z, =1, 1+1=2'],
  ['==3D=', '=='],
  ['line feeds =\nonly \nhere', 'line feeds only\nhere'],
  ['', ''],
])('RFC 2045 §6.7: %j', async (text, expected) => {
  expect((await decoded([Buffer.from(text)])).toString()).toBe(expected);
});

test('the same in whatever pieces it arrives', async () => {
  const piece = fc.constantFrom('=', '=3', '=3D', ' ', '\t', '\r', '\n', '\r\n', 'a', '\xff');
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), sizes, async (pieces, lengths) => {
      const bytes = Buffer.from(pieces.join(''), 'latin1');
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += chunks.at(-1)?.length ?? 1) {
        chunks.push(bytes.subarray(at, at + (lengths[chunks.length % lengths.length] ?? 1)));
      }
      expect(await decoded(chunks)).toEqual(await decoded([bytes]));
    }),
    { numRuns: runCount(500) },
  );
});

test.each(['=', ' ', '=\t', '\r', '= '])('is linear in many of %j', async (piece) => {
  const bytes = Buffer.from(`${piece.repeat(2_000_000)}x`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536),
  );
  const found = await withinProcessorTime(3000, () => decoded(chunks));
  expect(found.length).toBeGreaterThan(0);
});
