import type { ByteSource, Range } from './byte-source.ts';

/** A structure that says it goes on where there is nothing, or further than it may. */
export class BrokenStructure extends Error {
  override name = 'BrokenStructure';
}

/**
 * A place in a source that only moves forward and never past its end, so that no length that a
 * message states can make it read elsewhere, twice, or for ever.
 */
export class ByteCursor {
  readonly source: ByteSource;
  readonly end: number;
  #at: number;

  /** @throws {BrokenStructure} the range is not inside of the source */
  constructor(source: ByteSource, { offset, length }: Range) {
    if (offset + length > source.size) throw new BrokenStructure('past the end');
    this.source = source;
    this.#at = offset;
    this.end = offset + length;
  }

  get left(): number {
    return this.end - this.#at;
  }

  /** The range of the next bytes, which are passed over. @throws {BrokenStructure} */
  take(length: number): Range {
    if (length > this.left) throw new BrokenStructure('longer than what holds it');
    const range = { offset: this.#at, length };
    this.#at += length;
    return range;
  }

  /** @throws {BrokenStructure} */
  async u8(): Promise<number> {
    return (await this.#read(1)).readUInt8();
  }

  /** Little endian. @throws {BrokenStructure} */
  async u16(): Promise<number> {
    return (await this.#read(2)).readUInt16LE();
  }

  /** Little endian. @throws {BrokenStructure} */
  async u32(): Promise<number> {
    return (await this.#read(4)).readUInt32LE();
  }

  async #read(length: number): Promise<Buffer> {
    const { offset } = this.take(length);
    const bytes = await this.source.read(offset, length);
    if (bytes.length < length) throw new BrokenStructure('past the end');
    return bytes;
  }
}
