import {
  type OutdatedSummary,
  type RenewedSummary,
  renewSummariesAfter,
  type SummarySources,
  type SummaryStore,
} from '../renew-summaries.ts';
import { BEGINNING_BYTES, SUMMARY_VERSION } from '../stored-form.ts';
import type { Database } from './connection.ts';
import type { Records } from './records.ts';
import { jsonOf } from './rows.ts';
import { NOW } from './schema.ts';

/** Entries per call, with up to `BEGINNING_BYTES` each. */
const PORTION = 200;
/** The mark with the version of which every entry up to `UP_TO` has a summary. */
const SUMMARIES = 'summaries';
const UP_TO = 'summaries_up_to';
/** Entries before the newest one that may be committed later than it. */
const LATE_ENTRIES = 10_000;

/** Replaces summaries that are missing or that another version of the program made. */
export class SummaryTable implements SummaryStore {
  readonly #database: Database;
  readonly #marks: Pick<Records, 'mark' | 'setMark'>;

  constructor(database: Database, marks: Pick<Records, 'mark' | 'setMark'>) {
    this.#database = database;
    this.#marks = marks;
  }

  /**
   * While gateways of two versions run, those of the earlier one accept entries with earlier summaries. So
   * each start looks at the entries since the last one.
   */
  async renewSummaries(sources: SummarySources, signal: AbortSignal): Promise<number> {
    const [row] = await this.#database.query<{ newest: number | null }>(
      'SELECT max(seq) AS newest FROM entry',
    );
    const isRenewed = ((await this.#marks.mark(SUMMARIES)) ?? 0) >= SUMMARY_VERSION;
    const from = isRenewed ? ((await this.#marks.mark(UP_TO)) ?? 0) - LATE_ENTRIES : 0;
    const renewed = await renewSummariesAfter(from, this, sources, signal);
    if (signal.aborted) return renewed;
    await this.#marks.setMark(UP_TO, row?.newest ?? 0);
    if (!isRenewed) await this.#marks.setMark(SUMMARIES, SUMMARY_VERSION);
    return renewed;
  }

  async outdatedSummaries(after: number) {
    const rows = await this.#database.query<OutdatedSummary & { readonly is_outdated: boolean }>(
      `SELECT seq, id, kind, channel, meta, blob, is_outdated, CASE WHEN is_outdated THEN (
           SELECT substr(bytes, 1, ${BEGINNING_BYTES}) FROM raw WHERE raw.seq = portion.seq) END AS beginning
       FROM (SELECT *, coalesce(summary_version, 0) < ${SUMMARY_VERSION} AS is_outdated
         FROM entry WHERE seq > $1 ORDER BY seq LIMIT ${PORTION}) AS portion ORDER BY seq`,
      [after],
    );
    return {
      upTo: rows.length === PORTION ? rows.at(-1)?.seq : undefined,
      outdated: rows.filter(({ is_outdated: isOutdated }) => isOutdated),
    };
  }

  async saveSummaries(summaries: readonly RenewedSummary[]): Promise<void> {
    await this.#database.query(
      `WITH made AS (
         SELECT * FROM json_to_recordset($1) AS made (seq bigint, "from" text, "to" text, subject text, more text)
       ), locked AS MATERIALIZED (
         SELECT seq FROM entry WHERE seq IN (SELECT seq FROM made) ORDER BY seq FOR NO KEY UPDATE
       ), renewed AS (
         UPDATE entry SET summary_version = ${SUMMARY_VERSION}, "from" = made."from", "to" = made."to",
           subject = made.subject, more = made.more
         FROM made JOIN locked USING (seq) WHERE entry.seq = made.seq RETURNING entry.seq
       )
       INSERT INTO dirty (seq, is_new, at) SELECT seq, false, ${NOW.name}() FROM renewed`,
      [jsonOf(summaries)],
    );
  }
}
