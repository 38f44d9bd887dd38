import { performance } from 'node:perf_hooks';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { createMonotonicClock } from '../../runtime/clock.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { isMarked, markFailed, SpoolUnusable } from '../errors.ts';
import { type Db, logBytes, MAX_LOG_BYTES, openDatabase } from './database.ts';
import {
  type BatchStore,
  type Call,
  type CallResult,
  createOperations,
  type OperationName,
  runBatch,
  StoreFailed,
} from './operations.ts';

export interface StoreOptions {
  readonly file: string;
  /** `owner`: the gateway of this data folder. */
  readonly role: 'owner' | 'beside';
  /** `StoreFailure.shared` of the store. */
  readonly failed: SharedArrayBuffer;
}

/** To the database's side. */
export type ToStore = { readonly calls: readonly Call[] } | { readonly close: true };

export type FromStore =
  /** The names of the operations. */
  | { readonly ready: readonly OperationName[] }
  | { readonly unusable: string; readonly mayPass: boolean }
  | {
      readonly results: readonly CallResult[];
      /** How long the commit took, in seconds. */
      readonly seconds: number;
    }
  | { readonly fatal: string }
  | { readonly closed: true };

const MAX_BATCH = 1000;

/** Opens the database and runs the calls that arrive at the port, until it is told to close. */
export function serveStore(port: MessagePort, options: StoreOptions): void {
  const say = (message: FromStore): void => port.postMessage(message);
  try {
    const server = new StoreServer(port, openDatabase(options.file, options.role), options);
    port.on('message', (message: ToStore) => server.receive(message));
    say({ ready: server.operations });
  } catch (error) {
    say({
      unusable: error instanceof Error ? error.message : 'unknown',
      mayPass: error instanceof SpoolUnusable && error.mayPass,
    });
  }
}

/**
 * Group commit: all calls that arrive during a commit form the next one. There is no timer, so a
 * single message is committed at once, and fifty messages share one fsync.
 */
class StoreServer {
  readonly #port: MessagePort;
  readonly #store: BatchStore;
  readonly #options: StoreOptions;

  constructor(port: MessagePort, db: Db, options: StoreOptions) {
    this.#port = port;
    this.#options = options;
    const made = createOperations(db, createMonotonicClock());
    this.#store = { db, ...made };
    // The first fsync of a connection also syncs the folder, and SQLite ignores an error of that
    // (os_unix.c, unixSync), so it happens here, before the first acknowledgement.
    if (options.role === 'owner') made.operations.probe();
  }

  get operations(): readonly OperationName[] {
    // These are its keys.
    return Object.keys(this.#store.operations) as OperationName[];
  }

  /** Runs these calls together with all that were posted during the last commit. */
  receive(first: ToStore): void {
    let calls: Call[] = [];
    let closing = false;
    try {
      for (let message: ToStore | undefined = first; message !== undefined;) {
        if ('close' in message) closing = true;
        else calls = calls.length === 0 ? [...message.calls] : calls.concat(message.calls);
        message = calls.length < MAX_BATCH ? this.#next() : undefined;
      }
      if (calls.length > 0) this.#commit(calls);
      if (closing) {
        this.#store.db.close();
        this.#end({ closed: true });
      }
    } catch (error) {
      // After a failed fsync the kernel may have dropped the dirty pages, so a second fsync that
      // succeeds proves nothing. The process has to restart from what is on the disk.
      markFailed(this.#options.failed);
      this.#end({ fatal: error instanceof StoreFailed ? error.message : String(error) });
    }
  }

  #next(): ToStore | undefined {
    return receiveMessageOnPort(this.#port)?.message as ToStore | undefined;
  }

  #commit(calls: readonly Call[]): void {
    if (isMarked(this.#options.failed)) {
      throw new StoreFailed('another part of the store has failed');
    }
    const started = performance.now();
    const results = runBatch(this.#store, calls);
    this.#say({ results, seconds: (performance.now() - started) / 1000 });
    this.#boundLog();
  }

  /** Replaces SQLite's automatic checkpoint, which hides errors (wal.c, sqlite3WalDefaultHook). */
  #boundLog(): void {
    if (logBytes(this.#options.file) <= MAX_LOG_BYTES) return;
    try {
      this.#store.db.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_FULL') throw error;
    }
  }

  #say(message: FromStore): void {
    this.#port.postMessage(message);
  }

  #end(last: FromStore): void {
    this.#say(last);
    this.#port.close();
  }
}
