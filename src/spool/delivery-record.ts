import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRawSync } from 'node:zlib';
import type { DeliveryRecord } from './operator-store.ts';

/** How a record lies in the store: JSON as it is while it is short, deflated when it is not. */
export type StoredRecord = string | Uint8Array;

/** Shorter JSON costs more to deflate than to write. */
const PLAIN_UP_TO_CHARS = 4 * 1024;
/** More is not even deflated: it would not fit. */
const MAX_JSON_CHARS = 16 * 1024 * 1024;
const MAX_STORED_BYTES = 1024 * 1024;
/** Of a message that is too large this much is kept. */
const EXCERPT_CHARS = 16 * 1024;

const deflate = promisify(deflateRaw);

/**
 * Makes a record small; a large one in zlib's own threads. What is over 1 MiB even so is cut to a
 * note of its beginning.
 */
export async function encodeRecord(record: DeliveryRecord): Promise<StoredRecord> {
  const json = JSON.stringify(record);
  if (json.length <= PLAIN_UP_TO_CHARS) return json;
  if (json.length <= MAX_JSON_CHARS) {
    const bytes = await deflate(json, { level: constants.Z_BEST_SPEED });
    if (bytes.length <= MAX_STORED_BYTES) return bytes;
  }
  return JSON.stringify(shortened(record, json.length));
}

function shortened({ request, attachments }: DeliveryRecord, chars: number): DeliveryRecord {
  return {
    request: { tooLarge: { chars }, beginning: JSON.stringify(request).slice(0, EXCERPT_CHARS) },
    attachments: attachments.slice(0, 10),
  };
}

/** Reads back what `encodeRecord` made. */
export function decodeRecord(stored: StoredRecord): DeliveryRecord {
  const json = typeof stored === 'string' ? stored : inflateRawSync(stored).toString('utf8');
  // Written by JSON.stringify of a DeliveryRecord above.
  return JSON.parse(json) as DeliveryRecord;
}
