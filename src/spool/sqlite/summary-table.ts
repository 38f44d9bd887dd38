import type { Channel } from '../../domain/channel.ts';
import type { BlobName, EntryId } from '../../domain/ids.ts';
import type { EntryKind, EntryMeta, StoredSummary } from '../entry.ts';
import { HEAD_BYTES, SUMMARY_VERSION } from '../stored-form.ts';
import type { Db } from './database.ts';
import type { EntryRow } from './entry-row.ts';

/** Entries that one call reads: acknowledgements of other callers wait for the call. */
const SEQS_PER_CALL = 200;

/** An entry whose summary is missing, or was made by another version. */
export interface OutdatedSummary {
  readonly seq: number;
  readonly id: EntryId;
  readonly kind: EntryKind;
  readonly channel: Channel;
  readonly meta: EntryMeta;
  /** The beginning of the raw form; undefined when it is in a file or was swept. */
  readonly head: Uint8Array | undefined;
  readonly blob: BlobName | undefined;
}

/** Replaces summaries that are missing or that another version of the program made. */
export class SummaryTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = prepare(db);
  }

  /** Some outdated summaries after this seq, and how far it looked; undefined: to the end. */
  outdatedSummaries(after: number): { outdated: OutdatedSummary[]; upTo: number | undefined } {
    const upTo = after + SEQS_PER_CALL;
    const newest = this.#sql.newest.get()?.seq ?? 0;
    const outdated = this.#sql.outdated.all(after, upTo).map(({ meta, head, blob, ...row }) => ({
      ...row,
      // Written by JSON.stringify of an EntryMeta in `EntryTable.accept`.
      meta: JSON.parse(meta) as EntryMeta,
      head: head ?? undefined,
      blob: blob ?? undefined,
    }));
    return { outdated, upTo: upTo < newest ? upTo : undefined };
  }

  /** Skips entries that were deleted meanwhile, whose seq may belong to another entry. */
  saveSummaries(summaries: readonly (StoredSummary & Pick<OutdatedSummary, 'seq' | 'id'>)[]): void {
    for (const { seq, id, from, to, subject, more } of summaries) {
      const { changes } = this.#sql.save.run({ seq, id, from, to, subject, more });
      if (changes > 0) this.#sql.insertChange.run(seq);
    }
  }
}

type OutdatedRow = Pick<EntryRow, 'seq' | 'id' | 'kind' | 'channel' | 'meta' | 'blob'> & {
  readonly head: Uint8Array | null;
};

function prepare(db: Db) {
  return {
    newest: db.prepare<[], { seq: number | null }>(`SELECT max(seq) AS seq FROM entries`),
    outdated: db.prepare<[number, number], OutdatedRow>(
      `SELECT seq, id, kind, channel, meta, blob,
         (SELECT substr(bytes, 1, ${HEAD_BYTES}) FROM raws WHERE raws.seq = entries.seq) AS head
       FROM entries LEFT JOIN summaries USING (seq)
       WHERE seq > ? AND seq <= ? AND version IS NOT ${SUMMARY_VERSION}`,
    ),
    save: db.prepare(
      `INSERT OR REPLACE INTO summaries (seq, version, "from", "to", subject, more)
       SELECT seq, ${SUMMARY_VERSION}, @from, @to, @subject, @more FROM entries
       WHERE seq = @seq AND id = @id`,
    ),
    insertChange: db.prepare(`INSERT INTO changes (seq) VALUES (?)`),
  };
}
