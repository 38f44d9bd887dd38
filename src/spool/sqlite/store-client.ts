import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../runtime/worker-url.ts';
import { SpoolFull, SpoolUnavailable, SpoolUnusable } from '../errors.ts';
import type { OperationName, Operations } from './operations.ts';
import type { Call, CallResult, FromWorker, ToWorker, WorkerOptions } from './protocol.ts';

/**
 * In a long turn of the event loop the thread begins while this one still works: under load the
 * two would take turns otherwise.
 */
const POST_AT = 16;
/** The log has to grow first, and a store that lives shorter needs no thread for it. */
const CHECKPOINTS_AFTER_MS = 1000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Called after each commit with its duration and how many calls shared it. */
export type OnCommit = (seconds: number, calls: number) => void;

/**
 * The gateway's side of the database's thread. Calls made in one turn of the event loop travel
 * together; each promise settles after the commit that holds its call.
 */
export class StoreClient {
  readonly #worker: Worker;
  #checkpoints: Worker | undefined;
  #checkpointsTimer: NodeJS.Timeout | undefined;
  readonly #onCommit: OnCommit;
  readonly #pending = new Map<number, Pending>();
  readonly #fatalListeners: ((error: Error) => void)[] = [];
  #outgoing: Call[] = [];
  #lastId = 0;
  #failed: Error | undefined;
  #closed: (() => void) | undefined;

  private constructor(worker: Worker, onCommit: OnCommit) {
    this.#worker = worker;
    this.#onCommit = onCommit;
  }

  /** @throws {SpoolUnusable} the database cannot be opened */
  static async open(options: WorkerOptions, onCommit: OnCommit): Promise<StoreClient> {
    const worker = new Worker(workerUrl(import.meta.url, './store-worker.ts'), {
      workerData: options,
    });
    const client = new StoreClient(worker, onCommit);
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', (message: FromWorker) => {
        worker.off('error', reject);
        if ('ready' in message) {
          resolve();
          return;
        }
        const reason = 'unusable' in message ? message.unusable : 'it did not start';
        reject(new SpoolUnusable(reason));
      });
    });
    worker.on('message', (message: FromWorker) => client.#receive(message));
    worker.on('error', (error) => client.#fail(error));
    worker.on('exit', () => client.#fail(new Error('the database thread ended')));
    if (options.checkpoints) client.#startCheckpointsLater(options);
    return client;
  }

  #startCheckpointsLater(options: WorkerOptions): void {
    this.#checkpointsTimer = setTimeout(() => {
      const url = workerUrl(import.meta.url, './checkpoint-worker.ts');
      this.#checkpoints = new Worker(url, { workerData: options });
      this.#checkpoints.on('error', (error) => this.#fail(error));
    }, CHECKPOINTS_AFTER_MS).unref();
  }

  async #stopCheckpoints(): Promise<void> {
    clearTimeout(this.#checkpointsTimer);
    const worker = this.#checkpoints;
    if (worker === undefined || worker.threadId === -1) return;
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
    });
    worker.postMessage('stop');
    await exited;
  }

  onFatal(listener: (error: Error) => void): void {
    this.#fatalListeners.push(listener);
  }

  call<Name extends OperationName>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    if (this.#failed !== undefined || this.#closed !== undefined) {
      return Promise.reject(new SpoolUnavailable('the spool is closed', { cause: this.#failed }));
    }
    const id = ++this.#lastId;
    // After everything that came in with this turn of the loop: one message to the thread for
    // all of it. Waking it for each would cost more than the call.
    if (this.#outgoing.length === 0) setImmediate(() => this.#send());
    this.#outgoing.push({ id, name, args });
    const result = new Promise<ReturnType<Operations[Name]>>((resolve, reject) => {
      // The worker answers call `id` with the result of operation `name`.
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
    if (this.#outgoing.length >= POST_AT) this.#send();
    return result;
  }

  #send(): void {
    const calls = this.#outgoing;
    this.#outgoing = [];
    if (calls.length > 0 && this.#failed === undefined) this.#post({ calls });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    if ('results' in message) {
      this.#onCommit(message.seconds, message.results.length);
      for (const result of message.results) this.#settle(result);
    } else if ('fatal' in message) {
      this.#fail(new SpoolUnavailable(`the spool failed: ${message.fatal}`));
    } else if ('closed' in message) {
      this.#closed?.();
    }
  }

  #settle(result: CallResult): void {
    const pending = this.#pending.get(result.id);
    this.#pending.delete(result.id);
    if (pending === undefined) return;
    if (result.ok) pending.resolve(result.value);
    else if (result.kind === 'full') pending.reject(new SpoolFull(result.message));
    else pending.reject(new SpoolUnavailable(result.message));
  }

  #fail(cause: Error): void {
    const wasOpen = this.#failed === undefined && this.#closed === undefined;
    this.#failed ??= cause;
    for (const { reject } of this.#pending.values()) {
      reject(new SpoolUnavailable('the spool failed', { cause }));
    }
    this.#pending.clear();
    this.#closed?.();
    if (wasOpen) for (const listener of this.#fatalListeners) listener(cause);
  }

  /** Commits what was called before, then closes the database. */
  async close(): Promise<void> {
    if (this.#closed !== undefined) return;
    await this.#stopCheckpoints();
    this.#send();
    if (this.#failed === undefined) {
      await new Promise<void>((resolve) => {
        this.#closed = resolve;
        this.#post({ close: true });
      });
    }
    this.#closed ??= () => undefined;
    await this.#worker.terminate();
  }
}
