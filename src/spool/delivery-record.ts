import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRawSync } from 'node:zlib';
import type { DeliveryRecord } from './operator-store.ts';

/** A record as stored: plain JSON if short, otherwise deflated JSON. */
export type StoredRecord = string | Uint8Array;

/** Deflating shorter JSON costs more than writing it. */
const PLAIN_UP_TO_CHARS = 4 * 1024;
/** Longer JSON is not deflated: it would not fit. */
const MAX_JSON_CHARS = 16 * 1024 * 1024;
const MAX_STORED_BYTES = 1024 * 1024;
/** `MAX_JSON_CHARS` in UTF-8 at most. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;
/** How much of a message that is too large is kept. */
const EXCERPT_CHARS = 16 * 1024;

const deflate = promisify(deflateRaw);

/**
 * Compresses a record; large ones in zlib's threads. A record that is still over 1 MiB is reduced
 * to an excerpt.
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

function shortened({ request, about, attachments }: DeliveryRecord, chars: number): DeliveryRecord {
  return {
    ...(about && { about: about.slice(0, 10) }),
    request: { tooLarge: { chars }, beginning: JSON.stringify(request).slice(0, EXCERPT_CHARS) },
    attachments: attachments.slice(0, 10),
  };
}

/** Decodes what `encodeRecord` returned. */
export function decodeRecord(stored: StoredRecord): DeliveryRecord {
  const json =
    typeof stored === 'string'
      ? stored
      : inflateRawSync(stored, { maxOutputLength: MAX_RECORD_BYTES }).toString('utf8');
  // Written by JSON.stringify of a DeliveryRecord above.
  return JSON.parse(json) as DeliveryRecord;
}
