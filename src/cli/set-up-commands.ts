import { type Command, Option } from 'commander';
import type { Terminal } from './terminal.ts';
import type { Readable } from 'node:stream';
import { hashPassword } from '../runtime/password-hash.ts';
import { UsageError } from './exit-codes.ts';
import { CHECKS } from '../operations/doctor/check.ts';
import type { DoctorOptions } from './examine-set-up.ts';
import { document } from './json.ts';
import type { CheckConfigurationOptions } from './check-configuration.ts';
import type { ShowConfigurationOptions } from './show-configuration.ts';
import type { TryAlertsOptions } from './try-alert-targets.ts';
import { withoutEnd } from '../runtime/without-end.ts';

export function registerConfigCheck(parent: Command, terminal: Terminal): void {
  parent
    .command('check')
    .description('validates the configuration and prints every mistake with its position')
    .option('--json', 'for programs: one JSON object')
    .addHelpText('after', '\nExample:\n  $ sluice config check --config sluice.yaml')
    .action(async (options: CheckConfigurationOptions, command: Command) => {
      const { checkConfiguration } = await import('./check-configuration.ts');
      checkConfiguration(options, command, terminal);
    });
}

export function registerConfigShow(parent: Command, terminal: Terminal): void {
  parent
    .command('show')
    .description('prints the effective values, without secrets')
    .argument('[path...]', 'only paths that begin like this')
    .option('--changed', 'only values that differ from the defaults')
    .option('--json', 'for programs: a JSON array')
    .addHelpText('after', '\nExample:\n  $ sluice config show smtp --config sluice.yaml')
    .action(async (paths: string[], options: ShowConfigurationOptions, command: Command) => {
      const { showConfiguration } = await import('./show-configuration.ts');
      showConfiguration(paths, options, command, terminal);
    });
}

const MIN_LENGTH = 8;
const MAX_LENGTH = 1024;
/** Up to four bytes per character in UTF-8, and a line end. */
const MAX_BYTES = 4 * MAX_LENGTH + 2;

/**
 * Only from standard input: arguments are visible in the shell's history and in the process list.
 */
export function registerConfigHashPassword(parent: Command, terminal: Terminal): void {
  parent
    .command('hash-password')
    .description('reads a console password and prints its hash for the configuration')
    .option('--json', 'for programs: one JSON object')
    .addHelpText(
      'after',
      '\nThe password is read from standard input.\n\nExample:\n' +
        '  $ sluice config hash-password < password.txt',
    )
    .action(async ({ json }: { readonly json?: true }) => {
      const { input } = terminal;
      if (input === undefined || input.isTTY === true) {
        throw new UsageError('pass the password on standard input, from a file or another program');
      }
      const password = withoutEnd(await read(input), /[\r\n]/);
      if (
        password.length < MIN_LENGTH ||
        password.length > MAX_LENGTH ||
        /[\r\n\0]/.test(password)
      ) {
        throw new UsageError(`expected one line of ${MIN_LENGTH} to ${MAX_LENGTH} characters`);
      }
      const hash = await hashPassword(password);
      terminal.out(json ? document({ hash }) : `${hash}\n`);
    });
}

/** Reads slightly more than the longest password, whatever the length of the input. */
async function read(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}

const DOCTOR_EXIT_CODES = `
Exit codes:
  0  no check failed
  1  a check failed
  2  the command line or the configuration is invalid`;

export function registerDoctor(parent: Command, terminal: Terminal): void {
  parent
    .command('doctor')
    .description(
      'checks the set-up: SMS provider, platform, MX, certificate, ports, disk, clock, data folder',
    )
    .addOption(new Option('--only <name...>', 'only these checks').choices(CHECKS))
    .option('--fix', "sets at Twilio what is wrong with a number's webhook, and says what it was")
    .option('--json', 'for programs: an object with all checks')
    .addHelpText(
      'after',
      `\nIt changes nothing unless --fix is given.\n\nExample:\n` +
        `  $ sluice doctor --only twilio --config sluice.yaml\n${DOCTOR_EXIT_CODES}`,
    )
    .action(async (options: DoctorOptions, command: Command) => {
      const { examineSetUp } = await import('./examine-set-up.ts');
      await examineSetUp(options, command, terminal);
    });
}

const ALERTS_EXIT_CODES = `
Exit codes:
  0  all targets accepted it
  1  a target did not accept it, or none is configured
  2  the command line or the configuration is invalid`;

/** `sluice alerts test`: needs no running gateway. */
export function registerAlerts(parent: Command, terminal: Terminal): void {
  const alerts = parent.command('alerts').description('alerts for the person on call');
  alerts.addHelpText('after', '\nExample:\n  $ sluice alerts test --config sluice.yaml');
  alerts
    .command('test')
    .description('sends a test alert to the webhook and the addresses of the configuration')
    .option('--json', 'for programs: a JSON array')
    .addHelpText(
      'after',
      `\nPrints the result for each target.\n\nExample:\n` +
        `  $ sluice alerts test --config sluice.yaml\n${ALERTS_EXIT_CODES}`,
    )
    .action(async (options: TryAlertsOptions, command: Command) => {
      const { tryAlertTargets } = await import('./try-alert-targets.ts');
      await tryAlertTargets(options, command, terminal);
    });
}
