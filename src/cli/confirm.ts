import { createInterface } from 'node:readline';
import { CommandFailed, UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks for confirmation. True only for `y` or `yes`.
 * @throws {UsageError} standard input is not a terminal
 */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  if (terminal.input?.isTTY !== true || terminal.canDrawOver !== true) {
    throw new UsageError(`${question} Standard input is not a terminal: confirm with --yes`);
  }
  return /^y(es)?$/i.test((await readLine(terminal, `${question} [y/N] `)).trim());
}

/**
 * One line: the next one that is typed, or all that is piped in. Empty at the end of the input.
 * @param prompt is shown on a terminal
 * @throws {UsageError} more than one line is piped in
 */
export async function readLine(terminal: Terminal, prompt: string): Promise<string> {
  const { input } = terminal;
  if (input === undefined) throw new CommandFailed('standard input is not available');
  if (input.isTTY === true) terminal.err(prompt);
  const lines = createInterface({ input });
  let first: string | undefined;
  try {
    for await (const line of lines) {
      if (first !== undefined) throw new UsageError('standard input has more than one line');
      first = line;
      if (input.isTTY === true) break;
    }
  } finally {
    lines.close();
  }
  return first ?? '';
}
