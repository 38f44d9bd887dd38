import { createMonotonicClock } from '../../runtime/clock.ts';
import type { BlobName } from '../../domain/ids.ts';
import type { BlobFiles } from '../blobs.ts';
import { decodeRecord, type StoredRecord } from '../delivery-record.ts';
import type { ChatStore } from '../chat-store.ts';
import type { OperatorStore } from '../operator-store.ts';
import type { OptOutStore } from '../opt-out-store.ts';
import type { Signals } from '../signals.ts';
import type { Recovered, Retention, Spool, Swept } from '../spool.ts';
import { ChatJournal } from './chat-journal.ts';
import { CHAT_FUNCTIONS } from './chat-writes.ts';
import { Database } from './connection.ts';
import { CONVERSATION_FUNCTIONS, ConversationTable, OptOutTable } from './conversations.ts';
import { DELIVERY_FUNCTIONS, PostgresDeliveries } from './deliveries.ts';
import { IDENTITY_FUNCTIONS, VisitorIdentities } from './identities.ts';
import { ACCEPT, PostgresIntake } from './intake.ts';
import { LANE_FUNCTIONS, WaitingEntries } from './lanes.ts';
import { MOVE_FUNCTIONS, OperatorMoves } from './moves.ts';
import { EntryQueries } from './queries.ts';
import { Records } from './records.ts';
import { RETENTION_FUNCTIONS, RetentionTable } from './retention.ts';
import { isUuid } from './rows.ts';
import { methodsOf } from '../methods.ts';
import { makeSchema } from './schema.ts';
import { SENDER_RATE_FUNCTIONS, SenderRateTable } from './sender-rates.ts';
import { PostgresSignals } from './signals.ts';
import { UPLOAD_FUNCTIONS, UploadTable } from './uploads.ts';
import { VISITOR_FUNCTIONS, VisitorTable } from './visitors.ts';

/** In the order in which they are made: a function is made after those that it calls. */
const FUNCTIONS = [
  ...LANE_FUNCTIONS,
  ACCEPT,
  ...DELIVERY_FUNCTIONS,
  ...MOVE_FUNCTIONS,
  ...CONVERSATION_FUNCTIONS,
  ...SENDER_RATE_FUNCTIONS,
  ...RETENTION_FUNCTIONS,
  ...VISITOR_FUNCTIONS,
  ...IDENTITY_FUNCTIONS,
  ...UPLOAD_FUNCTIONS,
  ...CHAT_FUNCTIONS,
];

export interface PostgresSpoolOptions {
  readonly url: string;
  /** Names this gateway in its leases; the same after a restart. */
  readonly instance: string;
  readonly blobs: BlobFiles;
}

export interface PostgresStore {
  readonly spool: Spool;
  readonly chat: ChatStore;
  readonly signals: Signals;
  readonly optOuts: OptOutStore;
  readonly operator: OperatorStore;
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
  const signals = new PostgresSignals(database);
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
      close: async () => {
        await signals.stop();
        await database.close();
      },
    },
    signals,
    chat: {
      ...methodsOf(new VisitorTable(database)),
      ...methodsOf(new VisitorIdentities(database)),
      ...methodsOf(new ChatJournal(database)),
      ...methodsOf(new UploadTable(database)),
    },
    optOuts: new OptOutTable(database),
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
  const missing = named.flatMap(({ blob, entry }) =>
    entry === null || files.has(blob) ? [] : [entry],
  );
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
