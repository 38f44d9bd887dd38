import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import { asEntryId, type EntryId } from '../domain/ids.ts';

const POOL_BYTES = 4096;
const ID_BYTES = 16;

/**
 * Makes entry ids: UUIDs of version 7 (RFC 9562 §5.7), which sort by time and so keep the index of
 * a busy store compact. Randomness is drawn for many at once: a call into the kernel for each
 * costs more than the rest of it.
 */
export function createEntryIds(): () => EntryId {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  const rng = (): Uint8Array => {
    if (used + ID_BYTES > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += ID_BYTES;
    return pool.slice(used - ID_BYTES, used);
  };
  return () => asEntryId(v7({ rng }));
}
