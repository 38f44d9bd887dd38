import type { Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

/** The progress of a long command. */
export interface Progress {
  /** @param note text beside the bar: `1204 messages`; by default how many of them are done */
  readonly at: (done: number, note?: string) => void;
  /** Removes the line. */
  readonly end: () => void;
}

export interface Work {
  readonly name: string;
  readonly total: number;
  readonly unit: 'bytes' | 'entries';
}

const isDrawn = ({ canDrawOver, isQuiet }: Terminal): boolean =>
  canDrawOver === true && isQuiet !== true;

const NONE: Progress = { at: () => undefined, end: () => undefined };
const BAR_CHARS = 24;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/**
 * A bar with rate and remaining time on the terminal's error output. Draws nothing on a pipe or with
 * `--quiet`.
 */
export function progressOf(terminal: Terminal, work: Work): Progress {
  // The total size of a pipe is unknown.
  if (!isDrawn(terminal) || work.total === 0) return NONE;
  const startedAt = performance.now();
  let drawnAt = -Infinity;
  const draw = (line: string) =>
    terminal.err(ERASE_LINE + line.slice(0, (terminal.columns ?? 80) - 1));
  draw(barLine(work, 0, '', 0));
  return {
    at(done, note = `${amount(done, work.unit)} of ${amount(work.total, work.unit)}`) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      draw(barLine(work, done, note, (now - startedAt) / 1000));
    },
    end: () => draw(''),
  };
}

/** `lamp.jpg [############------------]  50 %  15.0 MB of 30.0 MB  7.5 MB/s  2s left` */
export function barLine({ name, total, unit }: Work, done: number, note: string, seconds: number) {
  const share = Math.min(1, done / total);
  const filled = Math.floor(share * BAR_CHARS);
  const drawn = '#'.repeat(filled) + '-'.repeat(BAR_CHARS - filled);
  const percent = String(Math.floor(share * 100)).padStart(3);
  const rate = seconds < 0.1 ? '' : `  ${amount(done / seconds, unit)}/s`;
  const left = done === 0 ? '' : `  ${shortSpan((seconds * 1000 * (1 - share)) / share)} left`;
  return `${name} [${drawn}] ${percent} %${note === '' ? '' : `  ${note}`}${rate}${left}`;
}

const amount = (count: number, unit: Work['unit']): string =>
  unit === 'bytes' ? `${(count / 1e6).toFixed(1)} MB` : String(Math.round(count));

/** Shows a line on the terminal's error output during an operation; draws nothing where no bar is. */
export function statusLine(terminal: Terminal, text: string): Pick<Progress, 'end'> {
  if (!isDrawn(terminal)) return NONE;
  terminal.err(`${text} ...`);
  return { end: () => terminal.err(ERASE_LINE) };
}
