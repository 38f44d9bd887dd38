import { BrokenStructure, type ByteCursor, type Range } from '../parts/part-content.ts';

/** MS-OXCDATA §2.11.1. */
const STRING8 = 0x001e;
export const UNICODE = 0x001f;
const OBJECT = 0x000d;
const BINARY = 0x0102;
const MULTIPLE = 0x1000;
/** Sizes in the stream, padded to four bytes (MS-OXTNEF §2.1.3.4). */
const FIXED_SIZES: ReadonlyMap<number, number> = new Map([
  [0x0001, 0],
  [0x0002, 4],
  [0x0003, 4],
  [0x0004, 4],
  [0x0005, 8],
  [0x0006, 8],
  [0x0007, 8],
  [0x000a, 4],
  [0x000b, 4],
  [0x0014, 8],
  [0x0040, 8],
  [0x0048, 16],
]);
const MAX_PROPERTIES = 2000;
const MAX_VALUES = 10_000;
const FIRST_NAMED = 0x8000;

export interface Property {
  readonly id: number;
  readonly type: number;
  /** The first value. */
  readonly value: Range;
}

/**
 * The properties of a message or an attachment (MS-OXTNEF §2.1.3.4), without named properties.
 * @throws {BrokenStructure} after those that could be read
 */
export async function* readProperties(cursor: ByteCursor): AsyncGenerator<Property> {
  const count = await cursor.u32();
  for (let read = 0; read < count; read += 1) {
    if (read === MAX_PROPERTIES) throw new BrokenStructure('too many properties');
    const type = await cursor.u16();
    const id = await cursor.u16();
    if (id >= FIRST_NAMED) await passName(cursor);
    const value = await readValue(cursor, type);
    if (id < FIRST_NAMED && value !== undefined) yield { id, type, value };
  }
}

async function passName(cursor: ByteCursor): Promise<void> {
  cursor.take(16);
  const byName = (await cursor.u32()) === 1;
  if (byName) takePadded(cursor, await cursor.u32());
  else cursor.take(4);
}

async function readValue(cursor: ByteCursor, type: number): Promise<Range | undefined> {
  const single = type & ~MULTIPLE;
  const isMultiple = (type & MULTIPLE) !== 0;
  const size = FIXED_SIZES.get(single);
  const isVariable = [STRING8, UNICODE, OBJECT, BINARY].includes(single);
  if (size === undefined && !isVariable) throw new BrokenStructure('an unknown type');
  const count = isMultiple || isVariable ? await cursor.u32() : 1;
  // Values without a size cost nothing to write but time to skip.
  if (count > MAX_VALUES || (isMultiple && size === 0)) {
    throw new BrokenStructure('too many values');
  }
  let first: Range | undefined;
  for (let read = 0; read < count; read += 1) {
    const value = takePadded(cursor, size ?? (await cursor.u32()));
    first ??= value;
  }
  return first;
}

/** The last value of a stream may lack its padding. */
function takePadded(cursor: ByteCursor, length: number): Range {
  const value = cursor.take(length);
  cursor.take(Math.min((4 - (length % 4)) % 4, cursor.left));
  return value;
}

const NAMED: ReadonlyMap<number, string> = new Map([
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [1200, 'utf-16le'],
  [10000, 'macintosh'],
  [20866, 'koi8-r'],
  [20932, 'euc-jp'],
  [21866, 'koi8-u'],
  [50220, 'iso-2022-jp'],
  [50221, 'iso-2022-jp'],
  [50222, 'iso-2022-jp'],
  [51932, 'euc-jp'],
  [51949, 'euc-kr'],
  [54936, 'gb18030'],
  [65001, 'utf-8'],
]);

/** The charset of a Windows code page (MS-UCODEREF §2.2.1); undefined if it has none. */
export function codePageCharset(codePage: number | undefined): string | undefined {
  if (codePage === undefined) return undefined;
  const named = NAMED.get(codePage);
  if (named !== undefined) return named;
  if (codePage >= 1250 && codePage <= 1258) return `windows-${codePage}`;
  if (codePage >= 28591 && codePage <= 28606) return `iso-8859-${codePage - 28590}`;
  return undefined;
}
