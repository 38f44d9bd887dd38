import { hash } from 'node:crypto';
import type { NewEntry } from './entry.ts';

// Short hashes replace long keys in indexes. Their parts are separated by NUL, which none contains.

/** Unique per (shop, channel, dedup key): 128 bits, which makes collisions negligible. */
export function dedupHash({
  shopId,
  channel,
  dedupKey,
}: Pick<NewEntry, 'shopId' | 'channel' | 'dedupKey'>): Uint8Array {
  return sha256(`${shopId}\0${channel}\0${dedupKey}`).subarray(0, 16);
}

/** 48 bits: two lanes with the same hash wait for each other; nothing else goes wrong. */
export function laneHash({
  shopId,
  channel,
  lane,
}: Pick<NewEntry, 'shopId' | 'channel' | 'lane'>): number {
  return sha256(`${shopId}\0${channel}\0${lane}`).readUIntBE(0, 6);
}

/** Unique per (shop, remote id): 128 bits. */
export const remoteKey = (shopId: string, remoteId: string): Uint8Array =>
  sha256(`${shopId}\0${remoteId}`).subarray(0, 16);

/** 48 bits of it: callers compare the text itself, too. */
export const remoteHash = (shopId: string, remoteId: string): number =>
  sha256(`${shopId}\0${remoteId}`).readUIntBE(0, 6);

/** 48 bits of a text of one kind. Texts with equal hashes are only counted together. */
export const rateHash = (shopId: string, kind: string, text: string): number =>
  sha256(`${shopId}\0${kind}\0${text}`).readUIntBE(0, 6);

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** 128 bits in the form of a uuid: 16 bytes in PostgreSQL, and comparable as text here. */
export function uuidOf(hash: Uint8Array): string {
  const hex = Buffer.from(hash.buffer, hash.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
