import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { invalidRequest } from '../api-error.ts';

/** The paged lists. */
export type ListName = 'tickets' | 'messages' | 'contacts';

/** A page starts after this row, on one side of it. */
export interface Cursor {
  readonly side: 'older' | 'newer';
  readonly seq: number;
}

const BLOCK_BYTES = 16;
const SEQ_BYTES = 6;
const SIDES = ['older', 'newer'] as const;

/**
 * Cursors in the opaque form that clients get (API §2.6). A row's number counts the rows of all
 * shops, which no shop may know, so a cursor is one encrypted block: side, number, and eight bytes of
 * a hash of list and shop. Only a cursor that was made here for this list decrypts to that hash.
 */
export class Cursors {
  readonly #key: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    this.#key = key;
  }

  format(list: ListName, shop: string, { side, seq }: Cursor): string {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.writeUInt8(SIDES.indexOf(side));
    block.writeUIntBE(seq, 1, SEQ_BYTES);
    ownerOf(list, shop).copy(block, 1 + SEQ_BYTES);
    // ECB is right for a single block: a keyed permutation, and the same row has the same cursor.
    const cipher = createCipheriv('aes-256-ecb', this.#key, null).setAutoPadding(false);
    return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
  }

  /** @throws {ApiError} 400 for anything that is not from `format` for this list and shop */
  parse(list: ListName, shop: string, text: string): Cursor {
    const sealed = Buffer.from(text, 'base64url');
    // Base64 decoding is lenient; only the canonical form is accepted.
    if (sealed.length === BLOCK_BYTES && sealed.toString('base64url') === text) {
      const decipher = createDecipheriv('aes-256-ecb', this.#key, null).setAutoPadding(false);
      const block = Buffer.concat([decipher.update(sealed), decipher.final()]);
      const side = SIDES[block.readUInt8()];
      const isOurs = block.subarray(1 + SEQ_BYTES).equals(ownerOf(list, shop));
      if (side !== undefined && isOurs) return { side, seq: block.readUIntBE(1, SEQ_BYTES) };
    }
    throw invalidRequest({ cursor: 'not a cursor of this list' });
  }
}

/** Fills the rest of a block. */
const ownerOf = (list: ListName, shop: string): Buffer =>
  createHash('sha256')
    .update(`${list}\0${shop}`)
    .digest()
    .subarray(0, BLOCK_BYTES - 1 - SEQ_BYTES);
