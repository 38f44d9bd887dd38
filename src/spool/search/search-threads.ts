import { Worker } from 'node:worker_threads';
import { join } from 'node:path';
import { workerUrl } from '../../runtime/worker-threads.ts';
import type { EntryId } from '../../domain/ids.ts';
import type { EntryIndex, EntrySearch } from '../entry-index.ts';
import { SpoolUnavailable } from '../errors.ts';
import { indexFileOf, removeIndex } from './index-database.ts';
import type { SearchFiles } from './open-search.ts';
import type {
  FromSearchWorker,
  Question,
  Questions,
  SearchWorkerOptions,
  ToSearchWorker,
} from './search-worker.ts';

/** A gateway that stops sooner, as in a test, does not start the updating thread. */
const FOLLOW_AFTER_MS = 1000;
const FOLLOW_AGAIN_AFTER_MS = 10_000;

/** A low-priority thread may need long to stop on a busy machine. */
const STOP_WITHIN_MS = 20_000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface SearchThreadsOptions {
  /** The data folder, with a store. */
  readonly dir: string;
  /** `owner`: the gateway, which updates the index. `guest`: a command beside it or without one. */
  readonly role: 'owner' | 'guest';
  /** The updating thread failed, for this reason (a code or the error's name). */
  readonly onFailure?: (reason: string) => void;
}

/**
 * The index in `search/search.db`: a thread that updates it, in the gateway only, and one that
 * answers queries, started by the first one. Failures of these threads do not affect the spool.
 */
export class SearchThreads implements EntryIndex {
  readonly #files: SearchFiles;
  readonly #isOwner: boolean;
  readonly #onFailure: (reason: string) => void;
  #follower: Worker | undefined;
  #answerer: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #closed = false;

  constructor({ dir, role, onFailure = () => undefined }: SearchThreadsOptions) {
    this.#files = { spoolFile: join(dir, 'spool.db'), indexFile: indexFileOf(dir) };
    this.#onFailure = onFailure;
    this.#isOwner = role === 'owner';
    if (!this.#isOwner) return;
    // The place of the index in earlier versions.
    removeIndex(join(dir, 'search.db'));
    this.#followAfter(FOLLOW_AFTER_MS);
  }

  find(search: EntrySearch) {
    return this.#ask('find', search);
  }

  count(filters: Omit<EntrySearch, 'before' | 'limit'>, most: number) {
    return this.#ask('count', filters, most);
  }

  backlog() {
    return this.#ask('backlog');
  }

  summaries(ids: readonly EntryId[]) {
    return this.#ask('summaries', ids);
  }

  neighbours(id: EntryId) {
    return this.#ask('neighbours', id);
  }

  #ask<Name extends Question>(
    question: Name,
    ...args: Parameters<Questions[Name]>
  ): Promise<ReturnType<Questions[Name]>> {
    if (this.#closed) return Promise.reject(new SpoolUnavailable('the index is closed'));
    const worker = (this.#answerer ??= this.#startAnswerer());
    const id = ++this.#lastId;
    return new Promise<ReturnType<Questions[Name]>>((resolve, reject) => {
      // The worker answers question `id` with what `question` returns.
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#tell(worker, { id, question, args });
    });
  }

  #followAfter(delayMs: number): void {
    this.#timer = setTimeout(() => this.#startFollower(), delayMs).unref();
  }

  #startFollower(): void {
    const worker = this.#start('follow');
    this.#follower = worker;
    worker.on('message', ({ failure }: FromSearchWorker) => {
      if (failure !== undefined) this.#onFailure(failure);
    });
    worker.on('error', (error) => this.#onFailure(error.name));
    worker.on('exit', () => {
      this.#follower = undefined;
      if (!this.#closed) this.#followAfter(FOLLOW_AGAIN_AFTER_MS);
    });
  }

  #startAnswerer(): Worker {
    const worker = this.#start(this.#isOwner ? 'answer' : 'both');
    worker.on('message', ({ id, value, failure }: FromSearchWorker) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (failure === undefined) pending?.resolve(value);
      else pending?.reject(new SpoolUnavailable(`the index: ${failure}`));
    });
    const failed = (cause?: Error): void => {
      this.#answerer = undefined;
      for (const { reject } of this.#pending.values()) {
        reject(new SpoolUnavailable('the index failed', { cause }));
      }
      this.#pending.clear();
    };
    worker.on('error', failed);
    worker.on('exit', () => failed());
    return worker;
  }

  #start(role: SearchWorkerOptions['role']): Worker {
    const worker = new Worker(workerUrl(import.meta.url, './search-worker.ts'), {
      workerData: { ...this.#files, role },
    });
    // A command can exit whatever the index is doing.
    worker.unref();
    return worker;
  }

  #tell(worker: Worker, message: ToSearchWorker): void {
    worker.postMessage(message);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#stop(this.#follower), this.#stop(this.#answerer)]);
  }

  async #stop(worker: Worker | undefined): Promise<void> {
    if (worker === undefined) return;
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
      // The next process rolls back the open transaction.
      setTimeout(resolve, STOP_WITHIN_MS).unref();
    });
    worker.ref();
    this.#tell(worker, { stop: true });
    await exited;
    worker.unref();
  }
}
