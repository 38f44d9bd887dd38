import { createInterface } from 'node:readline';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks for confirmation. True only for `y` or `yes`.
 * @throws {UsageError} standard input is not a terminal
 */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  const { input } = terminal;
  if (input?.isTTY !== true || terminal.canDrawOver !== true) {
    throw new UsageError(`${question} Standard input is not a terminal: confirm with --yes`);
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
