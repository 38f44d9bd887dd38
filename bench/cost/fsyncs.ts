import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '../support/wait-until.ts';

const EVENTS = 'syscalls:sys_enter_fsync,syscalls:sys_enter_fdatasync';
const ATTACHED_WITHIN_MS = 10_000;

/**
 * Counts the fsyncs of processes from now on, and of all that they start; with `perf`, which costs them nothing that
 * can be measured. `stop` resolves with undefined where `perf` is missing or may not count.
 */
export async function countFsyncs(
  pids: readonly number[],
): Promise<{ stop(): Promise<number | undefined> }> {
  // With a delay perf says when it has begun.
  const begin = ['-D', '1', '-x', ',', '-e', EVENTS];
  const counter = spawn('perf', ['stat', ...begin, '-p', pids.join(',')]);
  let said = '';
  let ended = false;
  counter.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const end = once(counter, 'close')
    .catch(() => undefined)
    .then(() => (ended = true));
  await waitUntil('perf', ATTACHED_WITHIN_MS, () =>
    ended || said.includes('Events enabled') ? true : undefined,
  );
  return {
    async stop() {
      counter.kill('SIGINT');
      await end;
      const lines = [...said.matchAll(/^(\d+|<not counted>),,syscalls:/gm)];
      if (lines.length === 0) return undefined;
      // "Not counted" is what perf says when no thread ran.
      return lines.reduce((sum, [, count]) => sum + (Number(count) || 0), 0);
    },
  };
}
