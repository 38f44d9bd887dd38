import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import type { Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

/** The progress of a long command. */
export interface Progress {
  /** @param note text beside the bar: `1204 messages` */
  at(done: number, note: string): void;
  /** Removes the line. */
  end(): void;
}

const NONE: Progress = { at: () => undefined, end: () => undefined };

/** A bar with rate and remaining time on the terminal's error output. Draws nothing on a pipe. */
export function progressOf(
  terminal: Terminal,
  what: { readonly name: string; readonly total: number; readonly unit: 'bytes' | 'entries' },
): Progress {
  // The total size of a pipe is unknown.
  if (terminal.canDrawOver !== true || what.total === 0) return NONE;
  const startedAt = performance.now();
  let value = 0;
  let note = '';
  const bar = new cliProgress.SingleBar({
    stream: asStream(terminal),
    fps: 5,
    clearOnComplete: true,
    // If the process were killed, a hidden cursor would stay hidden.
    hideCursor: false,
    linewrap: true,
    barsize: 24,
    barCompleteChar: '#',
    barIncompleteChar: '-',
    // The command itself removes the bar when it ends, after a signal too (process-end.ts).
    gracefulExit: false,
    format: ({ barsize = 24 }) => {
      const share = what.total === 0 ? 1 : Math.min(1, value / what.total);
      const filled = Math.floor(share * barsize);
      const seconds = (performance.now() - startedAt) / 1000;
      const left = value === 0 ? '' : `  ${shortSpan((seconds * 1000 * (1 - share)) / share)} left`;
      const drawn = '#'.repeat(filled) + '-'.repeat(barsize - filled);
      const rate = seconds < 0.1 ? '' : `  ${amount(value / seconds, what.unit)}/s`;
      const percent = String(Math.floor(share * 100)).padStart(3);
      return `${what.name} [${drawn}] ${percent} %${note === '' ? '' : `  ${note}`}${rate}${left}`;
    },
  });
  bar.start(Math.max(1, what.total), 0);
  return {
    at(done, text) {
      value = done;
      note = text;
      bar.update(Math.min(done, Math.max(1, what.total)));
    },
    end: () => bar.stop(),
  };
}

const amount = (count: number, unit: 'bytes' | 'entries'): string =>
  unit === 'bytes' ? `${(count / 1e6).toFixed(1)} MB` : String(Math.round(count));

/** The library asks the stream whether it is a terminal and how wide it is. */
function asStream(terminal: Terminal): Writable {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      terminal.err(String(chunk));
      done();
    },
  });
  return Object.defineProperties(stream, {
    isTTY: { value: true },
    columns: { get: () => terminal.columns ?? 80 },
  });
}

/** Shows a line on the terminal's error output during an operation; nothing on a pipe. */
export function statusLine(terminal: Terminal, text: string): Pick<Progress, 'end'> {
  if (terminal.canDrawOver !== true) return NONE;
  terminal.err(`${text} ...`);
  return { end: () => terminal.err('\r\u001b[K') };
}
