import { randomUUID } from 'node:crypto';
import type { NewEntry } from '../../src/spool/entry.ts';
import { asEntryId, asShopId } from '../../src/types/ids.ts';

export const SHOP = asShopId('00000000-0000-4000-8000-000000000001');
export const OTHER_SHOP = asShopId('00000000-0000-4000-8000-000000000002');

let counter = 0;

/** An entry like those that intake makes, unique unless told otherwise. */
export function anEntry(change: Partial<NewEntry> = {}): NewEntry {
  counter += 1;
  const id = asEntryId(`${String(counter).padStart(8, '0')}-${randomUUID()}`);
  return {
    id,
    kind: 'message',
    shopId: SHOP,
    channel: 'sms',
    lane: `lane-${id}`,
    dedupKey: `key-${id}`,
    remoteId: `remote-${id}`,
    receivedAt: Date.now(),
    meta: { n: counter },
    raw: { kind: 'inline', bytes: Buffer.from(`raw ${id}`) },
    ...change,
  };
}
