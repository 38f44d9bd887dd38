import { troubleInWords } from '../domain/trouble.ts';
import { descriptorLimit, descriptorShortage } from '../runtime/set-up-trouble.ts';
import { EXIT } from './exit-codes.ts';

/** If something keeps the process running after a command has ended, it is a leak. */
const LINGER_MS = 5000;

/** All created files, SQLite's too, contain keys or messages and are for their owner only. */
const PRIVATE_UMASK = 0o077;

/** With a lower limit, some module cannot be loaded, and Node's error names another cause. */
const DESCRIPTORS_TO_LOAD = 256;

/** Runs the command line of this process. */
export async function start(): Promise<void> {
  process.umask(PRIVATE_UMASK);
  const shortage = descriptorShortage(descriptorLimit(), DESCRIPTORS_TO_LOAD, 'to load itself');
  if (shortage !== undefined) {
    process.stderr.write(`sluice: ${troubleInWords(shortage)}\n`);
    process.exitCode = EXIT.usage;
    return;
  }
  const [{ runCli }, { processTerminal }] = await Promise.all([
    import('./run.ts'),
    import('./terminal.ts'),
  ]);
  const terminal = processTerminal();
  try {
    process.exitCode = await runCli(process.argv.slice(2), terminal, process);
  } catch (error) {
    // All unexpected errors end here. Only the stack is printed, because properties may contain a
    // key.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    terminal.err(`sluice: an unexpected error, which is a bug\n${text}\n`);
    process.exitCode = EXIT.failed;
  }
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
