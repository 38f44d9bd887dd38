import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** `[123:0x5f] 345 ms: Scavenge 23.1 (30.0) -> 20.1 (31.0) MB, …`: heap before and after a collection, in MB. */
const COLLECTION =
  /^\[\d+:(0x[0-9a-f]+)\] +\d+ ms: [^\d]*?(\d+\.\d+) \(\d+\.\d+\) -> (\d+\.\d+) /gm;

/** The heap that all threads have allocated until their last collections, from the output of `--trace-gc`. */
export function allocatedMb(output: string): number {
  const after = new Map<string, number>();
  let sum = 0;
  for (const [, thread = '', before, then] of output.matchAll(COLLECTION)) {
    sum += Number(before) - (after.get(thread) ?? 0);
    after.set(thread, Number(then));
  }
  return sum;
}

/** Counts the fsyncs of a process from now on. `stop` resolves with undefined where `perf` is missing or may not. */
export function countFsyncs(pid: number): { stop(): Promise<number | undefined> } {
  const events = 'syscalls:sys_enter_fsync,syscalls:sys_enter_fdatasync';
  const counter = spawn('perf', ['stat', '-x', ',', '-e', events, '-p', String(pid)]);
  let counted = '';
  counter.stderr.on('data', (chunk: Buffer) => (counted += chunk.toString()));
  const ended = once(counter, 'close').catch(() => undefined);
  return {
    async stop() {
      counter.kill('SIGINT');
      await ended;
      const lines = [...counted.matchAll(/^(\d+),,syscalls:/gm)];
      if (lines.length === 0) return undefined;
      return lines.reduce((sum, [, count]) => sum + Number(count), 0);
    },
  };
}
