import { type Entry, type EntrySummary, waitOf } from '../../spool/entry.ts';
import { shownReason } from '../../spool/shown-reason.ts';
import type { EntryRow } from '../contract.ts';
import type { ShopNames } from './shop-names.ts';

export const NO_SUMMARY: EntrySummary = { from: '', to: '', subject: '' };

/** One line of the list. */
export function rowOf(entry: Entry, summary: EntrySummary, shops: ShopNames): EntryRow {
  const { id, kind, channel, state, receivedAt, attempts, settledAt } = entry;
  const reason = shownReason(entry, shops.isServed(entry.shopId));
  return {
    id,
    kind,
    shop: shops.nameOf(entry.shopId),
    channel,
    state,
    receivedAt,
    ...(settledAt !== undefined && { settledAt }),
    ...(state === 'queued' && whenNext(entry)),
    attempts,
    ...(reason !== undefined && { reason }),
    from: summary.from,
    to: summary.to,
    subject: summary.subject,
    bytes: entry.rawSize,
  };
}

/** The time of its next attempt, or what it waits for instead. */
function whenNext(entry: Entry): Pick<EntryRow, 'nextAttemptAt' | 'waitsFor'> {
  const wait = waitOf(entry);
  return wait === 'time' ? { nextAttemptAt: entry.nextAttemptAt } : { waitsFor: wait };
}
