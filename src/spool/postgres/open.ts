import { createMonotonicClock } from '../../runtime/clock.ts';
import type { BlobName } from '../../domain/ids.ts';
import type { BlobFiles } from '../blobs.ts';
import { decodeRecord, type StoredRecord } from '../delivery-record.ts';
import type { OperatorStore } from '../operator-store.ts';
import type { OptOutStore } from '../opt-out-store.ts';
import type { Recovered, Retention, Spool, Swept } from '../spool.ts';
import type { EntryIndex } from '../entry-index.ts';
import { CARD_FUNCTIONS } from './cards.ts';
import type { StoredFormReaders } from '../stored-form.ts';
import { Database } from './connection.ts';
import { CONVERSATION_FUNCTIONS, ConversationTable, OptOutTable } from './conversations.ts';
import { DELIVERY_FUNCTIONS, PostgresDeliveries } from './deliveries.ts';
import { PostgresIndex, type PostgresIndexOptions } from './entry-index.ts';
import { SEARCH_FUNCTIONS } from './entry-search.ts';
import { ACCEPT, PostgresIntake } from './intake.ts';
import { LANE_FUNCTIONS, WaitingEntries } from './lanes.ts';
import { MOVE_FUNCTIONS, OperatorMoves } from './moves.ts';
import { EntryQueries } from './queries.ts';
import { Records } from './records.ts';
import { RETENTION_FUNCTIONS, RetentionTable } from './retention.ts';
import { isUuid } from './rows.ts';
import { methodsOf } from '../methods.ts';
import { makeSchema } from './schema.ts';
import { SummaryTable } from './summaries.ts';
import { SENDER_RATE_FUNCTIONS, SenderRateTable } from './sender-rates.ts';

/** In the order in which they are made: a function is made after those that it calls. */
const FUNCTIONS = [
  ...LANE_FUNCTIONS,
  ACCEPT,
  ...DELIVERY_FUNCTIONS,
  ...MOVE_FUNCTIONS,
  ...CONVERSATION_FUNCTIONS,
  ...SENDER_RATE_FUNCTIONS,
  ...RETENTION_FUNCTIONS,
  ...CARD_FUNCTIONS,
  ...SEARCH_FUNCTIONS,
];

export interface PostgresSpoolOptions {
  readonly url: string;
  /** Names this gateway in its leases; the same after a restart. */
  readonly instance: string;
  readonly blobs: BlobFiles;
}

export interface PostgresStore {
  readonly spool: Spool;
  readonly optOuts: OptOutStore;
  readonly operator: OperatorStore;
  /** Computes summaries that are missing or from an earlier version; resolves with their number. */
  renewSummaries(forms: StoredFormReaders, signal: AbortSignal): Promise<number>;
  /** Close it before the store. */
  readonly openIndex: (options: PostgresIndexOptions) => EntryIndex;
}

/**
 * Opens the store in a PostgreSQL database and makes its schema.
 * @throws {SpoolUnusable} the schema is of a newer version
 * @throws {SpoolUnavailable} the database cannot be reached
 */
export async function openPostgresStore(options: PostgresSpoolOptions): Promise<PostgresStore> {
  const { url, instance, blobs } = options;
  const database = new Database(url);
  try {
    await makeSchema(database, FUNCTIONS);
  } catch (error) {
    await database.close();
    throw error;
  }
  const moves = new OperatorMoves(database);
  const records = new Records(database);
  const rates = new SenderRateTable(database);
  const retention = new RetentionTable(database);
  return {
    spool: {
      ...methodsOf(new PostgresIntake(database)),
      ...methodsOf(new PostgresDeliveries(database, instance, createMonotonicClock())),
      ...methodsOf(new WaitingEntries(database)),
      ...methodsOf(new EntryQueries(database)),
      ...methodsOf(new ConversationTable(database)),
      ...methodsOf(rates),
      ...methodsOf(moves),
      ...methodsOf(records),
      blobs,
      recover: () => recover(retention, blobs, instance),
      sweep: async (kept) => {
        while (await rates.sweepSenderRates()) continue;
        return sweep(retention, blobs, kept);
      },
      probe: () => records.setMark('probe', Date.now()),
      assertSound: () => undefined,
      onFatal: () => undefined,
      close: () => database.close(),
    },
    optOuts: new OptOutTable(database),
    renewSummaries: (forms, signal) =>
      new SummaryTable(database, records).renewSummaries({ blobs, forms }, signal),
    openIndex: (index) => new PostgresIndex(database, index),
    operator: {
      restore: (id) => moves.restore(id),
      takeBack: (id, to, reason) => moves.takeBack(id, to, reason),
      audit: (line) => records.audit(line),
      auditLines: (page) => records.auditLines(page),
      record: async (id) => {
        if (!isUuid(id)) return undefined;
        const [row] = await database.query<{ json: string | null; deflated: Uint8Array | null }>(
          'SELECT json, deflated FROM record JOIN entry USING (seq) WHERE id = $1',
          [id],
        );
        const stored: StoredRecord | null | undefined = row?.json ?? row?.deflated;
        return stored === null || stored === undefined ? undefined : decodeRecord(stored);
      },
    },
  };
}

async function recover(
  retention: RetentionTable,
  blobs: BlobFiles,
  instance: string,
): Promise<Recovered> {
  const requeued = await retention.requeueOwn(instance);
  const named = await retention.namedBlobs();
  const files = new Set<BlobName>(await blobs.names());
  const missing = named.filter(({ blob }) => !files.has(blob)).map(({ entry }) => entry);
  for (const { blob } of named) files.delete(blob);
  for (const orphan of files) await blobs.remove(orphan);
  return { requeued, orphans: files.size, missing };
}

async function sweep(retention: RetentionTable, blobs: BlobFiles, kept: Retention): Promise<Swept> {
  const total = { entries: 0, raws: 0, files: 0 };
  for (;;) {
    const swept = await retention.sweep(kept);
    for (const blob of swept.blobs) await blobs.remove(blob);
    total.entries += swept.entries;
    total.raws += swept.raws;
    total.files += swept.blobs.length;
    if (!swept.more) return total;
  }
}
