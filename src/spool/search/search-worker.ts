import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf } from '../../runtime/error-code.ts';
import { OpenSearch, type SearchFiles } from './open-search.ts';
import type { SearchIndex } from './search-index.ts';

export interface SearchWorkerOptions extends SearchFiles {
  /**
   * `follow`: keeps the index up to date with the spool, at low priority. `answer`: answers
   * queries. `both`: updates the index before each answer; for a command.
   */
  readonly role: 'follow' | 'answer' | 'both';
}

export interface Questions {
  readonly find: SearchIndex['find'];
  readonly count: SearchIndex['count'];
  readonly summaries: SearchIndex['summaries'];
  readonly neighbours: SearchIndex['neighbours'];
  readonly backlog: () => number;
}
export type Question = keyof Questions;

export type ToSearchWorker =
  | { readonly id: number; readonly question: Question; readonly args: readonly unknown[] }
  | { readonly stop: true };

export interface FromSearchWorker {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: string;
}

/** A thread of the index: it updates the index from the spool, or answers queries, or both. */
const LOOK_EVERY_MS = 500;
/** The pause after a failure, for example because of a full disk. */
const AGAIN_AFTER_MS = 5000;
/** How long a command updates the index before it answers. */
const COMMAND_WAITS_MS = 2000;

const port = parentPort;
if (port === null) throw new Error('the search worker runs in a worker thread');
// `workerData` is what search-threads.ts passes, of this very type.
const options = workerData as SearchWorkerOptions;
const open = new OpenSearch(options);
let timer: NodeJS.Timeout | undefined;
let failures = 0;

const questions: Questions = {
  find: (search) => open.with(({ search: index }) => index.find(search)),
  count: (filters, most) => open.with(({ search: index }) => index.count(filters, most)),
  summaries: (ids) => open.with(({ search: index }) => index.summaries(ids)),
  neighbours: (id) => open.with(({ search: index }) => index.neighbours(id)),
  backlog: () => open.with(({ follow }) => follow.backlog()),
};

function follow(): void {
  let more = false;
  try {
    more = open.with(({ follow }) => follow.step());
    failures = 0;
  } catch (error) {
    failures += 1;
    if (failures === 1) tellFailure(error);
    open.close();
    // Errors with a code, such as a lock, may be temporary and are retried for ever. Any other one
    // ends the thread after ten retries, which is reported.
    if (codeOf(error) === '' && failures > 10) throw error;
  }
  const pause = failures > 0 ? AGAIN_AFTER_MS : LOOK_EVERY_MS;
  // A timer even without a pause, so that messages which arrived meanwhile are handled.
  timer = setTimeout(follow, more ? 0 : pause);
}

/** Id 0: the failure answers no question. */
function tellFailure(error: unknown): void {
  const failure = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  port?.postMessage({ id: 0, failure } satisfies FromSearchWorker);
}

function answer({ id, question, args }: Extract<ToSearchWorker, { id: number }>): FromSearchWorker {
  try {
    if (options.role === 'both') open.catchUp(COMMAND_WAITS_MS);
    // The arguments were typed by the one caller, `SearchThreads.ask`, under the same name.
    const ask = questions[question] as (...args: readonly unknown[]) => unknown;
    return { id, value: ask(...args) };
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : 'unknown' };
  }
}

/**
 * Lowers this thread's priority to about a tenth of the processor time that others get under
 * contention. On Linux each thread has a priority of its own, by its thread id; elsewhere the call
 * would affect the whole process, so nothing is changed.
 */
function runAtLowPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Without /proc the thread keeps its normal priority.
  }
}

port.on('message', (message: ToSearchWorker) => {
  if ('id' in message) port.postMessage(answer(message));
  else {
    clearTimeout(timer);
    open.close();
    port.close();
  }
});

if (options.role === 'follow') {
  runAtLowPriority();
  follow();
}
