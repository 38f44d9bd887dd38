import type { Db } from './database.ts';
import type { ErasedKeys } from './erased-keys.ts';
import type { FreshEntries } from './fresh-entries.ts';
import type { Operations } from './operations.ts';
import type { Call, CallResult } from './store-client.ts';
import { codeOf } from '../../runtime/error-code.ts';

/** The store has failed: it is uncertain what is on the disk. Never retried. */
export class StoreFailed extends Error {
  override name = 'StoreFailed';
}

export interface BatchStore {
  readonly db: Db;
  readonly operations: Operations;
  readonly fresh: FreshEntries;
  readonly erased: Pick<ErasedKeys, 'refresh'>;
}

/**
 * Runs calls as one transaction with one fsync. When one throws, the batch is rolled back and each
 * call is run again in a transaction of its own, so that only the faulty call fails.
 * @throws {StoreFailed} the commit or its fsync failed, or the file is damaged
 */
export function runBatch(store: BatchStore, calls: readonly Call[]): CallResult[] {
  const { db, operations, fresh, erased } = store;
  try {
    fresh.begin();
    return transact(db, () => {
      erased.refresh();
      return calls.map((call) => ({ id: call.id, ok: true, value: run(operations, call) }));
    });
  } catch (error) {
    fresh.rollBack();
    assertRecoverable(error);
    const [only] = calls;
    if (calls.length === 1 && only !== undefined) return [failure(only, error)];
    return calls.flatMap((call) => runBatch(store, [call]));
  }
}

function transact<T>(db: Db, work: () => T): T {
  return db.transaction(work).immediate();
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
