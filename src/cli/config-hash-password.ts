import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { hashPassword } from '../runtime/password-hash.ts';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const MIN_LENGTH = 8;

/** By standard input alone: an argument stands in the shell's history and in the list of processes. */
export function registerConfigHashPassword(parent: Command, terminal: Terminal): void {
  parent
    .command('hash-password')
    .description('reads a password of the console and prints what to configure in its place')
    .addHelpText(
      'after',
      '\nThe password is read from standard input.\n\nExample:\n' +
        '  $ sluice config hash-password < password.txt',
    )
    .action(async () => {
      const { input } = terminal;
      if (input === undefined || input.isTTY === true) {
        throw new UsageError('give the password on standard input, from a file or another program');
      }
      const password = (await text(input)).replace(/[\r\n]+$/, '');
      if (password.length < MIN_LENGTH || password.length > 1024 || /[\r\n\0]/.test(password)) {
        throw new UsageError(`expected one line of ${MIN_LENGTH} to 1024 characters`);
      }
      terminal.out(`${await hashPassword(password)}\n`);
    });
}
