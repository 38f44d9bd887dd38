#!/usr/bin/env node
import { EXIT } from './cli/exit-codes.ts';
import { runCli } from './cli/run.ts';
import { processTerminal } from './cli/terminal.ts';

/** What still holds the process open after a command has ended is a leak, not work. */
const LINGER_MS = 5000;

const terminal = processTerminal();
try {
  process.exitCode = await runCli(process.argv.slice(2), terminal, process);
} catch (error) {
  // Everything unexpected ends here. Not the whole object: its properties may hold a key.
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(`sluice: an unexpected error, which is a bug\n${told}\n`);
  process.exitCode = EXIT.failed;
}
setTimeout(() => process.exit(), LINGER_MS).unref();
