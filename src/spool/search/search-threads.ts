import { RpcThread, workerUrl } from '../../runtime/worker-rpc.ts';
import type { EntryIndex, IndexOptions } from '../entry-index.ts';
import { SpoolUnavailable } from '../errors.ts';
import type { Questions, SearchOwner, SearchThread, SearchThreadData } from './search-worker.ts';

/** A gateway that stops sooner, as in a test, does not start the updating thread. */
const FOLLOW_AFTER_MS = 1000;
const FOLLOW_AGAIN_AFTER_MS = 10_000;

/** A low-priority thread may need long to stop on a busy machine. */
const STOP_WITHIN_MS = 20_000;

type Thread = RpcThread<SearchThread, SearchOwner>;

type SearchThreadsOptions = IndexOptions & Pick<SearchThreadData, 'dir'>;

/**
 * The index in `search/search.db`. One thread updates it, in the gateway only. Another answers
 * queries; the first query starts it. Failures of these threads do not affect the spool.
 */
export class SearchThreads implements EntryIndex {
  readonly find = this.#asks('find');
  readonly count = this.#asks('count');
  readonly backlog = this.#asks('backlog');
  readonly summaries = this.#asks('summaries');
  readonly neighbours = this.#asks('neighbours');
  readonly #data: SearchThreadData;
  readonly #onFailure: (reason: string) => void;
  #follower: Thread | undefined;
  #answerer: Thread | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ dir, role, onFailure = () => undefined }: SearchThreadsOptions) {
    this.#data = { dir, updatesFirst: role === 'beside' };
    this.#onFailure = onFailure;
    if (role !== 'beside') this.#followAfter(FOLLOW_AFTER_MS);
  }

  #asks<Name extends keyof Questions>(question: Name) {
    return async (...args: Parameters<Questions[Name]>) => {
      if (this.#closed) throw new SpoolUnavailable('the index is closed');
      this.#answerer ??= this.#start(() => (this.#answerer = undefined));
      try {
        return await this.#answerer.call(question, ...args);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : 'unknown';
        throw new SpoolUnavailable(`the index failed: ${why}`, { cause });
      }
    };
  }

  #followAfter(delayMs: number): void {
    this.#timer = setTimeout(() => this.#follow(), delayMs).unref();
  }

  #follow(): void {
    const thread = this.#start((error) => {
      this.#follower = undefined;
      if (error !== undefined) this.#onFailure(error.name);
      if (!this.#closed) this.#followAfter(FOLLOW_AGAIN_AFTER_MS);
    });
    this.#follower = thread;
    // Rejects when the thread ends, of which it reports the cause.
    thread.call('follow').catch(() => undefined);
  }

  #start(onDeath: (error?: Error) => void): Thread {
    return new RpcThread<SearchThread, SearchOwner>(
      workerUrl(import.meta.url, './search-worker.ts'),
      {
        data: this.#data,
        functions: { failed: (reason) => this.#onFailure(reason) },
        deadlinesMs: { close: STOP_WITHIN_MS },
        onDeath: (_inFlight, error) => onDeath(error),
      },
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([stopped(this.#follower), stopped(this.#answerer)]);
  }
}

async function stopped(thread: Thread | undefined): Promise<void> {
  try {
    await thread?.call('close');
  } catch {
    // It failed, or takes too long: the next process rolls back its open transaction.
    return;
  }
  await thread?.stop();
}
