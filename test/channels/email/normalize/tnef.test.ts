import { describe, expect, test } from '@jest/globals';
import { memorySource } from '../../../../src/channels/email/normalize/parts/part-content.ts';
import { unpackRtf } from '../../../../src/channels/email/normalize/tnef/tnef-leaves.ts';
import {
  readTnef,
  type TnefMessage,
} from '../../../../src/channels/email/normalize/tnef/tnef-reader.ts';
import { attribute, enclosed, file, property, propertyList, tnef } from './tnef-writer.ts';

const data = Buffer.from('the data of a file');
const read = (bytes: Buffer) => readTnef(memorySource(bytes));
const dataOf = (bytes: Buffer, message: TnefMessage | undefined) =>
  message?.files.map(({ data: range }) =>
    range === undefined
      ? undefined
      : bytes.toString('latin1', range.offset, range.offset + range.length),
  );

describe('a winmail.dat is read', () => {
  test('files with their names and data', async () => {
    const bytes = tnef([file({ name: 'a.txt', data }), file({ name: 'b.txt', data })]);
    const found = await read(bytes);
    expect(found?.complete).toBe(true);
    expect(found?.message.files.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
    expect(dataOf(bytes, found?.message)).toEqual([data.toString(), data.toString()]);
  });

  test('the long Unicode name before the short one', async () => {
    const properties = [property(0x1f, 0x3707, Buffer.from('счёт.txt\0', 'utf16le'))];
    const found = await read(tnef([file({ name: 'A~1.TXT', data, properties })]));
    expect(found?.message.files[0]?.name).toBe('счёт.txt');
  });

  test('a name in the code page that the stream states', async () => {
    const name = Buffer.from([0xf1, 0xf7, 0xb8, 0xf2]).toString('latin1');
    const found = await read(tnef([file({ name, data })], 1251));
    expect(found?.message.files[0]?.name).toBe('счёт');
  });

  test('a message inside of it', async () => {
    const bytes = tnef([enclosed(tnef([file({ name: 'in.txt', data })]))]);
    const found = await read(bytes);
    expect(dataOf(bytes, found?.message.files[0]?.message)).toEqual([data.toString()]);
  });

  test('what is no TNEF is none', async () => {
    expect(await read(Buffer.from('nothing of the kind'))).toBeUndefined();
    expect(await read(Buffer.alloc(0))).toBeUndefined();
  });
});

describe('a hostile winmail.dat ends where it breaks off', () => {
  const many = (count: number, part: Buffer) => Array.from({ length: count }, () => part);
  const nested = (depth: number): Buffer =>
    depth === 0 ? tnef([file({ name: 'deep', data })]) : tnef([enclosed(nested(depth - 1))]);
  const longValue = propertyList([property(0x102, 0x1013, data, 0xffffffff)]);
  test.each<[string, Buffer, number]>([
    [
      'a length past the end',
      tnef([file({ name: 'a', data }), attribute(1, 1, data, 2 ** 32 - 1)]),
      1,
    ],
    [
      'a property longer than its attribute',
      tnef([attribute(1, 0x69003, longValue), file({ name: 'a', data })]),
      1,
    ],
    [
      'more properties stated than there are',
      tnef([attribute(1, 0x69003, propertyList([], 2 ** 32 - 1))]),
      0,
    ],
    ['100,000 empty attributes', tnef(many(100_000, attribute(1, 1, Buffer.alloc(0)))), 0],
    ['10,000 files', tnef(many(10_000, attribute(2, 0x69002, Buffer.alloc(14)))), 200],
    [
      'a property of an unknown type',
      tnef([attribute(1, 0x69003, propertyList([property(0x99, 1, data)]))]),
      0,
    ],
    ['nested 200 deep', nested(200), 1],
  ])('%s', async (_, bytes, files) => {
    const found = await read(bytes);
    expect(found?.complete).toBe(false);
    expect(found?.message.files).toHaveLength(files);
  });

  test('cut at any byte, it gives what came before', async () => {
    const whole = tnef([
      file({ name: 'a.txt', data }),
      enclosed(tnef([file({ name: 'b', data })])),
    ]);
    for (let length = 4; length < whole.length; length += 1) {
      const found = await read(whole.subarray(0, length));
      for (const content of dataOf(whole, found?.message) ?? []) {
        expect([undefined, data.toString()]).toContain(content);
      }
    }
  });

  test('with any byte changed, it is read within its bounds', async () => {
    const whole = tnef([
      file({ name: 'a.txt', data }),
      enclosed(tnef([file({ name: 'b', data })])),
    ]);
    for (let at = 4; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      const found = await read(changed);
      for (const { data: range } of found?.message.files ?? []) {
        expect((range?.offset ?? 0) + (range?.length ?? 0)).toBeLessThanOrEqual(changed.length);
      }
    }
  });
});

describe('compressed RTF', () => {
  // MS-OXRTFCP §3.1.1 and §3.1.2.
  test.each([
    [
      'the first example of the specification',
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
      '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
    ],
    [
      'a reference that goes on into what it writes',
      '1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0',
      '{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}',
    ],
  ])('%s', (_, hex, expected) => {
    expect(unpackRtf(Buffer.from(hex, 'hex'), 1000)?.toString('latin1')).toBe(expected);
  });

  test('no more than what is asked for', () => {
    const hex = '1a000000ffffffff4c5a4675e2d44b51410004205758595a0d6e7d010eb0';
    expect(unpackRtf(Buffer.from(hex, 'hex'), 10)).toHaveLength(10);
    expect(unpackRtf(Buffer.from('nothing of the kind'), 10)).toBeUndefined();
  });
});
