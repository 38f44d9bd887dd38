import { createMonotonicClock } from '../../runtime/clock.ts';
import { findAuditLines } from '../cold/audit.ts';
import { refusalEnds } from '../cold/refusals.ts';
import { decodeRecord, type StoredRecord } from '../delivery-record.ts';
import type { Fleet } from '../fleet.ts';
import type { Store } from '../store.ts';
import { sweepStore } from '../sweep.ts';
import { SpoolUnusable } from '../errors.ts';
import { ScratchFiles } from '../scratch.ts';
import { openBudgets } from './budgets.ts';
import { postgresBlobs, type SharedBlobs } from './blobs.ts';
import { chatJournal } from './chat-journal.ts';
import { Database } from './connection.ts';
import { coldOperations } from './cold-operations.ts';
import { conversationTable } from './conversations.ts';
import { PostgresDeliveries } from './deliveries.ts';
import { admitKeys, fleetTable } from './fleet.ts';
import { openEraser } from './erasure.ts';
import type { Eraser } from '../erasure.ts';
import type { EntryIndex, IndexOptions } from '../entry-index.ts';
import { PostgresIndex } from './entry-index.ts';
import { PostgresIntake } from './intake.ts';
import { waitingEntries } from './lanes.ts';
import { leaseTable } from './leases.ts';
import { operatorMoves } from './moves.ts';
import { entryQueries } from './queries.ts';
import { retentionTable } from './retention.ts';
import { isUuid } from './rows.ts';
import { methodsOf } from '../methods.ts';
import { assertNotMoved } from './moved.ts';
import { makeSchema } from './schema.ts';
import { renewSummaries } from './summaries.ts';
import { senderRateTable } from './sender-rates.ts';
import { PostgresSignals } from './signals.ts';
import { uploadTable } from './uploads.ts';

export interface PostgresSpoolOptions {
  readonly url: string;
  /** Names this gateway in its leases; the same after a restart. */
  readonly instance: string;
  /** Fingerprints of the gateway's keys; none of a command, which uses no key. */
  readonly keys?: readonly string[];
  /** Where large raw forms are: an `s3://` URL; in the database without one. */
  readonly s3?: string | undefined;
  /** For copies of blobs; of this process alone, and emptied. */
  readonly scratchFolder: string;
}

/** Without what belongs to the data folder of a gateway. */
export interface PostgresStore extends Omit<Store, 'files' | 'neededBytes' | 'sharing'> {
  readonly fleet: Fleet;
  /** Close it before the store. */
  readonly openIndex: (options: IndexOptions) => EntryIndex;
  readonly openEraser: () => Eraser;
}

/**
 * Opens the store in a PostgreSQL database and makes its schema.
 * @throws {SpoolUnusable} the schema is of a newer version, or the other gateways have other keys
 * @throws {SpoolUnavailable} the database cannot be reached
 */
export async function openPostgresStore(options: PostgresSpoolOptions): Promise<PostgresStore> {
  const { url, instance, keys, s3 } = options;
  const database = new Database(url);
  try {
    await makeStoreSchema(database);
    await assertNotMoved(database);
    if (keys !== undefined && !(await admitKeys(database, keys))) {
      throw new SpoolUnusable(
        "the gateways with this database have other keys, so this one could not read their visitors' tokens. " +
          'Copy keys.json from the data folder of one of them into that of this one.',
      );
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  const scratch = new ScratchFiles(options.scratchFolder);
  const blobs = await openBlobs({ database, s3, scratch });
  const cold = coldOperations(database);
  const moves = operatorMoves(database);
  const rates = senderRateTable(database);
  const retention = retentionTable(database);
  const signals = new PostgresSignals(database);
  const leases = leaseTable(database);
  const waiting = waitingEntries(database, leases);
  return {
    spool: {
      ...methodsOf(new PostgresIntake(database)),
      ...methodsOf(new PostgresDeliveries(database, instance, createMonotonicClock())),
      ...waiting,
      ...entryQueries(database),
      ...conversationTable(database),
      ...rates,
      ...moves,
      ...cold,
      ...refusalEnds({ ...waiting, ...cold }),
      blobs,
      recover: async () => ({
        requeued: await retention.requeueOwn(instance),
        orphans: await blobs.sweep(),
        missing: await retention.withoutBlob(),
      }),
      sweep: async (kept) => {
        const tables = { ...retention, ...rates };
        const swept = await sweepStore(tables, blobs, kept);
        await blobs.sweep();
        return swept;
      },
      probe: () => cold.setMark('probe', Date.now()),
      assertSound: () => undefined,
      onFatal: () => undefined,
      close: async () => {
        await scratch.close();
        await signals.stop();
        blobs.close();
        await database.close();
      },
    },
    signals,
    chat: {
      ...cold,
      ...chatJournal(database),
      ...uploadTable(database),
    },
    optOuts: cold,
    apiTokens: cold,
    leases,
    fleet: fleetTable({ database, blobs, instance }),
    openBudget: openBudgets(database),
    renewSummaries: (forms, signal) => renewSummaries(database, cold, { blobs, forms }, signal),
    openIndex: (index) => new PostgresIndex(database, index),
    openEraser: () => openEraser(database, blobs),
    operator: {
      ...moves,
      audit: (line) => cold.audit(line),
      auditLines: (page) => findAuditLines(cold, page),
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

/** Makes the tables and functions of the whole store: this file imports all that define a function. */
export const makeStoreSchema = makeSchema;

/** The SDK of S3 is loaded only where it is used. */
export async function openBlobs(options: {
  readonly database: Database;
  readonly s3: string | undefined;
  readonly scratch: ScratchFiles;
}): Promise<SharedBlobs> {
  const { database, s3, scratch } = options;
  if (s3 === undefined) return postgresBlobs(database, scratch);
  return (await import('./s3-blobs.ts')).openS3Blobs({ url: s3, database, scratch });
}
