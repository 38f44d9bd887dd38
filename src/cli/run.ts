import { CommanderError } from 'commander';
import { UninitializedDataFolder } from '../config/uninitialized-data-folder.ts';
import { SetUpUnusable, unusable } from '../domain/trouble.ts';
import { systemTrouble } from '../runtime/system-trouble.ts';
import { SpoolUnavailable } from '../spool/errors.ts';
import {
  ConfigurationRefused,
  CommandFailed,
  EXIT,
  UsageError,
  type ExitCode,
} from './exit-codes.ts';
import { type ProcessEvents, Interrupted } from './process-end.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

/** Errors whose message is meant for the user. */
const FAILURES = [CommandFailed, UninitializedDataFolder, SpoolUnavailable];

/**
 * Runs one command line and resolves with the exit code.
 * @throws unexpected errors, which are bugs
 */
export async function runCli(
  args: readonly string[],
  terminal: Terminal,
  events: ProcessEvents,
): Promise<ExitCode> {
  const program = createProgram(terminal, events);
  try {
    const asks = args.some((arg) => ['-h', '--help', '-V', '--version'].includes(arg));
    // --version is handled while parsing.
    const operands = asks ? args : program.parseOptions([...args]).operands;
    // If the gateway cannot print its addresses, it is stopped gracefully.
    if (asks || (operands[0] ?? 'serve') !== 'serve') terminal.ignoreClosedPipe?.();
    const command = operands.length === 0 ? ['serve', ...args] : args;
    await program.parseAsync(asHelpOption(command), { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof Interrupted) {
      terminal.err(`${error.message}\n`);
      return error.code;
    }
    if (error instanceof ConfigurationRefused || error instanceof UsageError) {
      terminal.err(`${error.message.trimEnd()}\n`);
      return EXIT.usage;
    }
    if (error instanceof Error && FAILURES.some((kind) => error instanceof kind)) {
      terminal.err(`${error.message.trimEnd()}\n`);
      return EXIT.failed;
    }
    const trouble = systemTrouble(error);
    const setUp = trouble === undefined ? error : unusable(trouble, error);
    if (setUp instanceof SetUpUnusable) {
      terminal.err(`${setUp.message.trimEnd()}\n`);
      // The exit code 2 tells a service manager that a restart does not help.
      return setUp.mayPass ? EXIT.failed : EXIT.usage;
    }
    throw error;
  }
}

/** `help queue list` is `queue list --help`; the library's own knows one level. */
const asHelpOption = ([first, ...names]: readonly string[]): string[] =>
  first === 'help' && names.length > 1 ? [...names, '--help'] : [first ?? '', ...names];
