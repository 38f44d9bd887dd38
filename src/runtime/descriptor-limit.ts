import { readFileSync } from 'node:fs';
import type { Trouble } from '../domain/trouble.ts';
import { outOfDescriptors } from './system-trouble.ts';

/**
 * How many files and sockets a process may have open: the soft limit of `ulimit -n`, which Node itself
 * raises to the hard one at its start. Undefined: unlimited, or this system does not tell.
 * @param pid another process's; this one's without it
 */
export function descriptorLimit(pid = 'self'): number | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/**
 * Undefined: so many are enough, or the limit is not known.
 * @param why so many are needed: `to load itself`
 */
export function descriptorShortage(
  limit: number | undefined,
  needed: number,
  why: string,
): Trouble | undefined {
  if (limit === undefined || limit >= needed) return undefined;
  return {
    ...outOfDescriptors('EMFILE'),
    found: `the gateway may have ${limit} files and sockets open, and needs up to ${needed} ${why}`,
  };
}
