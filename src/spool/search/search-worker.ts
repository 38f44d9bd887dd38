import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf } from '../../runtime/error-code.ts';
import { OpenSearch, type SearchFiles } from './open-search.ts';
import type { SearchIndex } from './search-index.ts';

export interface SearchWorkerOptions extends SearchFiles {
  /**
   * `follow`: keeps the index up with the spool, when nothing else needs the processor. `answer`:
   * answers questions. `both`: answers, and follows before each; for a command.
   */
  readonly role: 'follow' | 'answer' | 'both';
}

export interface Questions {
  readonly search: SearchIndex['search'];
  readonly count: SearchIndex['count'];
  readonly summaries: SearchIndex['summaries'];
  readonly neighbours: SearchIndex['neighbours'];
  readonly backlog: () => number;
  /** Follows to the end, and leaves nothing of deleted entries in the files. */
  readonly rewrite: () => void;
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

/** A thread of the index: it follows the spool, or answers, or both. */
const LOOK_EVERY_MS = 500;
/** After a failure, which a full disk may be. */
const AGAIN_AFTER_MS = 5000;
/** A command waits this long for what the index does not have yet, before it answers. */
const COMMAND_WAITS_MS = 2000;

const port = parentPort;
if (port === null) throw new Error('the search worker runs in a worker thread');
// `workerData` is what search-threads.ts passes, of this very type.
const options = workerData as SearchWorkerOptions;
const open = new OpenSearch(options);
let timer: NodeJS.Timeout | undefined;
let failures = 0;

const questions: Questions = {
  search: (search) => open.with(({ search: index }) => index.search(search)),
  count: (filters, most) => open.with(({ search: index }) => index.count(filters, most)),
  summaries: (ids) => open.with(({ search: index }) => index.summaries(ids)),
  neighbours: (id) => open.with(({ search: index }) => index.neighbours(id)),
  backlog: () => open.with(({ follow }) => follow.backlog()),
  rewrite: () => {
    open.catchUp(Infinity);
    open.with(({ index }) => index.rewrite());
  },
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
    // Somebody else may hold it for long; anything that stays ends the thread, and is seen.
    if (codeOf(error) === '' && failures > 10) throw error;
  }
  const pause = failures > 0 ? AGAIN_AFTER_MS : LOOK_EVERY_MS;
  // Through the loop each time, for what is posted meanwhile.
  timer = setTimeout(follow, more ? 0 : pause);
}

/** Nobody asked: number 0. */
function tellFailure(error: unknown): void {
  const failure = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  port?.postMessage({ id: 0, failure } satisfies FromSearchWorker);
}

function answer({ id, question, args }: Extract<ToSearchWorker, { id: number }>): FromSearchWorker {
  try {
    if (options.role === 'both' && question !== 'rewrite') open.catchUp(COMMAND_WAITS_MS);
    // The arguments were typed by the one caller, `SearchThreads.ask`, under the same name.
    const ask = questions[question] as (...args: readonly unknown[]) => unknown;
    return { id, value: ask(...args) };
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : 'unknown' };
  }
}

/**
 * From now on this thread gets a tenth of what others get, where they want the processor. On Linux
 * a thread has a priority of its own, by its own id; elsewhere that would be the whole process's,
 * and nothing is changed.
 */
function runAtLowPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Without /proc: it shares the processor like any other thread.
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
