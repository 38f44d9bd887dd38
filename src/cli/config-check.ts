import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

export function registerConfigCheck(parent: Command, terminal: Terminal): void {
  parent
    .command('check')
    .description('validates the configuration and prints every mistake with its place')
    .addHelpText('after', '\nExample:\n  $ sluice config check --config sluice.yaml')
    .action(async (_options: unknown, command: Command) => {
      const [{ configFile, configuration }, { configFileOf }] = await Promise.all([
        import('./configuration.ts'),
        import('../config/environment.ts'),
      ]);
      const { config, warnings } = configuration(command, terminal);
      for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
      const shops = config.shops.length === 0 ? 'the demo shop' : `${config.shops.length} shop(s)`;
      const file = configFile(command) ?? configFileOf(terminal.env);
      const over = file === undefined || file === '' ? '' : `${file} over `;
      terminal.out(`The configuration is valid: ${over}the defaults, ${shops}.\n`);
    });
}
