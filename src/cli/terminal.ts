import type { Readable, Writable } from 'node:stream';

/** Where a command speaks: results to `out`, everything else to `err`. */
export interface Terminal {
  out(text: string): void;
  /** Bytes as they are, no faster than they are taken. */
  outBytes(bytes: Uint8Array): Promise<void>;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How wide `out` is, when a person looks at it: it may have colours then. */
  readonly columns?: number | undefined;
  /** How high it is then. Both follow the window. */
  readonly rows?: number | undefined;
  /** A person looks at `err`, and lines of it can be drawn over. */
  readonly canDrawOver?: boolean;
  /** What is typed or piped in. */
  readonly input?: Readable & {
    readonly isTTY?: boolean;
    /** Of a terminal: single keys arrive at once, Ctrl-C among them. */
    setRawMode?(raw: boolean): unknown;
  };
  /** From here on it is no failure that nobody reads `out` any more: `| head`. */
  outliveReader?(): void;
  /** From here on the process ends then: for a command that does nothing but print. */
  endWithReader?(): void;
}

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  // What cannot be told is lost; what the command does is not.
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
    // Undefined on a pipe, whatever its declaration says.
    ...(stderr.isTTY && { canDrawOver: true }),
    // Only a command that reads it opens it.
    get input() {
      return process.stdin;
    },
    outliveReader: () => stdout.on('error', endUnlessUnread),
    endWithReader: () =>
      stdout.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EPIPE') process.exit(0);
      }),
  };
}

/** Also when nobody reads any more: what ends the process then is said elsewhere. */
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

/** Output that cannot be written: whatever more there is to say would be lost as well. */
function endUnlessUnread(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`the output cannot be written: ${error.code ?? error.message}\n`);
  process.exit(1);
}

/**
 * Text that a stranger wrote, safe for a terminal: control characters move cursors and rename
 * windows, bidi marks reorder what an operator reads.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\u{fffd}');
}

/** The same in one line: a line break in a name or an answer could feign a field of our own. */
export const printableLine = (text: string): string => printable(text.replace(/\s+/g, ' '));
