import type { Readable } from 'node:stream';

/** Where a command speaks: results to `out`, everything else to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How wide `out` is, when a person looks at it: it may have colours then. */
  readonly columns?: number;
  /** A person looks at `err`, and lines of it can be drawn over. */
  readonly canDrawOver?: boolean;
  /** What is typed or piped in. */
  readonly input?: Readable & { readonly isTTY?: boolean };
  /** From here on the process ends, quietly, when nobody reads `out` any more: `| head`. */
  endWithReader?(): void;
}

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    env: process.env,
    ...(stdout.isTTY && { columns: stdout.columns }),
    // Undefined on a pipe, whatever its declaration says.
    ...(stderr.isTTY && { canDrawOver: true }),
    // Only a command that reads it opens it.
    get input() {
      return process.stdin;
    },
    endWithReader: () => stdout.on('error', endFor),
  };
}

/** Output that cannot be written: whatever more there is to say would be lost as well. */
function endFor(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(0);
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
