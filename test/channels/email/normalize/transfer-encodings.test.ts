import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  createDecoder,
  DecoderStream,
} from '../../../../src/channels/email/normalize/parts/transfer-encodings.ts';
import type { Encoding } from '../../../../src/channels/email/normalize/parts/part-head.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { runCount } from '../../../support/run-count.ts';

const ENCODINGS: readonly Encoding[] = ['quoted-printable', 'base64', 'identity'];

function decoded(chunks: readonly Buffer[], encoding: Encoding = 'quoted-printable'): Buffer {
  const decoder = createDecoder(encoding);
  const found = chunks.map((chunk) => decoder.decode(chunk));
  return Buffer.concat([...found, decoder.end()]);
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
])('RFC 2045 §6.7: %j', (text, expected) => {
  expect(decoded([Buffer.from(text)]).toString()).toBe(expected);
});

test.each([
  ['QUJD', 'ABC'],
  ['QU JD\r\nRE', 'ABCD'],
  ['QQ==Qg==\r\nQw==', 'ABC'],
  ['Q\xff\u00c4UJD!', 'ABC'],
  ['', ''],
])('RFC 2045 §6.8: %j', (text, expected) => {
  expect(decoded([Buffer.from(text, 'latin1')], 'base64').toString()).toBe(expected);
});

/** The bytes in pieces of these lengths, again and again. */
function inPieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(bytes.subarray(at, at + (lengths[pieces.length % lengths.length] ?? 1)));
  }
  return pieces;
}

test.each(ENCODINGS)('%s: the same in whatever pieces it arrives', (encoding) => {
  const piece = fc.constantFrom('=', '=3', '=3D', ' ', '\t', '\r', '\n', '\r\n', 'a', '\xff');
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), sizes, (pieces, lengths) => {
      const bytes = Buffer.from(pieces.join(''), 'latin1');
      expect(decoded(inPieces(bytes, lengths), encoding)).toEqual(decoded([bytes], encoding));
    }),
    { numRuns: runCount(500) },
  );
});

/** Reads as mailparser does: some at a time, and the rest when the reader has room again. */
test('a stream holds back what its reader has no room for, and ends after it', () => {
  const stream = new DecoderStream(createDecoder('identity'));
  const events: string[] = [];
  let room = 1;
  const pump = () => {
    while (room > 0) {
      const piece = stream.read();
      if (piece === null) return;
      room -= 1;
      events.push(piece.toString());
    }
  };
  stream.on('readable', pump);
  stream.on('drain', () => events.push('drain'));
  stream.on('end', () => events.push('end'));
  expect(stream.write(Buffer.from('one'))).toBe(true);
  expect(stream.write(Buffer.from('two'))).toBe(false);
  stream.end();
  stream.end();
  expect(events).toEqual(['one']);
  room = 9;
  pump();
  pump();
  expect(events).toEqual(['one', 'two', 'drain', 'end']);
  expect(stream.writable).toBe(false);
});

test.each(['=', ' ', '=\t', '\r', '= '])('is linear in many of %j', async (piece) => {
  const bytes = Buffer.from(`${piece.repeat(2_000_000)}x`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536),
  );
  const found = await withinProcessorTime(3000, () => decoded(chunks));
  expect(found.length).toBeGreaterThan(0);
});
