import type { CompleteConfig } from '../config/complete.ts';
import { createAddressMatcher } from '../domain/email-addresses.ts';
import { LOCAL, platformUrlOf } from '../gateway/platform-url.ts';
import { readLine } from './confirm.ts';
import { countriesOf, type NamedPerson, readPerson } from './erase-person.ts';
import { hasFound } from './erase-report.ts';
import { UsageError } from './exit-codes.ts';
import type { OpenSpool } from './open-spool.ts';
import { type EraseFound, type EraseRequest, PersonEraser } from './person-eraser.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { progressOf } from './progress.ts';
import { note, type Terminal } from './terminal.ts';
import { wholePerson } from './whole-person.ts';

export interface PersonOptions {
  /** As typed: an email address, a number, a chat visitor's id or subject, or `-`: see `withPerson`. */
  readonly address: string;
  /** The name or id of the only shop that is searched. */
  readonly shop?: string;
}

/** Where a command runs. */
export interface PersonContext {
  readonly open: OpenSpool;
  readonly terminal: Terminal;
  readonly events: ProcessEvents;
}

export interface FoundPerson extends PersonContext {
  readonly eraser: PersonEraser;
  readonly request: EraseRequest;
  readonly found: EraseFound;
  /** Adds a line about the person to the audit log, with a keyed hash, whose key is made if there is none yet. */
  readonly audit: (action: string, outcome: string) => Promise<void>;
}

/**
 * Finds what is stored about a person, for the commands that erase or export it. The address `-` is
 * read from standard input, because arguments are visible in the process list and the shell's history.
 * @param work runs while the searched stores are open
 * @throws {UsageError} the address is empty, several lines, ambiguous, or one of a shop's own
 */
export async function withPerson(
  context: PersonContext,
  { shop, address }: PersonOptions,
  work: (person: FoundPerson) => Promise<void>,
): Promise<void> {
  const { open, terminal, events } = context;
  const shopId = shop === undefined ? undefined : open.shopId(shop);
  const numbers = open.shops.flatMap(({ sms }) => sms?.numbers ?? []);
  const typed = address === '-' ? await readLine(terminal, 'Address: ') : address;
  const person = readPerson(typed, countriesOf(numbers));
  const { kind, key } = person.reading;
  const shops = open.shops.filter((each) => shopId === undefined || each.shopId === shopId);
  rejectOwnAddress(shops, person, typed);
  const eraser = PersonEraser.open(open.config, await open.openEraser());
  try {
    const request = { person: await wholePerson(person, eraser.spool, shopId), shopId };
    const found = await interruptible(events, (signal) =>
      search(eraser, request, terminal, signal),
    );
    if (kind === 'visitor' && !hasFound(found)) {
      note(
        terminal,
        'It was read as the id or subject of a chat visitor, because it is neither an email address ' +
          'nor a telephone number.\n',
      );
    }
    const audit = async (action: string, outcome: string) =>
      open.audit(action, `person ${await eraser.spool.hashOf(`${kind} ${key}`)}`, outcome);
    await work({ ...context, eraser, request, found, audit });
  } finally {
    eraser.close();
  }
}

/** The names of the shops whose platform is not the embedded one: it is not searched. */
export const withRemotePlatform = (config: CompleteConfig): string[] =>
  config.shops.filter((shop) => platformUrlOf(config, shop) !== LOCAL).map(({ name }) => name);

/**
 * A shop's own address occurs in the messages of all its customers.
 * @param shops those that are searched
 * @throws {UsageError}
 */
function rejectOwnAddress(
  shops: OpenSpool['shops'],
  { reading, is }: NamedPerson,
  typed: string,
): void {
  for (const { name, email, sms } of shops) {
    const inboxes = email === undefined ? [] : [email.addresses, email.formSenders];
    const isInbox =
      reading.kind === 'email' && inboxes.some((own) => createAddressMatcher(own).has(reading.key));
    if (isInbox || (sms?.numbers ?? []).some(is)) {
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
  const total = await eraser.spool.count();
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
