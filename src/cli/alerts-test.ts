import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

const EXIT_CODES = `
Exit codes:
  0  every target took it
  1  one did not, or there is none
  2  a mistake on the command line or in the configuration`;

/** `sluice alerts test`: needs no running gateway. */
export function registerAlerts(parent: Command, terminal: Terminal): void {
  const alerts = parent.command('alerts').description('tells who is on call what is not well');
  alerts.addHelpText('after', '\nExample:\n  $ sluice alerts test --config sluice.yaml');
  alerts
    .command('test')
    .description('sends a test alert to the webhook and the addresses of the configuration')
    .addHelpText(
      'after',
      `\nOne line for each target: what came of it.\n\nExample:\n` +
        `  $ sluice alerts test --config sluice.yaml\n${EXIT_CODES}`,
    )
    .action(async (_options: unknown, command: Command) => {
      const { tryAlertTargets } = await import('./try-alert-targets.ts');
      await tryAlertTargets(command, terminal);
    });
}
