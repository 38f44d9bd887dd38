import type { OutdatedSummary, RenewedSummary } from '../renew-summaries.ts';
import { BEGINNING_BYTES, SUMMARY_VERSION } from '../stored-form.ts';
import { type Dialect, type Operation, rowsOf } from './operation.ts';

/** Entries per call, with up to `BEGINNING_BYTES` each: acknowledgements of other callers wait for it. */
const PORTION = 200;

interface Row extends OutdatedSummary {
  readonly is_outdated: boolean | number;
}

/** Replaces summaries that are missing or that another version of the program made (`SummaryStore`). */
export const summaryOperations = ({ summarizedRows, saveSummary, tables }: Dialect) => ({
  *outdatedSummaries(after: number) {
    // The portion is chosen first: PostgreSQL would begin a join with the first row of all tables but the first.
    const rows = yield* rowsOf<Row>(
      `SELECT seq, id, kind, channel, meta, blob, is_outdated, CASE WHEN is_outdated THEN (
           SELECT substr(bytes, 1, ${BEGINNING_BYTES}) FROM ${tables.raws} AS raw WHERE raw.seq = portion.seq) END AS beginning
       FROM (SELECT *, coalesce(version, 0) < ${SUMMARY_VERSION} AS is_outdated FROM ${summarizedRows} AS entry
         WHERE seq IN (SELECT seq FROM ${tables.entries} WHERE seq > $1 ORDER BY seq LIMIT ${PORTION})) AS portion
       ORDER BY seq`,
      after,
    );
    const outdated = rows.filter(({ is_outdated: isOutdated }) => isOutdated);
    return { outdated, upTo: rows.length === PORTION ? rows.at(-1)?.seq : undefined };
  },

  *saveSummaries(summaries: readonly RenewedSummary[]): Operation<void> {
    // In the order of their locks.
    const list = summaries.toSorted((a, b) => a.seq - b.seq).flatMap(saveSummary);
    if (list.length > 0) yield list;
  },
});
