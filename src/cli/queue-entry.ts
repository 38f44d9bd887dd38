import { type Entry, waitOf } from '../spool/entry.ts';
import type { FoundEntry } from '../spool/operator-store.ts';

/** An entry as programs get it: times in ISO 8601, the shop by its name too. */
export function entryJson(entry: Entry, shop: string): Record<string, unknown> {
  return {
    ...entry,
    shop,
    waitsFor: entry.state === 'queued' ? waitOf(entry) : undefined,
    receivedAt: iso(entry.receivedAt),
    nextAttemptAt: iso(entry.nextAttemptAt),
    lastAttemptAt: entry.lastAttemptAt === 0 ? undefined : iso(entry.lastAttemptAt),
    settledAt: entry.settledAt === undefined ? undefined : iso(entry.settledAt),
  };
}

/** A time for people: UTC, to the second. */
export function time(at: number): string {
  return iso(at).replace('T', ' ').replace(/\..*$/, '');
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** The same with what is known of who wrote. */
export function foundJson({ entry, summary }: FoundEntry, shop: string): Record<string, unknown> {
  return { ...entryJson(entry, shop), ...summary };
}
