import { readFile } from 'node:fs/promises';

/** Clock ticks per second, for decades the same on every Linux architecture. */
const TICKS = 100;

/** The processor time that a process has used with all its threads, in seconds. */
export async function processSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // proc(5): fields 14 and 15; the name before them may contain spaces and ends with the last ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
