import { processFamily } from '../support/process-family.ts';
import { endedChildrenSeconds, processSeconds } from '../support/process-time.ts';
import { threadMs } from '../../test/support/thread-times.ts';
import { threadsOf } from './probe.ts';

/** What a thread does, by the file that it runs. */
const ROLES: Readonly<Record<string, string>> = {
  main: 'main',
  'store-worker.js': 'store',
  'checkpoint-worker.js': 'store',
  'delivery-worker.js': 'delivery',
  'worker.js': 'mail',
  'authentication-worker.js': 'senders’ checks',
  'search-worker.js': 'search',
};

const OTHER = 'other threads';
const ENDED = 'ended';

/** Figures by what the threads do. */
export type ByRole = ReadonlyMap<string, number>;

/** The threads' figures, added up by what they do. */
export function byRole(
  figures: ReadonlyMap<string, number>,
  programs: ReadonlyMap<string, string>,
): Map<string, number> {
  const roles = new Map<string, number>();
  for (const [thread, figure] of figures) {
    const file = programs.get(thread);
    const role = file === undefined ? 'engine and files' : (ROLES[file] ?? OTHER);
    roles.set(role, (roles.get(role) ?? 0) + figure);
  }
  return roles;
}

/** The order of the roles in which they are shown. */
export const SHOWN_ROLES = [...new Set(Object.values(ROLES)), 'engine and files', OTHER, ENDED];

/**
 * The processor time in milliseconds of a process and its children until now.
 * @param programs the file that each thread runs
 */
export async function threadTime(
  pid: number,
  programs: ReadonlyMap<string, string>,
): Promise<ByRole> {
  const times = new Map<string, number>();
  let ended = 0;
  for (const each of await processFamily(pid)) {
    let alive = 0;
    for (const thread of await threadsOf(each)) {
      const ms = threadMs(each, thread);
      times.set(thread, ms);
      alive += ms;
    }
    const all = (await processSeconds(each).catch(() => 0)) * 1000;
    const children = (await endedChildrenSeconds(each).catch(() => 0)) * 1000;
    ended += Math.max(0, all - alive) + children;
  }
  return byRole(times, programs).set(ENDED, ended);
}

export const sum = (values: Iterable<number>): number =>
  [...values].reduce((one, each) => one + each, 0);
