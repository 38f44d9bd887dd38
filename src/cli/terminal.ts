import type { Readable, Writable } from 'node:stream';

/** The streams of a command: results go to `out`, everything else to `err`. */
export interface Terminal {
  out(text: string): void;
  /** Writes raw bytes, respecting backpressure. */
  outBytes(bytes: Uint8Array): Promise<void>;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The width of `out` if it is a terminal; colours are used then. */
  readonly columns?: number | undefined;
  /** Its height. Both change with the window. */
  readonly rows?: number | undefined;
  /** `err` is a terminal on which lines can be redrawn. */
  readonly canDrawOver?: boolean;
  /** Set by `--quiet`: results and errors only, without notes and progress. */
  isQuiet?: boolean;
  /** Standard input. */
  readonly input?: Readable & {
    readonly isTTY?: boolean;
    /** On a terminal, switches to single key presses, including Ctrl-C. */
    setRawMode?(raw: boolean): unknown;
  };
  /** From now on, a closed `out` (`| head`) is not an error. */
  ignoreClosedPipe?(): void;
  /** From now on, the process ends when `out` is closed: for commands that only print. */
  exitOnClosedPipe?(): void;
}

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  // The command continues when the reader of standard error has closed the pipe.
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    out: (text) => void stdout.write(text),
    outBytes: (bytes) => written(stdout, bytes),
    err: (text) => void stderr.write(text),
    env: process.env,
    get columns() {
      return stdout.isTTY ? stdout.columns : undefined;
    },
    get rows() {
      return stdout.isTTY ? stdout.rows : undefined;
    },
    // Undefined on a pipe, although it is declared as a boolean.
    ...(stderr.isTTY && { canDrawOver: true }),
    // Opened only by a command that reads it.
    get input() {
      return process.stdin;
    },
    ignoreClosedPipe: () => stdout.on('error', exitUnlessClosedPipe),
    exitOnClosedPipe: () =>
      stdout.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EPIPE') process.exit(0);
      }),
  };
}

/** Explains a result, or says what to do next. Goes to `err`, and is left out with `--quiet`. */
export function note(terminal: Pick<Terminal, 'err' | 'isQuiet'>, text: string): void {
  if (terminal.isQuiet !== true) terminal.err(text);
}

/** Resolves for a closed reader too; what ends the process then is decided elsewhere. */
function written(stream: Writable, bytes: Uint8Array): Promise<void> {
  if (stream.write(bytes)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done).off('error', done);
      resolve();
    };
    stream.on('drain', done).on('close', done).on('error', done);
  });
}

/** The output cannot be written, so further messages would be lost as well. */
function exitUnlessClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`the output cannot be written: ${error.code ?? error.message}\n`);
  process.exit(1);
}

/**
 * Text from outside, made safe for a terminal: control characters could move the cursor or rename
 * the window, and bidi marks could reorder the text.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\u{fffd}');
}

/** The same on one line, because a line break in a name or response could imitate another field. */
export const printableLine = (text: string): string => printable(text.replace(/\s+/g, ' '));
