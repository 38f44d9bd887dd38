import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One system call of one thread, in the lines of a trace at which it began and ended. */
export interface SystemCall {
  readonly name: string;
  /** Everything between the parentheses; files stand behind their descriptors. */
  readonly args: string;
  readonly result: number;
  readonly began: number;
  readonly ended: number;
}

const TRACED =
  'pwrite64,pwritev,write,writev,sendto,sendmsg,fsync,fdatasync,rename,renameat,renameat2';

/**
 * The command that runs a program under strace: all threads, files and sockets by name, whole
 * database pages. The tracer is a process of its own, so that the program keeps its pid.
 */
export const straceInto = (file: string): readonly string[] => [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-yy', '-s', '8192', '-o', file],
  ...['-e', `trace=${TRACED}`],
];

/** Why strace cannot be used here; undefined when it can. */
export function whyNoStrace(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-f', '--seccomp-bpf', 'true'], {
    encoding: 'utf8',
  });
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : `strace is refused: ${stderr.trim().split('\n').at(-1) ?? ''}`;
}

/** Whether the traced program has ended and everything is written. */
export function isComplete(file: string, pid: number): boolean {
  return new RegExp(`^${pid} +\\+\\+\\+ (?:exited|killed)`, 'm').test(readFileSync(file, 'latin1'));
}

const WHOLE = /^(\d+) +(\w+)\((.*)\) += (-?\d+)/;
const UNFINISHED = /^(\d+) +(\w+)\((.*?),? *<unfinished \.\.\.>$/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)/;

/** Reads a trace; calls that another thread's lines interrupted are put together again. */
export function readTrace(file: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const open = new Map<string, { args: string; began: number }>();
  for (const [line, text] of readFileSync(file, 'latin1').split('\n').entries()) {
    const unfinished = UNFINISHED.exec(text);
    const resumed = RESUMED.exec(text);
    const whole = WHOLE.exec(text);
    if (unfinished !== null) {
      const [, thread = '', , args = ''] = unfinished;
      open.set(thread, { args, began: line });
    } else if (resumed !== null) {
      const [, thread = '', name = '', rest = '', result] = resumed;
      const { args, began } = open.get(thread) ?? { args: '', began: line };
      calls.push({ name, args: args + rest, result: Number(result), began, ended: line });
    } else if (whole !== null) {
      const [, , name = '', args = '', result] = whole;
      calls.push({ name, args, result: Number(result), began: line, ended: line });
    }
  }
  return calls.toSorted((one, other) => one.began - other.began);
}

/** The file or socket that a call's first argument is. */
export function targetOf({ args }: SystemCall): string {
  return /^(?:AT_FDCWD<[^>]*>, "|\d+<|")([^">]*)/.exec(args)?.[1] ?? '';
}
