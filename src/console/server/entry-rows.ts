import { type Entry, waitOf } from '../../spool/entry.ts';
import { shownReason } from '../../spool/shown-reason.ts';
import type { EntryCard } from '../../spool/operator-store.ts';
import type { EntryRow } from '../contract.ts';
import type { ShopNames } from './shop-names.ts';

export const NO_CARD: EntryCard = { from: '', to: '', subject: '' };

/** One line of the list. */
export function rowOf(entry: Entry, card: EntryCard, shops: ShopNames): EntryRow {
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
    from: card.from,
    to: card.to,
    subject: card.subject,
    bytes: entry.rawSize,
  };
}

/** The time of its next attempt, or what it waits for instead. */
function whenNext(entry: Entry): Pick<EntryRow, 'nextAttemptAt' | 'waitsFor'> {
  const wait = waitOf(entry);
  return wait === 'time' ? { nextAttemptAt: entry.nextAttemptAt } : { waitsFor: wait };
}
