import { createInterface } from 'node:readline';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks a person whether to go on. True only for a `y` or `yes`.
 * @throws {UsageError} nobody is there to ask
 */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  const { input } = terminal;
  if (input?.isTTY !== true || terminal.canDrawOver !== true) {
    throw new UsageError(`${question} Nobody is at the terminal to say so: give --yes`);
  }
  terminal.err(`${question} [y/N] `);
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
