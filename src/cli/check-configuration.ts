import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { checkPair } from '../config/certificate.ts';
import { configFileOf } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import { showPosition } from '../config/mistakes.ts';
import { counted } from '../runtime/amounts.ts';
import { configFile } from './configuration.ts';
import { ConfigurationRefused } from './exit-codes.ts';
import { document } from './json.ts';
import type { Terminal } from './terminal.ts';

export interface CheckConfigurationOptions {
  readonly json?: true;
}

/**
 * `config check`: says whether the configuration is valid, with its warnings.
 * @throws {ConfigurationRefused} with all mistakes
 */
export function checkConfiguration(
  { json }: CheckConfigurationOptions,
  command: Command,
  terminal: Terminal,
): void {
  const option = configFile(command);
  const loaded = loadConfig({
    env: terminal.env,
    ...(option !== undefined && { file: option }),
  });
  const file = option ?? configFileOf(terminal.env) ?? '';
  const named = file === '' ? {} : { file };
  const found = loaded.ok ? checkPair(loaded.config, Date.now()) : { ...loaded, warnings: [] };
  const warnings = [...(loaded.warnings ?? []), ...found.warnings];
  if (!loaded.ok || found.mistakes.length > 0) {
    const mistakes = found.mistakes.map(({ place, ...mistake }) => ({
      ...mistake,
      ...(place && { place: showPosition(place) }),
    }));
    if (json) terminal.out(document({ ok: false, ...named, warnings, mistakes }));
    throw new ConfigurationRefused(found.mistakes, warnings);
  }
  const { config } = loaded;
  if (json) {
    const shops = config.shops.map(({ name }) => name);
    terminal.out(document({ ok: true, ...named, shops, warnings, mistakes: [] }));
    return;
  }
  if (file === '' && existsSync('sluice.yaml')) {
    terminal.err('warning: sluice.yaml in this folder is not read: name it with --config\n');
  }
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
  const shops = config.shops.length === 0 ? 'the demo shop' : counted(config.shops.length, 'shop');
  const over = file === '' ? '' : `${file}, merged with `;
  terminal.out(`The configuration is valid: ${over}the defaults, ${shops}.\n`);
}
