// The program of every process that `Part` starts: runs a module's operations on request.
import type { Ask, PartModule, Told } from './part.ts';

const [moduleUrl = '', options = ''] = process.argv.slice(2);
const tell = (message: Told): void => {
  process.send?.(message);
};
// Exits when the parent process is gone.
process.on('disconnect', () => process.exit(0));

// `Part.start` passes only modules of this type, with the options of their `start`.
const module = (await import(moduleUrl)) as PartModule;
const [given] = JSON.parse(options) as [never];
const operations = await module.start(given);

const work = async ({ id, name, args }: Ask): Promise<void> => {
  try {
    const operation = operations[name];
    if (operation === undefined) throw new TypeError(`no operation ${name}`);
    // `Part.call` types the arguments by the operation's name.
    tell({ kind: 'result', id, value: await operation(...(args as never[])) });
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell({ kind: 'failed', id, message });
  }
};
process.on('message', (message) => void work(message as Ask));
tell({ kind: 'ready' });
