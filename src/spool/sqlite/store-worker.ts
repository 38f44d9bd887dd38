import { performance } from 'node:perf_hooks';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createMonotonicClock } from '../../runtime/clock.ts';
import { isMarked, markFailed, SpoolUnusable } from '../errors.ts';
import {
  type Call,
  createOperations,
  type OperationName,
  runBatch,
  StoreFailed,
} from './operations.ts';
import { logBytes, MAX_LOG_BYTES, openDatabase } from './database.ts';
import type { FromWorker, ToWorker, WorkerOptions } from './store-client.ts';
import { codeOf } from '../../runtime/error-code.ts';

/**
 * The thread that owns the database. Group commit: all calls that arrive during a commit form the
 * next one. There is no timer, so a single message is committed at once, and fifty messages share
 * one fsync.
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

  /** Replaces SQLite's automatic checkpoint, which hides errors (wal.c, sqlite3WalDefaultHook). */
  const boundLog = (): void => {
    if (logBytes(file) <= MAX_LOG_BYTES) return;
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_FULL') throw error;
    }
  };

  // The first fsync of a connection also syncs the folder, and SQLite ignores an error of that
  // (os_unix.c, unixSync), so it happens here, before the first acknowledgement.
  if (role === 'owner') store.operations.probe();

  port.on('message', (first: ToWorker) => {
    let calls: Call[] = [];
    let message: ToWorker | undefined = first;
    try {
      while (message !== undefined) {
        if ('close' in message) closing = true;
        else calls = calls.length === 0 ? [...message.calls] : calls.concat(message.calls);
        // Takes all messages that were posted during the last commit.
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
      // After a failed fsync the kernel may have dropped the dirty pages, so a second fsync that
      // succeeds proves nothing. The process has to restart from what is on the disk.
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
