import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

/** xterm: another screen, so that what was there comes back; a hidden cursor; lines are cut, not wrapped. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
/** A terminal that knows it shows all between these at once; others pass over them. */
const BEGIN = '\u001b[?2026h\u001b[H';
const END = '\u001b[?2026l';
/** Before a line and not after it: the cursor then stands on the last character of a full one. */
const ERASE_LINE = '\u001b[2K';
const ERASE_BELOW = '\r\n\u001b[J';

/** `q`, `Q`, Ctrl-C and Ctrl-D. */
const ENDS = /[qQ\u0003\u0004]/;

export interface Watched {
  readonly everyMs: number;
  /** What is to be seen now; a screen cuts what is wider. */
  readonly lines: () => Promise<readonly string[]>;
}

/**
 * Shows lines again and again until a key or a signal ends it. A person's terminal is drawn over,
 * each frame in one write and only when it differs; on a pipe only lines that were not in the last
 * frame are printed.
 */
export async function watch(
  terminal: Terminal,
  events: ProcessEvents,
  { everyMs, lines }: Watched,
): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) events.on(signal, end);
  const isScreen = terminal.columns !== undefined;
  const show = isScreen ? screen(terminal) : changes(terminal);
  const keys = isScreen ? keyboard(terminal, end) : undefined;
  if (isScreen) terminal.out(ENTER);
  else terminal.endWithReader?.();
  try {
    while (!ended.signal.aborted) {
      show(await lines());
      await pause(everyMs, ended.signal, events);
    }
  } finally {
    if (isScreen) terminal.out(LEAVE);
    keys?.();
    for (const signal of signals) events.off(signal, end);
  }
}

function screen(terminal: Terminal): (lines: readonly string[]) => void {
  let last = '';
  return (lines) => {
    const height = Math.max(1, terminal.rows ?? 24);
    const body = lines
      .slice(0, height)
      .map((line) => ERASE_LINE + line)
      .join('\r\n');
    const below = lines.length < height ? ERASE_BELOW : '';
    const size = `${terminal.columns ?? 0}x${height}`;
    if (last === size + body) return;
    last = size + body;
    terminal.out(BEGIN + body + below + END);
  };
}

function changes(terminal: Terminal): (lines: readonly string[]) => void {
  let last: ReadonlySet<string> = new Set();
  return (lines) => {
    const fresh = lines.filter((line) => !last.has(line));
    last = new Set(lines);
    if (fresh.length > 0) terminal.out(`${fresh.join('\n')}\n`);
  };
}

/** @returns what gives the keyboard back */
function keyboard({ input }: Terminal, end: () => void): (() => void) | undefined {
  if (input?.isTTY !== true) return undefined;
  const onKey = (key: unknown): void => {
    if (ENDS.test(String(key))) end();
  };
  input.setRawMode?.(true);
  input.on('data', onKey).once('end', end);
  return () => {
    input.off('data', onKey).off('end', end);
    input.setRawMode?.(false);
    input.pause();
  };
}

/** Ends early when the watch ends, or the window changes its size. */
async function pause(ms: number, signal: AbortSignal, events: ProcessEvents): Promise<void> {
  const resized = new AbortController();
  const onResize = () => resized.abort();
  events.on('SIGWINCH', onResize);
  await delay(ms, undefined, { signal: AbortSignal.any([signal, resized.signal]) }).catch(
    () => undefined,
  );
  events.off('SIGWINCH', onResize);
}
