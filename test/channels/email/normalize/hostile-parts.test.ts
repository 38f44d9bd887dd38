import { expect, test } from '@jest/globals';
import { memorySource } from '../../../../src/channels/email/normalize/parts/part-content.ts';
import { findSignedContent } from '../../../../src/channels/email/normalize/parts/signed-content.ts';
import { tnefParts } from '../../../../src/channels/email/normalize/tnef/tnef-leaves.ts';
import { readTnef } from '../../../../src/channels/email/normalize/tnef/tnef-reader.ts';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { ends } from '../../../support/ends.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { attribute, propertyList, tnef } from './tnef-writer.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

/** Each of these could take minutes, and takes half a second at most. */
const SOON_MS = 10_000;

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
  return bytes;
}

test.each([
  ['ten thousand values without a size in eight bytes', words(0x0037_1001, 10_000), 200],
  ['properties of four bytes', words(0x0037_0001), 1500],
])('TNEF: %s', async (_, each, lists) => {
  const list = propertyList(Array.from({ length: 2000 }, () => each));
  const attributes = Array.from({ length: lists }, () => attribute(1, 0x69003, list));
  const found = await withinProcessorTime(SOON_MS, () => readTnef(memorySource(tnef(attributes))));
  expect(found?.complete).toBe(false);
});

test('TNEF: a body of NULs that something follows', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const body = Buffer.concat([Buffer.alloc(500_000), Buffer.from('x')]);
  const source = memorySource(tnef([attribute(1, 0x2800c, body)]));
  let index = 0;
  const parts = await withinProcessorTime(SOON_MS, async () => {
    const found = await readTnef(source);
    if (found === undefined) throw new Error('not read');
    return tnefParts(source, found.message, {
      scratch: new ScratchFolder(dir.path),
      withBody: true,
      nextIndex: () => (index += 1),
    });
  });
  expect(parts).toHaveLength(1);
});

/** Signed data of indefinite lengths, up to the pieces of its content. */
const SIGNED = Buffer.from(
  '3080' +
    '06092a864886f70d010702' +
    'a0803080020101310030800609' +
    '2a864886f70d010701' +
    'a0802480',
  'hex',
);

test.each([
  ['of one byte', '040161'],
  ['of none', '0400'],
])('CMS: millions of pieces %s', async (_, piece) => {
  const bytes = Buffer.concat([SIGNED, Buffer.alloc(12_000_000, Buffer.from(piece, 'hex'))]);
  const content = await findSignedContent(memorySource(bytes));
  let bytesRead = 0;
  const reading = withinProcessorTime(SOON_MS, async () => {
    for await (const chunk of content ?? []) bytesRead += chunk.length;
  });
  await expect(reading).rejects.toThrow('too many pieces');
  expect(bytesRead).toBeLessThanOrEqual(100_000);
});
