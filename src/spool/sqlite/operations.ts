import type { Clock } from '../../runtime/clock.ts';
import type { ShopId } from '../../domain/ids.ts';
import { methodsOf } from '../methods.ts';
import { ChatJournal } from './chat-journal.ts';
import { coldOperations } from './cold-operations.ts';
import { ConversationTable } from './lane-tables.ts';
import { type Db, whenFree } from './database.ts';
import { EntryQueries } from './entry-queries.ts';
import { type BacklogLimits, EntryTable } from './entry-table.ts';
import { ErasedKeys } from './erased-keys.ts';
import { FreshEntries } from './fresh-entries.ts';
import { LaneHeads, WaitingEntries } from './lanes.ts';
import { NameTable } from './name-table.ts';
import { OperatorMoves } from './operator-moves.ts';
import { RetentionTable } from './retention.ts';
import { SenderRateTable } from './sender-rate-table.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { numberOf } from '../../runtime/sqlite-schema.ts';

const BACKLOG: BacklogLimits = { mostFresh: 200_000, filedAtOnce: 2000 };

/**
 * All operations of the database's thread: the public methods of the tables, by their names. Most
 * are methods of the store's ports (`spool.ts`, `chat-store.ts`, `operator-store.ts`,
 * `opt-out-store.ts`, `api-token-store.ts`); only `open.ts`, `delivery-spool.ts` or another table calls the rest, such as `acceptFiled`. Each is
 * synchronous, runs in the transaction of its batch, and takes and returns only values that can be
 * cloned to another thread.
 */
export function createOperations(db: Db, clock: Clock, backlog = BACKLOG) {
  const [fresh, erased] = [new FreshEntries(db), new ErasedKeys(db)];
  const [lanes, names] = [new LaneHeads(db), new NameTable(db)];
  const context = { db, clock, fresh, erased, lanes, names };
  const conversations = new ConversationTable(context);
  const entries = new EntryTable(context, conversations, backlog);
  const waiting = new WaitingEntries(db, clock, lanes);
  const cold = coldOperations(db, clock, erased);
  const queries = methodsOf(new EntryQueries(context, entries));
  const operations = {
    ...methodsOf(entries),
    ...methodsOf(new OperatorMoves(context, entries)),
    ...methodsOf(waiting),
    ...queries,
    ...methodsOf(conversations),
    ...methodsOf(new ChatJournal(db, entries, cold)),
    ...methodsOf(names),
    ...methodsOf(new SenderRateTable(context)),
    ...probeOperations(db),
    ...cold,
    ...methodsOf(new RetentionTable(context)),
  };
  // `status` must answer while a gateway hangs in a transaction.
  const reading: readonly (keyof typeof operations)[] = [
    'shopHealth',
    'auditPortion',
    'apiTokenOf',
    'apiTokens',
    'get',
    'raw',
    'list',
    'timeline',
  ];
  /** The names of those that never write. */
  const readOnly = new Set<string>([...Object.keys(queries), ...reading]);
  return { db, operations, readOnly, fresh, erased };
}

export type BatchStore = ReturnType<typeof createOperations>;
export type Operations = BatchStore['operations'];
export type OperationName = keyof Operations;

export interface Call {
  readonly id: number;
  readonly name: OperationName;
  readonly args: readonly unknown[];
}

/**
 * `full`: no space, try again when there is some. `bug`: this call failed and stored nothing. A
 * failure of the store itself is reported as `fatal` instead.
 */
export type CallResult =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly kind: 'full' | 'bug';
      readonly message: string;
    };

function probeOperations(db: Db) {
  const write = db.prepare(`PRAGMA user_version = ${numberOf(db)}`);
  const request = db.prepare(`INSERT OR IGNORE INTO probe_requests (shop) VALUES (?)`);
  const take = db.prepare<[string], { shop: ShopId }>(
    `DELETE FROM probe_requests WHERE shop IN (SELECT value FROM json_each(?)) RETURNING shop`,
  );
  return {
    /** A write without effect, committed and fsynced like any other. */
    probe: () => void write.run(),
    /** Operators' requests for a probe. In PostgreSQL every gateway takes each of them (`deliveries.ts`). */
    requestProbe: (shopId: ShopId) => void request.run(shopId),
    takeProbeRequests: (shops: readonly ShopId[]): readonly ShopId[] =>
      take.all(JSON.stringify(shops)).map(({ shop }) => shop),
  };
}

/** The store has failed: it is uncertain what is on the disk. Never retried. */
export class StoreFailed extends Error {
  override name = 'StoreFailed';
}

/**
 * Runs calls as one transaction with one fsync. When one throws, the batch is rolled back and each
 * call is run again in a transaction of its own, so that only the faulty call fails.
 * @throws {StoreFailed} the commit or its fsync failed, or the file is damaged
 */
export function runBatch(store: BatchStore, calls: readonly Call[]): CallResult[] {
  const { db, operations, readOnly, fresh, erased } = store;
  try {
    fresh.begin();
    const work = db.transaction((): CallResult[] => {
      erased.refresh();
      return calls.map((call) => ({ id: call.id, ok: true, value: run(operations, call) }));
    });
    // A command that only reads must neither wait for the gateway's commits nor delay them.
    const isReading = calls.every(({ name }) => readOnly.has(name));
    return whenFree(db, () => (isReading ? work.deferred() : work.immediate()));
  } catch (error) {
    fresh.rollBack();
    assertRecoverable(error);
    const [only] = calls;
    if (calls.length === 1 && only !== undefined) return [failure(only, error)];
    return calls.flatMap((call) => runBatch(store, [call]));
  }
}

function run(operations: Operations, call: Call): unknown {
  // The arguments were typed by the one caller, `StoreClient.call`, under the same name.
  const operation = operations[call.name] as (...args: readonly unknown[]) => unknown;
  return operation(...call.args);
}

/** I/O errors, fsync included, and damage fail the store; any other error fails only the call. */
function assertRecoverable(error: unknown): void {
  if (/^SQLITE_(IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/.test(codeOf(error))) {
    throw new StoreFailed(codeOf(error), { cause: error });
  }
}

function failure(call: Call, error: unknown): CallResult {
  const message = error instanceof Error ? error.message : 'unknown';
  const kind = codeOf(error) === 'SQLITE_FULL' ? 'full' : 'bug';
  return { id: call.id, ok: false, kind, message: `${call.name}: ${message}` };
}
