import type { EntryState } from '../domain/entry-state.ts';
import type { BlobName } from '../domain/ids.ts';
import type { BlobStore } from './blobs.ts';
import type { Retention, Swept } from './spool.ts';

/** The audit log is kept for more than a year. */
export const AUDIT_KEPT_MS = 400 * 24 * 60 * 60 * 1000;

/** How long the raw form of a settled entry is kept, in milliseconds; the sweeps of both stores say the same in SQL. */
export const rawKeptMs = (state: EntryState, { rawMs, deadMs }: Retention): number =>
  state === 'delivered' || state === 'discarded' ? rawMs : deadMs;

/** What one call of a sweep has deleted. */
export interface SweptRows {
  readonly entries: number;
  readonly raws: number;
  /** Blobs that no row names any more. */
  readonly unused: readonly BlobName[];
  /** Call again: more rows are due than one call takes. */
  readonly more: boolean;
}

export interface SweptTables {
  sweep(retention: Retention): Promise<SweptRows>;
  /** Deletes some of the counts that are too old. True: there may be more. */
  sweepSenderRates(): Promise<boolean>;
}

/** Deletes what a store keeps no longer: rows, some at a time, and then the blobs that they named. */
export async function sweepStore(
  tables: SweptTables,
  blobs: Pick<BlobStore, 'remove'>,
  retention: Retention,
): Promise<Swept> {
  const total = { entries: 0, raws: 0, files: 0 };
  while (await tables.sweepSenderRates()) continue;
  for (;;) {
    const swept = await tables.sweep(retention);
    for (const blob of swept.unused) await blobs.remove(blob);
    total.entries += swept.entries;
    total.raws += swept.raws;
    total.files += swept.unused.length;
    if (!swept.more) return total;
  }
}
