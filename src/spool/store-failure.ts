import { SpoolUnavailable } from './errors.ts';

/**
 * Whether the store has failed: one state for the database's threads, the files and their folder. It
 * begins with the first fsync that fails, whichever that is, and ends with the process. From then on
 * nothing is acknowledged, not even what another thread has committed meanwhile.
 */
export class StoreFailure {
  /** Seen by every thread at once: an answer that is on its way from one of them counts no more. */
  readonly shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #flag = new Int32Array(this.shared);
  readonly #listeners: ((cause: Error) => void)[] = [];
  #cause: Error | undefined;

  get hasFailed(): boolean {
    return Atomics.load(this.#flag, 0) !== 0;
  }

  /** The first cause is told to everyone; later ones are its consequences. */
  fail(cause: Error): void {
    markFailed(this.shared);
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    for (const listener of this.#listeners) listener(cause);
  }

  /** Also of a failure that is over: while a store is being opened nobody listens yet. */
  onFail(listener: (cause: Error) => void): void {
    this.#listeners.push(listener);
    if (this.#cause !== undefined) listener(this.#cause);
  }

  /** What whoever waits for the store is told. */
  get error(): SpoolUnavailable {
    return new SpoolUnavailable('the store has failed', { cause: this.#cause });
  }

  /** @throws {SpoolUnavailable} the store has failed */
  assertSound(): void {
    if (this.hasFailed) throw this.error;
  }
}

/** By a thread that saw it happen: before it says anything, so that nobody acts on what it said. */
export function markFailed(shared: SharedArrayBuffer): void {
  Atomics.store(new Int32Array(shared), 0, 1);
}

export const isMarked = (shared: SharedArrayBuffer): boolean =>
  Atomics.load(new Int32Array(shared), 0) !== 0;
