import type { Command } from 'commander';
import { runningConfiguration } from '../configuration.ts';
import { withSpool } from '../open-spool.ts';
import type { Terminal } from '../terminal.ts';

/** The number of ids that are offered. */
const IDS = 30;

/** Prints the values that the scripts request: the names of the shops, or the ids of the newest entries. */
export async function completionValues(
  kind: 'shop' | 'entry',
  command: Command,
  terminal: Terminal,
): Promise<string> {
  if (kind === 'shop') {
    const { shops } = await runningConfiguration(command, terminal);
    return lines(shops.map(({ name }) => name));
  }
  return withSpool(command, terminal, async ({ spool }) =>
    lines((await spool.list({ limit: IDS })).map(({ id }) => id)),
  );
}

const lines = (words: readonly string[]): string => words.map((word) => `${word}\n`).join('');
