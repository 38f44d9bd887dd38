import { hash } from 'node:crypto';
import type { NewEntry } from '../entry.ts';

/**
 * Short hashes that replace long keys in indexes. Parts are separated by NUL, which none of them
 * contains.
 */

/** Unique per (shop, channel, dedup key): 128 bits, which makes collisions negligible. */
export function dedupHash({
  shopId,
  channel,
  dedupKey,
}: Pick<NewEntry, 'shopId' | 'channel' | 'dedupKey'>): Uint8Array {
  return sha256(`${shopId}\0${channel}\0${dedupKey}`).subarray(0, 16);
}

/** Two lanes with the same hash wait for each other; nothing else goes wrong. */
export function laneHash({ shopId, channel, lane }: NewEntry): number {
  return sha256(`${shopId}\0${channel}\0${lane}`).readUIntBE(0, 6);
}

/** Callers compare the text itself, too. */
export function remoteHash(shopId: string, remoteId: string): number {
  return sha256(`${shopId}\0${remoteId}`).readUIntBE(0, 6);
}

/** The hash of a text of one kind. Texts with equal hashes are only counted together. */
export function rateHash(shopId: string, kind: string, text: string): number {
  return sha256(`${shopId}\0${kind}\0${text}`).readUIntBE(0, 6);
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
