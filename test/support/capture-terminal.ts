import type { Terminal } from '../../src/cli/terminal.ts';

export interface CapturedTerminal extends Terminal {
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A terminal that keeps what is printed. */
export function captureTerminal(env: Record<string, string> = {}): CapturedTerminal {
  let stdout = '';
  let stderr = '';
  return {
    out: (text) => void (stdout += text),
    err: (text) => void (stderr += text),
    env,
    stdout: () => stdout,
    stderr: () => stderr,
  };
}
