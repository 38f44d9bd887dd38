import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * From now on this thread gets a tenth of what others get, where they want the processor. On Linux
 * a thread has a priority of its own, by its own id; elsewhere that would be the whole process's,
 * and nothing is changed.
 */
export function runAtLowPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Without /proc: it shares the processor like any other thread.
  }
}
