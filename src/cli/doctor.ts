import { Option, type Command } from 'commander';
import { CHECKS } from '../operations/doctor/check.ts';
import type { DoctorOptions } from './examine-set-up.ts';
import type { Terminal } from './terminal.ts';

const EXIT_CODES = `
Exit codes:
  0  nothing failed
  1  something failed
  2  a mistake on the command line or in the configuration`;

export function registerDoctor(parent: Command, terminal: Terminal): void {
  parent
    .command('doctor')
    .description(
      'checks what it needs: Twilio, platform, MX, certificate, ports, disk, clock, data folder',
    )
    .addOption(new Option('--only <name...>', 'only these checks').choices(CHECKS))
    .option('--fix', "sets at Twilio what is wrong with a number's webhook, and says what it was")
    .option('--json', 'for programs: an object with all checks')
    .addHelpText(
      'after',
      `\nWithout --fix nothing is changed.\n\nExample:\n` +
        `  $ sluice doctor --only twilio --config sluice.yaml\n${EXIT_CODES}`,
    )
    .action(async (options: DoctorOptions, command: Command) => {
      const { examineSetUp } = await import('./examine-set-up.ts');
      await examineSetUp(options, command, terminal);
    });
}
