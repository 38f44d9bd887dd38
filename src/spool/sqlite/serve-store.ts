import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { createMonotonicClock } from '../../runtime/clock.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { explaining, isMarked, markFailed, SpoolUnusable } from '../errors.ts';
import { isServed } from '../locks.ts';
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
export type ToStore =
  | { readonly calls: readonly Call[] }
  /** Another thread calls through this port. */
  | { readonly join: MessagePort }
  | { readonly close: true };

export type FromStore =
  /** The names of the operations. */
  | { readonly ready: readonly OperationName[] }
  | { readonly unusable: string; readonly mayPass: boolean }
  | {
      readonly results: readonly CallResult[];
      /** Told to one of the callers that took part: how long it took, and its calls, of all callers. */
      readonly commit?: { readonly seconds: number; readonly calls: number };
      /** To those that have joined: the commit has new messages in it. */
      readonly accepted?: true;
    }
  | { readonly fatal: string }
  | { readonly closed: true };

const MAX_BATCH = 1000;

/** The operations that accept messages. */
const ACCEPTING: ReadonlySet<OperationName> = new Set(['accept', 'acceptFiled', 'acceptMessage']);

/** Opens the database and runs the calls that arrive at the port, until it is told to close. */
export async function serveStore(port: MessagePort, options: StoreOptions): Promise<void> {
  try {
    const open = () => openDatabase(options.file, options.role);
    await explaining(() => new StoreServer(port, open(), options));
  } catch (error) {
    const unusable: FromStore = {
      unusable: error instanceof Error ? error.message : 'unknown',
      mayPass: error instanceof SpoolUnusable && error.mayPass,
    };
    port.postMessage(unusable);
  }
}

/**
 * Group commit: all calls that arrive during a commit form the next one, whoever makes them. There is
 * no timer, so a single message is committed at once, and fifty messages share one fsync.
 */
class StoreServer {
  /** Of the thread that opened the store, and closes it. */
  readonly #owner: MessagePort;
  readonly #joined = new Set<MessagePort>();
  readonly #store: BatchStore;
  readonly #options: StoreOptions;

  constructor(owner: MessagePort, db: Db, options: StoreOptions) {
    this.#owner = owner;
    this.#options = options;
    this.#store = createOperations(db, createMonotonicClock());
    // The first fsync of a connection also syncs the folder, and SQLite ignores an error of that
    // (os_unix.c, unixSync), so it happens here, before the first acknowledgement.
    if (options.role === 'owner') this.#store.operations.probe();
    this.#serve(owner);
  }

  #join(port: MessagePort): void {
    this.#joined.add(port);
    port.on('close', () => this.#joined.delete(port));
    this.#serve(port);
  }

  #serve(port: MessagePort): void {
    port.on('message', (message: ToStore) => this.#receive(port, message));
    // These are its keys.
    const ready = Object.keys(this.#store.operations) as OperationName[];
    say(port, { ready });
  }

  /** Runs these calls together with all that were posted during the last commit. */
  #receive(from: MessagePort, first: ToStore): void {
    try {
      const { calls, isClosing } = this.#collect(from, first);
      if (calls.size > 0) this.#commit(calls);
      if (isClosing) {
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

  #collect(from: MessagePort, first: ToStore) {
    const calls = new Map<MessagePort, Call[]>();
    let [count, isClosing] = [0, false];
    const take = (port: MessagePort, message: ToStore): void => {
      if ('join' in message) this.#join(message.join);
      else if ('close' in message) isClosing = true;
      else {
        const before = calls.get(port);
        if (before === undefined) calls.set(port, [...message.calls]);
        else before.push(...message.calls);
        count += message.calls.length;
      }
    };
    take(from, first);
    for (let found = true; found && count < MAX_BATCH;) {
      found = false;
      // One message of each in turn, so that none waits for another that has a thousand.
      for (const port of [this.#owner, ...this.#joined]) {
        const message = receiveMessageOnPort(port)?.message as ToStore | undefined;
        if (message === undefined) continue;
        found = true;
        take(port, message);
      }
    }
    return { calls, isClosing };
  }

  #commit(calls: ReadonlyMap<MessagePort, readonly Call[]>): void {
    if (isMarked(this.#options.failed)) {
      throw new StoreFailed('another part of the store has failed');
    }
    const started = performance.now();
    const all = [...calls.values()].flat();
    const results = runBatch(this.#store, all);
    const seconds = (performance.now() - started) / 1000;
    const accepted = all.some(({ name }) => ACCEPTING.has(name)) && { accepted: true as const };
    let from = 0;
    for (const [port, { length }] of calls) {
      const commit = from === 0 && { commit: { seconds, calls: all.length } };
      const own = results.slice(from, from + length);
      say(port, { results: own, ...commit, ...(port !== this.#owner && accepted) });
      from += length;
    }
    if (accepted) {
      for (const port of this.#joined) {
        if (!calls.has(port)) say(port, { results: [], ...accepted });
      }
    }
    this.#boundLog();
    const { role, file } = this.#options;
    if (role === 'beside' && accepted && isServed(dirname(file))) giveWay(seconds);
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

  #end(last: FromStore): void {
    for (const port of [this.#owner, ...this.#joined]) {
      say(port, last);
      port.close();
    }
  }
}

const say = (port: MessagePort, message: FromStore): void => port.postMessage(message);

const GIVE_WAY_MS = { least: 10, most: 100 };

/** A command that ingests leaves the lock to the gateway for four times as long as its commit took. */
function giveWay(seconds: number): void {
  const pause = Math.min(GIVE_WAY_MS.most, Math.max(GIVE_WAY_MS.least, 4 * seconds * 1000));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
}
