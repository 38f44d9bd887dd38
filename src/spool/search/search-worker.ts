import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { serveRpc } from '../../runtime/worker-rpc.ts';
import { codeOf } from '../../runtime/error-code.ts';
import type { EntrySearch } from '../entry-index.ts';
import { OpenSearch } from './open-search.ts';
import type { SearchIndex } from './search-index.ts';

export interface SearchThreadData {
  /** A data folder with a store. */
  readonly dir: string;
  /** For a command, which may run without a gateway: updates the index before each answer. */
  readonly updatesFirst: boolean;
}

export interface Questions extends Pick<
  SearchIndex,
  'find' | 'count' | 'summaries' | 'neighbours'
> {
  readonly backlog: () => number;
}

/** What a thread of the index offers. */
export interface SearchThread extends Questions {
  /** Keeps the index up to date with the spool, at low priority. */
  readonly follow: () => void;
  readonly close: () => void;
}

/** What it calls. */
export interface SearchOwner {
  /** It cannot update the index, for this reason, and tries again. */
  readonly failed: (reason: string) => void;
}

/** A thread of the index: it updates the index from the spool, or answers queries, or both. */
const LOOK_EVERY_MS = 500;
const LOOK_AT_REST_MS = 2000;
const AT_REST_AFTER_LOOKS = 20;
/** The pause after a failure, for example because of a full disk. */
const AGAIN_AFTER_MS = 5000;
/** How long a command updates the index before it answers. */
const COMMAND_WAITS_MS = 2000;

// `workerData` is what search-threads.ts passes, of this very type.
const { updatesFirst, dir } = workerData as SearchThreadData;
const open = new OpenSearch(dir);
let timer: NodeJS.Timeout | undefined;
let failures = 0;
/** Looks in a row that found nothing. */
let idle = 0;

const callOwner = serveRpc<SearchThread, SearchOwner>(parentPort, {
  find,
  count: (filters, most) => answer(({ search: index }) => index.count(filters, most)),
  summaries: (ids) => answer(({ search: index }) => index.summaries(ids)),
  neighbours: (id) => answer(({ search: index }) => index.neighbours(id)),
  backlog: () => answer(({ follow }) => follow.backlog()),
  follow: () => {
    runAtLowPriority();
    follow();
  },
  close: () => {
    clearTimeout(timer);
    open.close();
  },
});

/**
 * The updating thread is up to two seconds behind. A text that is not found may be that of a newer
 * entry, so one portion is indexed and the search repeated.
 */
function find(search: EntrySearch): ReturnType<SearchIndex['find']> {
  const result = answer(({ search: index }) => index.find(search));
  if (result.found.length > 0 || !search.text) return result;
  return answer(({ follow, search: index }) => {
    try {
      follow.stepNow();
    } catch (error) {
      // The updating thread holds the lock; what it writes is found by the next search.
      if (codeOf(error) === 'SQLITE_BUSY') return result;
      throw error;
    }
    return index.find(search);
  });
}

function answer<T>(ask: Parameters<typeof open.with<T>>[0]): T {
  if (updatesFirst) open.catchUp(COMMAND_WAITS_MS);
  return open.with(ask);
}

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
  idle = more ? 0 : idle + 1;
  const look = idle > AT_REST_AFTER_LOOKS ? LOOK_AT_REST_MS : LOOK_EVERY_MS;
  const pause = failures > 0 ? AGAIN_AFTER_MS : look;
  // A timer even without a pause, so that messages which arrived meanwhile are handled.
  timer = setTimeout(follow, more ? 0 : pause);
}

function tellFailure(error: unknown): void {
  const reason = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  callOwner('failed', reason).catch(() => undefined);
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
