import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { hashPassword } from '../runtime/password-hash.ts';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const MIN_LENGTH = 8;
const MAX_LENGTH = 1024;
/** UTF-8 has up to four bytes for a character; then comes the end of the line. */
const MAX_BYTES = 4 * MAX_LENGTH + 2;

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
      const password = (await read(input)).replace(/[\r\n]+$/, '');
      if (
        password.length < MIN_LENGTH ||
        password.length > MAX_LENGTH ||
        /[\r\n\0]/.test(password)
      ) {
        throw new UsageError(`expected one line of ${MIN_LENGTH} to ${MAX_LENGTH} characters`);
      }
      terminal.out(`${await hashPassword(password)}\n`);
    });
}

/** Little more than a password can be, whatever is given. */
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
