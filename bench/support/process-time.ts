import { readFile } from 'node:fs/promises';

/** Clock ticks per second, for decades the same on every Linux architecture. */
const TICKS = 100;

/**
 * The processor time that a process has used with all its threads, in seconds.
 * @param withEnded also of its children that have ended
 */
export async function processSeconds(pid: number, withEnded = false): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // proc(5): fields 14 to 17; the name before them may contain spaces and ends with the last ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, withEnded ? 15 : 13).map(Number);
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS;
}

/** The same of a process and its children, also of those that have ended. */
export async function processTreeSeconds(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const pids = children.trim().split(' ').filter(Boolean).map(Number);
  const alive = await Promise.all(pids.map((child) => processSeconds(child).catch(() => 0)));
  return alive.reduce((sum, each) => sum + each, await processSeconds(pid, true));
}
