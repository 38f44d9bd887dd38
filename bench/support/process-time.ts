import { readFile } from 'node:fs/promises';
import { processFamily } from './process-family.ts';

/** Clock ticks per second, for decades the same on every Linux architecture. */
const TICKS = 100;

/** The processor time that a process has used with all its threads, in seconds. */
export async function processSeconds(pid: number): Promise<number> {
  const [user = 0, system = 0] = await ticksOf(pid);
  return (user + system) / TICKS;
}

/** The same of those of its children that have ended, with theirs. */
export async function endedChildrenSeconds(pid: number): Promise<number> {
  const [, , user = 0, system = 0] = await ticksOf(pid);
  return (user + system) / TICKS;
}

/** The same of a process and all that descend from it, also of those that have ended. */
export async function processTreeSeconds(pid: number): Promise<number> {
  const each = (await processFamily(pid)).map(async (one) => {
    const [own, ended] = await Promise.all([processSeconds(one), endedChildrenSeconds(one)]);
    return own + ended;
  });
  const times = await Promise.all(each.map((time) => time.catch(() => 0)));
  return times.reduce((sum, time) => sum + time, 0);
}

/** proc(5): utime, stime, cutime and cstime, fields 14 to 17. */
async function ticksOf(pid: number): Promise<number[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name before them may contain spaces and ends with the last ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map(Number);
}
