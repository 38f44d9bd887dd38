import type { Command } from 'commander';
import { configSource } from '../gateway/config-source.ts';
import { shownValues } from '../gateway/configuration-view.ts';
import { configFile, configuration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { type Column, Table } from './table.ts';
import type { Terminal } from './terminal.ts';

export interface ShowConfigurationOptions {
  readonly json?: true;
  readonly changed?: true;
}

type Value = ReturnType<typeof shownValues>[number];

const COLUMNS: readonly Column<Value>[] = [
  { head: 'path', min: 20, max: 60, value: ({ path }) => path },
  { head: 'value', min: 12, max: 80, value: ({ value }) => value },
  {
    ...{ head: 'from', min: 7, max: 48, drop: 1 },
    value: ({ variable, isDefault }) => variable ?? (isDefault ? 'default' : ''),
  },
];

/**
 * `config show`: the effective values, without secrets.
 * @param paths only those that begin with one of these; all without any
 * @throws {CommandFailed} no value has such a path
 */
export function showConfiguration(
  paths: readonly string[],
  options: ShowConfigurationOptions,
  command: Command,
  terminal: Terminal,
): void {
  const { config } = configuration(command, terminal);
  const file = configFile(command);
  const source = configSource({ env: terminal.env, ...(file !== undefined && { file }) });
  const shown = shownValues(config, source).filter(
    ({ path, isDefault }) =>
      (paths.length === 0 || paths.some((each) => path.startsWith(each))) &&
      !(options.changed === true && isDefault),
  );
  if (shown.length === 0 && paths.length > 0) {
    throw new CommandFailed(`no value has a path that begins with ${paths.join(' or ')}`);
  }
  if (options.json) terminal.out(document(shown));
  else if (shown.length === 0) terminal.out('All values are the defaults.\n');
  else terminal.out(new Table(COLUMNS, terminal).lines(shown));
}
