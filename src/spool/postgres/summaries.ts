import { renewSummariesAfter, type SummarySources, type SummaryStore } from '../renew-summaries.ts';
import type { Marks } from '../spool.ts';
import { SUMMARY_VERSION } from '../stored-form.ts';
import type { Database } from './connection.ts';

/** The mark with the version of which every entry up to `UP_TO` has a summary. */
const SUMMARIES = 'summaries';
const UP_TO = 'summaries_up_to';
/** Entries before the newest one that may be committed later than it. */
const LATE_ENTRIES = 10_000;

/**
 * Renews summaries. While gateways of two versions run, those of the earlier one accept entries with earlier
 * summaries. So each start looks at the entries since the last one.
 */
export async function renewSummaries(
  database: Database,
  store: SummaryStore & Pick<Marks, 'mark' | 'setMark'>,
  sources: SummarySources,
  signal: AbortSignal,
): Promise<number> {
  const newest = await database.value<number | null>('SELECT max(seq) FROM entry');
  const isRenewed = ((await store.mark(SUMMARIES)) ?? 0) >= SUMMARY_VERSION;
  const from = isRenewed ? ((await store.mark(UP_TO)) ?? 0) - LATE_ENTRIES : 0;
  const renewed = await renewSummariesAfter(from, store, sources, signal);
  if (signal.aborted) return renewed;
  await store.setMark(UP_TO, newest ?? 0);
  if (!isRenewed) await store.setMark(SUMMARIES, SUMMARY_VERSION);
  return renewed;
}
