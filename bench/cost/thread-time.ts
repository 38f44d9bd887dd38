import { readdir, readFile } from 'node:fs/promises';
import { processSeconds } from '../support/process-time.ts';

const SCRIPT = new URL('./thread-names.mjs', import.meta.url);
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

/** Processor time in milliseconds, by what the threads do. */
export type ThreadTime = ReadonlyMap<string, number>;

/** The argument of node with which each thread writes its name to this file. */
export function namesThreadsIn(file: string): string {
  const script = new URL(SCRIPT);
  script.searchParams.set('file', file);
  return `--import=${script.href}`;
}

/**
 * The processor time of a gateway until now.
 * @param namesFile that of `namesThreadsIn`
 */
export async function threadTime(pid: number, namesFile: string): Promise<ThreadTime> {
  const lines = (await readFile(namesFile, 'utf8')).trim().split('\n');
  const files = new Map(lines.map((line): [string, string] => splitOnce(line)));
  const times = new Map<string, number>();
  let alive = 0;
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    // The first figure is the time on a processor in nanoseconds (Linux, sched-stats.rst).
    const stat = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
    const ms = Number(stat.split(' ')[0]) / 1e6;
    const file = files.get(thread);
    const role = file === undefined ? 'engine and files' : (ROLES[file] ?? file);
    times.set(role, (times.get(role) ?? 0) + ms);
    alive += ms;
  }
  return times.set('ended', Math.max(0, (await processSeconds(pid)) * 1000 - alive));
}

function splitOnce(line: string): [string, string] {
  const space = line.indexOf(' ');
  return [line.slice(0, space), line.slice(space + 1)];
}
