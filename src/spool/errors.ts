import { dirname } from 'node:path';
import { SetUpUnusable, unusable } from '../domain/trouble.ts';
import { codeOf } from '../runtime/error-code.ts';

/**
 * The spool could not store an entry durably; the sender should try again later (SMTP 451, HTTP
 * 503, chat `busy`). Nothing was stored.
 */
export class SpoolUnavailable extends Error {
  override name = 'SpoolUnavailable';
}

/** The store refuses this call, not the time of it: another call may succeed, and this one will not. */
export class StoreRefuses extends SpoolUnavailable {
  override name = 'StoreRefuses';
}

/** Not enough disk space to accept; deliveries continue (SMTP 452 4.3.1, HTTP 503, chat `busy`). */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

/**
 * The data folder or the database cannot be used: locked by another process, damaged, of a newer
 * version, or not to be reached.
 */
export class SpoolUnusable extends SetUpUnusable {
  override name = 'SpoolUnusable';
}

/** A file of the data folder cannot be used; `explaining` looks for a reason outside the program. */
export class FileUnusable extends SpoolUnusable {
  readonly file: string;
  readonly to: 'used' | 'read';

  constructor(message: string, file: string, to: 'used' | 'read', cause: unknown) {
    super(message, { cause });
    this.file = file;
    this.to = to;
  }
}

/**
 * Whether the store has failed. One flag covers the database's threads, the files and their folder.
 * It is set by the first fsync that fails and stays set until the process ends. From then on
 * nothing is acknowledged, not even what another thread has committed since.
 */
export class StoreFailure {
  /** Shared memory: every thread sees a failure at once and drops results in transit. */
  readonly shared: SharedArrayBuffer;
  readonly #flag: Int32Array;
  readonly #listeners: ((cause: Error) => void)[] = [];
  #cause: Error | undefined;

  /** @param shared that of the thread which opened the store */
  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#flag = new Int32Array(shared);
  }

  get hasFailed(): boolean {
    return Atomics.load(this.#flag, 0) !== 0;
  }

  /** Listeners get the first cause only; later errors are its consequences. */
  fail(cause: Error): void {
    markFailed(this.shared);
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    for (const listener of this.#listeners) listener(cause);
  }

  /** Also called for an earlier failure: while a store is being opened there is no listener. */
  onFail(listener: (cause: Error) => void): void {
    this.#listeners.push(listener);
    if (this.#cause !== undefined) listener(this.#cause);
  }

  /** The error for pending and later calls. */
  get error(): SpoolUnavailable {
    return new SpoolUnavailable('the store has failed', { cause: this.#cause });
  }

  /** @throws {SpoolUnavailable} the store has failed */
  assertSound(): void {
    if (this.hasFailed) throw this.error;
  }
}

/** Called by the failing thread before it reports, so that its results are not used. */
export function markFailed(shared: SharedArrayBuffer): void {
  Atomics.store(new Int32Array(shared), 0, 1);
}

export const isMarked = (shared: SharedArrayBuffer): boolean =>
  Atomics.load(new Int32Array(shared), 0) !== 0;

/** The error for a database of the data folder that cannot be opened. */
export function spoolUnusable(file: string, cause: unknown): SpoolUnusable {
  const reason = cause instanceof Error ? cause.message : 'unknown';
  if (codeOf(cause).startsWith('SQLITE_BUSY')) {
    const message = `${file} is kept busy by another process (${reason})`;
    return new SpoolUnusable(message, { cause, mayPass: true });
  }
  const todo = 'Move it away to start with an empty one, or restore a backup.';
  const message = `${file} cannot be used as a spool: ${reason}. ${todo}`;
  return new FileUnusable(message, file, 'used', cause);
}

/**
 * Runs what uses files of a data folder, and explains why one cannot be used: at once, because a limit
 * may be exhausted for a moment only. The code that knows the reasons is loaded only then.
 * @throws {SpoolUnusable} with the reason and what to do
 */
export async function explaining<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    const { file, to, cause } = error;
    const { databaseTrouble } = await import('../runtime/set-up-trouble.ts');
    const trouble = databaseTrouble(file, cause, { dataDir: dirname(file), to });
    throw trouble === undefined ? error : unusable(trouble, cause, SpoolUnusable);
  }
}
