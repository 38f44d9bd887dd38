/** Where a command speaks: results to `out`, everything else to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function processTerminal(): Terminal {
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
  };
}

/**
 * Text that a stranger wrote, safe for a terminal: control characters move cursors and rename
 * windows, bidi marks reorder what an operator reads.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\u{fffd}');
}
