import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import { eraseJson, foundText, hasFound, othersText, summary } from './erase-report.ts';
import {
  type FoundPerson,
  type PersonContext,
  type PersonOptions,
  withPerson,
  withRemotePlatform,
} from './find-person.ts';
import { type Erased, PersonEraser } from './person-eraser.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { Interrupted, interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import { withSpool } from './open-spool.ts';
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
  await withSpool(command, terminal, (open) => {
    const context = { open, terminal, events };
    return address === undefined
      ? finishErasures(context, options)
      : withPerson(context, { ...options, address }, (person) => erase(person, options));
  });
}

/** Rewrites the databases that people were erased from, if that was postponed or interrupted. */
async function finishErasures(
  { open, terminal, events }: PersonContext,
  { json }: EraseOptions,
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

async function erase(person: FoundPerson, options: EraseOptions): Promise<void> {
  const { open, terminal, found } = person;
  const { shopName } = open;
  if (!options.json) terminal.out(foundText(found, shopName));
  const erased = options.dryRun ? undefined : await eraseIfConfirmed(person, options);
  terminal.out(
    options.json ? document(eraseJson(found, erased, shopName)) : othersText(found, shopName),
  );
  if (erased !== undefined) reportEnd(erased, person);
}

/** @throws {CommandFailed} the operator declines */
async function eraseIfConfirmed(
  { eraser, request, found, audit, terminal, events }: FoundPerson,
  { yes }: EraseOptions,
): Promise<Erased> {
  const isConfirmed =
    !hasFound(found) || (yes ?? (await confirm(terminal, 'Erase all of this permanently?')));
  if (!isConfirmed) throw new CommandFailed('nothing was erased');
  await audit('erase', 'begun');
  try {
    const erased = await interruptible(events, (signal) => eraser.erase(request, found, signal));
    await audit('erase', `done: ${summary(found)}`);
    return erased;
  } catch (error) {
    if (error instanceof Interrupted) {
      await audit('erase', 'interrupted');
      terminal.err('Not everything is erased yet: run the same command again to finish.\n');
    }
    throw error;
  }
}

/** @throws {CommandFailed} something could not be completed while a gateway is running */
function reportEnd({ inFlight, databases }: Erased, { open, terminal }: FoundPerson): void {
  if (inFlight.length > 0) {
    terminal.err(
      `${inFlight.length} messages were still being delivered to the platform, which may have them ` +
        'now: run this again in a minute.\n',
    );
  }
  const elsewhere = withRemotePlatform(open.config);
  if (elsewhere.length > 0) {
    terminal.err(
      `Not reached: the platform of ${elsewhere.join(', ')}. Have the person erased there too.\n`,
    );
  }
  if (databases['database'] === 'not_vacuumed') {
    terminal.err(
      "Everything is erased, but this user of the database may not run VACUUM: have the tables' owner run it.\n",
    );
  }
  assertPurged(databases);
}

/** @throws {CommandFailed} a database is too large to be rewritten while a gateway is running */
function assertPurged(databases: Erased['databases']): void {
  const postponed = Object.keys(databases).filter((file) => databases[file] === 'postponed');
  if (postponed.length > 0) {
    throw new CommandFailed(
      `Everything is erased, but ${postponed.join(' and ')} may still contain traces in unused space, and is too ` +
        'large to be rewritten while a gateway runs. The next start does it, or: stop the gateway and run ' +
        'sluice erase --finish.',
    );
  }
}
