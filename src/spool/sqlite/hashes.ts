import { hash } from 'node:crypto';
import type { NewEntry } from '../entry.ts';

/**
 * Short stand-ins for long keys in indexes. Parts are framed by NUL, which none of them holds.
 */

/** Unique per (shop, channel, dedup key): 128 bits, so that no two messages ever share one. */
export function dedupHash({
  shopId,
  channel,
  dedupKey,
}: Pick<NewEntry, 'shopId' | 'channel' | 'dedupKey'>): Uint8Array {
  return sha256(`${shopId}\0${channel}\0${dedupKey}`).subarray(0, 16);
}

/** Two lanes that share a hash wait for each other, and nothing worse. */
export function laneHash({ shopId, channel, lane }: NewEntry): number {
  return sha256(`${shopId}\0${channel}\0${lane}`).readUIntBE(0, 6);
}

/** The text itself is compared as well. */
export function remoteHash(shopId: string, remoteId: string): number {
  return sha256(`${shopId}\0${remoteId}`).readUIntBE(0, 6);
}

/** One number for a text of a kind. Two that share it are counted together, and nothing worse. */
export function rateHash(shopId: string, kind: string, text: string): number {
  return sha256(`${shopId}\0${kind}\0${text}`).readUIntBE(0, 6);
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
