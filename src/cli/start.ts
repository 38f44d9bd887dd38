import { descriptorLimit, descriptorShortage, troubleInWords } from '../runtime/set-up-trouble.ts';
import { EXIT } from './exit-codes.ts';

/** What still holds the process open after a command has ended is a leak, not work. */
const LINGER_MS = 5000;

/** Whatever is made, by SQLite too, holds keys or what customers wrote: for its owner alone. */
const PRIVATE_UMASK = 0o077;

/** With fewer, some module cannot be read, and what Node says of it names another cause. */
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
    // Everything unexpected ends here. Not the whole object: its properties may hold a key.
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    terminal.err(`sluice: an unexpected error, which is a bug\n${told}\n`);
    process.exitCode = EXIT.failed;
  }
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
