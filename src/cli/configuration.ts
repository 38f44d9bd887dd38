import type { Command } from 'commander';
import { completeFromExisting, type CompleteConfig } from '../config/complete.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { ConfigurationRefused } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** The file of `--config`, at any position on the command line. */
export function configFile(command: Command): string | undefined {
  return command.optsWithGlobals<{ config?: string }>().config;
}

/**
 * The configuration that the command line names.
 * @throws {ConfigurationRefused} with all mistakes
 */
export function configuration(
  command: Command,
  terminal: Terminal,
): { readonly config: Config; readonly warnings: readonly string[] } {
  const file = configFile(command);
  const loaded = loadConfig({ env: terminal.env, ...(file !== undefined && { file }) });
  if (!loaded.ok) throw new ConfigurationRefused(loaded.mistakes, loaded.warnings);
  return loaded;
}

/** The same with the generated keys, for a command that works beside a gateway. */
export async function runningConfiguration(
  command: Command,
  terminal: Terminal,
): Promise<CompleteConfig> {
  return completeFromExisting(configuration(command, terminal).config);
}
