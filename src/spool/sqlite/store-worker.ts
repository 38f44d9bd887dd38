import { performance } from 'node:perf_hooks';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createMonotonicClock } from '../../runtime/clock.ts';
import { SpoolUnusable } from '../errors.ts';
import { isMarked, markFailed } from '../store-failure.ts';
import { runBatch, StoreFailed } from './batch.ts';
import { logBytes, MAX_LOG_BYTES, openDatabase } from './database.ts';
import { createOperations, type OperationName } from './operations.ts';
import type { Call, FromWorker, ToWorker, WorkerOptions } from './store-client.ts';
import { codeOf } from '../../runtime/error-code.ts';

/**
 * The thread that owns the database. Group commit: whatever has arrived while a commit was
 * running is taken together into the next one, with no timer, so that a lone message never waits
 * for company and fifty together cost one fsync.
 */
const MAX_BATCH = 1000;

const port = parentPort;
if (port === null) throw new Error('the store worker runs in a worker thread');
// `workerData` is what store-client.ts passes, of this very type.
const { file, role, failed } = workerData as WorkerOptions;
const say = (message: FromWorker): void => port.postMessage(message);

try {
  const db = openDatabase(file, role);
  const store = { db, ...createOperations(db, createMonotonicClock()) };
  let closing = false;

  const commit = (calls: readonly Call[]): void => {
    if (isMarked(failed)) throw new StoreFailed('another part of the store has failed');
    const started = performance.now();
    const results = runBatch(store, calls);
    say({ results, seconds: (performance.now() - started) / 1000 });
    boundLog();
  };

  /** SQLite's own automatic checkpoint keeps its errors to itself (wal.c, sqlite3WalDefaultHook). */
  const boundLog = (): void => {
    if (logBytes(file) <= MAX_LOG_BYTES) return;
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_FULL') throw error;
    }
  };

  // The first sync of a connection syncs the folder too, and SQLite keeps a failure of that to
  // itself (os_unix.c, unixSync): it is made before the first acknowledgement.
  if (role === 'owner') store.operations.probe();

  port.on('message', (first: ToWorker) => {
    let calls: Call[] = [];
    let message: ToWorker | undefined = first;
    try {
      while (message !== undefined) {
        if ('close' in message) closing = true;
        else calls = calls.length === 0 ? [...message.calls] : calls.concat(message.calls);
        // Everything posted while the last commit ran is waiting here.
        message =
          calls.length < MAX_BATCH
            ? (receiveMessageOnPort(port)?.message as ToWorker | undefined)
            : undefined;
      }
      if (calls.length > 0) commit(calls);
      if (closing) {
        db.close();
        say({ closed: true });
        port.close();
      }
    } catch (error) {
      // After a failed fsync the kernel may have dropped the dirty pages: a second fsync that
      // succeeds would prove nothing. The process has to start again from what is on disk.
      markFailed(failed);
      const reason = error instanceof StoreFailed ? error.message : String(error);
      say({ fatal: reason });
      port.close();
    }
  });
  say({ ready: Object.keys(store.operations) as OperationName[] });
} catch (error) {
  say({
    unusable: error instanceof Error ? error.message : 'unknown',
    mayPass: error instanceof SpoolUnusable && error.mayPass,
  });
}
