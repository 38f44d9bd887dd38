import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

/**
 * xterm: use the alternate screen, so that the previous content returns; hide the cursor; do not
 * wrap.
 */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
/** Synchronized output: supporting terminals show the frame at once, others ignore the codes. */
const BEGIN = '\u001b[?2026h\u001b[H';
const END = '\u001b[?2026l';
/** Sent before each line: after a full line, the cursor is still on its last character. */
const ERASE_LINE = '\u001b[2K';
const ERASE_BELOW = '\r\n\u001b[J';

/** `q`, `Q`, Ctrl-C and Ctrl-D. */
const ENDS = /[qQ\u0003\u0004]/;

export interface Watched {
  readonly everyMs: number;
  /** The current lines; a screen cuts lines that are too wide. */
  readonly lines: () => Promise<readonly string[]>;
}

/**
 * Shows lines repeatedly until a key or a signal ends it. A terminal is redrawn, each frame in one
 * write and only if it changed. A pipe gets only the lines that were not in the previous frame.
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
  else terminal.exitOnClosedPipe?.();
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
    const changed = lines.filter((line) => !last.has(line));
    last = new Set(lines);
    if (changed.length > 0) terminal.out(`${changed.join('\n')}\n`);
  };
}

/** @returns a function that restores the keyboard */
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

/** Ends early when the watch ends or the window is resized. */
async function pause(ms: number, signal: AbortSignal, events: ProcessEvents): Promise<void> {
  const resized = new AbortController();
  const onResize = () => resized.abort();
  events.on('SIGWINCH', onResize);
  await delay(ms, undefined, { signal: AbortSignal.any([signal, resized.signal]) }).catch(
    () => undefined,
  );
  events.off('SIGWINCH', onResize);
}
