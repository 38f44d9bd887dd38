import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import { eraseJson, foundText, hasFound, othersText, summary } from './erase-report.ts';
import {
  type FoundPerson,
  type PersonOptions,
  withPerson,
  withRemotePlatform,
} from './find-person.ts';
import { type Erased, PersonEraser } from './person-eraser.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { Interrupted, interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import type { Terminal } from './terminal.ts';

export interface EraseOptions extends Partial<PersonOptions> {
  readonly finish?: true;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/** `erase`: shows what is stored about a person, asks for confirmation, and erases it. */
export async function eraseStored(
  options: EraseOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const { address, finish } = options;
  if ((address === undefined) === (finish === undefined)) {
    throw new UsageError('either --address or --finish is needed');
  }
  await withSpool(command, terminal, (open) =>
    address === undefined
      ? finishErasures(open, options, terminal, events)
      : eraseWith(open, { ...options, address }, terminal, events),
  );
}

/** Rewrites the databases that people were erased from, if that was postponed or interrupted. */
async function finishErasures(
  open: OpenSpool,
  { json }: EraseOptions,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const eraser = PersonEraser.open(open.config, await open.openEraser());
  try {
    const databases = await interruptible(events, (signal) => eraser.purge(signal));
    const lines = Object.entries(databases).map(([file, purged]) => `${file}: ${purged}\n`);
    terminal.out(json ? document({ databases }) : lines.join(''));
    assertPurged(databases);
  } finally {
    eraser.close();
  }
}

async function eraseWith(
  open: OpenSpool,
  options: EraseOptions & PersonOptions,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  await withPerson(open, options, { terminal, events }, async (person) => {
    const { found } = person;
    if (options.json !== true) terminal.out(foundText(found, open.shopName));
    const erased = options.dryRun
      ? undefined
      : await eraseIfConfirmed(person, open, options, { terminal, events });
    terminal.out(
      options.json
        ? document(eraseJson(found, erased, open.shopName))
        : othersText(found, open.shopName),
    );
    if (erased !== undefined) reportEnd(erased, open, terminal);
  });
}

/** Undefined if the operator declines. */
async function eraseIfConfirmed(
  { eraser, request, found, target: targetOf }: FoundPerson,
  { audit }: OpenSpool,
  { yes }: EraseOptions,
  { terminal, events }: { terminal: Terminal; events: ProcessEvents },
): Promise<Erased | undefined> {
  if (
    hasFound(found) &&
    yes !== true &&
    !(await confirm(terminal, 'Erase all of this permanently?'))
  ) {
    throw new CommandFailed('nothing was erased');
  }
  const target = await targetOf();
  await audit('erase', target, 'begun');
  try {
    const erased = await interruptible(events, (signal) => eraser.erase(request, found, signal));
    await audit('erase', target, `done: ${summary(found)}`);
    return erased;
  } catch (error) {
    if (error instanceof Interrupted) {
      await audit('erase', target, 'interrupted');
      terminal.err('Not everything is erased yet: run the same command again to finish.\n');
    }
    throw error;
  }
}

/** @throws {CommandFailed} something could not be completed while a gateway is running */
function reportEnd({ inFlight, bytes }: Erased, { config }: OpenSpool, terminal: Terminal): void {
  if (inFlight.length > 0) {
    terminal.err(
      `${inFlight.length} messages were still being delivered to the platform, which may have them ` +
        'now: run this again in a minute.\n',
    );
  }
  const elsewhere = withRemotePlatform(config);
  if (elsewhere.length > 0) {
    terminal.err(
      `Not reached: the platform of ${elsewhere.join(', ')}. Have the person erased there too.\n`,
    );
  }
  if (bytes['database'] === 'not_vacuumed') {
    terminal.err(
      "Everything is erased, but this user of the database may not run VACUUM: have the tables' owner run it.\n",
    );
  }
  assertPurged(bytes);
}

/** @throws {CommandFailed} a database is too large to be rewritten while a gateway is running */
function assertPurged(bytes: Erased['bytes']): void {
  const postponed = Object.keys(bytes).filter((file) => bytes[file] === 'postponed');
  if (postponed.length > 0) {
    throw new CommandFailed(
      `Everything is erased, but ${postponed.join(' and ')} may still contain traces in unused space, and is too ` +
        'large to be rewritten while a gateway runs. The next start does it, or: stop the gateway and run ' +
        'sluice erase --finish.',
    );
  }
}
