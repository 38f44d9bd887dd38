import type { Terminal } from '../../src/cli/terminal.ts';

export interface CapturedTerminal extends Terminal {
  readonly stdout: () => string;
  /** What was printed as bytes. */
  readonly bytes: () => Buffer;
  readonly stderr: () => string;
}

/** A terminal that keeps what is printed. */
export function captureTerminal(env: Record<string, string> = {}): CapturedTerminal {
  let stdout = '';
  let stderr = '';
  const chunks: Uint8Array[] = [];
  return {
    outBytes: (bytes) => {
      chunks.push(bytes);
      return Promise.resolve();
    },
    bytes: () => Buffer.concat(chunks),
    out: (text) => void (stdout += text),
    err: (text) => void (stderr += text),
    env,
    stdout: () => stdout,
    stderr: () => stderr,
  };
}
