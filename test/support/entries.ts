import type { Reason } from '../../src/domain/reasons.ts';
import { randomUUID } from 'node:crypto';
import {
  type Claimed,
  type ClaimSource,
  type NewEntry,
  type Outcome,
  WAITS_FOR,
} from '../../src/spool/entry.ts';
import type { Spool } from '../../src/spool/spool.ts';
import type { Operations } from '../../src/spool/sqlite/operations.ts';
import { storedFormReaderOf } from '../../src/gateway/stored-forms.ts';
import { asEntryId, asShopId, type ShopId } from '../../src/domain/ids.ts';

export const SHOP = asShopId('00000000-0000-4000-8000-000000000001');
export const OTHER_SHOP = asShopId('00000000-0000-4000-8000-000000000002');

let counter = 0;

/** An entry like those that intake makes, unique unless told otherwise. */
export function anEntry(change: Partial<NewEntry> = {}): NewEntry {
  counter += 1;
  const id = asEntryId(String(counter).padStart(8, '0') + randomUUID().slice(8));
  const entry: NewEntry = {
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
  const { meta, raw } = entry;
  if (raw.kind === 'file') return entry;
  return { summary: storedFormReaderOf(entry).summaryOf(meta, raw.bytes), ...entry };
}

/** What a shop in good health is asked for. */
const EVERYTHING: readonly ClaimSource[] = [WAITS_FOR.shop, WAITS_FOR.media, 'due'];

/** Heads of ready lanes of one shop, whatever they wait for but a refusal. */
export async function claimFrom(
  spool: Pick<Spool, 'claim'>,
  shopId: ShopId,
  limit: number,
  leaseMs: number,
): Promise<readonly Claimed[]> {
  const [claimed = []] = await spool.claim([{ shopId, limit, from: EVERYTHING }], leaseMs, limit);
  return claimed;
}

/** The same of the operations of the database's thread. */
export function claimDirectly(
  operations: Pick<Operations, 'claim'>,
  shopId: ShopId,
  limit: number,
  leaseMs: number,
): readonly Claimed[] {
  const [answer] = operations.claim([{ shopId, limit, from: EVERYTHING }], leaseMs, limit);
  return answer?.claimed ?? [];
}

/** A reason whose code does not matter. */
export const because = (text: string): Reason => ({ code: 'other', params: { text } });

type Queued = Extract<Outcome, { state: 'queued' }>;

/** An attempt that failed while others were delivered, unless told otherwise; due at once. */
export const retryLater = (change: Partial<Queued> = {}): Queued => ({
  ...{ state: 'queued', retryInMs: 0, waitsFor: WAITS_FOR.time },
  ...{ reason: because('no'), failed: true },
  ...{ counts: true, failingMs: 10, detach: false, ...change },
});
