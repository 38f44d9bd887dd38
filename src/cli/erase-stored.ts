import type { Command } from 'commander';
import { createAddressMatcher } from '../domain/email-addresses.ts';
import { confirm } from './confirm.ts';
import { countriesOf, type NamedPerson, readPerson } from './erase-person.ts';
import { eraseJson, foundText, hasFound, othersText, summary } from './erase-report.ts';
import { type Erased, type EraseFound, type EraseRequest, PersonEraser } from './person-eraser.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { Interrupted, interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { progressOf } from './progress.ts';
import { note, type Terminal } from './terminal.ts';

export interface EraseOptions {
  readonly address: string;
  readonly shop?: string;
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
  await withSpool(command, terminal, (open) => eraseWith(open, options, terminal, events));
}

async function eraseWith(
  open: OpenSpool,
  options: EraseOptions,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  const shopId = options.shop === undefined ? undefined : open.shopId(options.shop);
  const numbers = open.shops.flatMap(({ sms }) => sms?.numbers ?? []);
  const person = readPerson(options.address, countriesOf(numbers));
  const request: EraseRequest = { person, ...(shopId !== undefined && { shopId }) };
  rejectOwnAddress(open, request, options.address);
  const eraser = PersonEraser.open(open.config, open.openEraser());
  try {
    const found = await interruptible(events, (signal) =>
      search(eraser, request, terminal, signal),
    );
    if (options.json !== true) terminal.out(foundText(found, open.shopName));
    if (person.reading.kind === 'visitor' && !hasFound(found)) {
      note(
        terminal,
        'It was read as the id or subject of a chat visitor, because it is neither an email address ' +
          'nor a telephone number.\n',
      );
    }
    const erased = options.dryRun
      ? undefined
      : await eraseIfConfirmed(eraser, request, found, open, options, { terminal, events });
    terminal.out(
      options.json
        ? document(eraseJson(found, erased, open.shopName))
        : othersText(found, open.shopName),
    );
    if (erased !== undefined) reportEnd(erased, open, terminal);
  } finally {
    eraser.close();
  }
}

/**
 * A shop's own address occurs in the messages of all its customers.
 * @throws {UsageError}
 */
function rejectOwnAddress(
  { shops }: OpenSpool,
  { person, shopId }: EraseRequest,
  typed: string,
): void {
  for (const { name, shopId: id, email, sms } of shops) {
    if (shopId !== undefined && shopId !== id) continue;
    const { reading } = person;
    const isInbox =
      reading.kind === 'email' &&
      email !== undefined &&
      [email.addresses, email.formSenders].some((own) =>
        createAddressMatcher(own).has(reading.key),
      );
    if (isInbox || (sms?.numbers ?? []).some((number) => person.is(number))) {
      throw new UsageError(
        `${typed.trim()} is one of ${name}'s own addresses, which occurs in the messages of all its customers: ` +
          'it does not identify a person',
      );
    }
  }
}

async function search(
  eraser: PersonEraser,
  request: EraseRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<EraseFound> {
  const total = await eraser.count();
  const bar = progressOf(terminal, { name: 'looking', total, unit: 'entries' });
  try {
    const found = await eraser.find(request, (entries) => {
      signal.throwIfAborted();
      bar.at(entries);
    });
    signal.throwIfAborted();
    return found;
  } finally {
    bar.end();
  }
}

/** Undefined if the operator declines. */
async function eraseIfConfirmed(
  eraser: PersonEraser,
  request: EraseRequest,
  found: EraseFound,
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
  const target = `person ${await eraser.hashOf(identityOf(request.person))}`;
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

function identityOf({ reading }: NamedPerson): string {
  switch (reading.kind) {
    case 'email':
      return `email ${reading.key}`;
    case 'number':
      return `number ${reading.number}`;
    case 'visitor':
      return `visitor ${reading.id}`;
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
  const elsewhere = config.shops
    .filter((shop) => (shop.platformUrl ?? config.platform.url) !== 'local')
    .map(({ name }) => name);
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
  const postponed = Object.keys(bytes).filter((file) => bytes[file] === 'postponed');
  if (postponed.length > 0) {
    throw new CommandFailed(
      `Everything is erased, but ${postponed.join(' and ')} may still contain traces in unused space, and is too ` +
        'large to be rewritten while a gateway runs: stop the gateway and run this again.',
    );
  }
}
