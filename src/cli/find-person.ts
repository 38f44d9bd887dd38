import type { CompleteConfig } from '../config/complete.ts';
import { createAddressMatcher } from '../domain/email-addresses.ts';
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

export interface FoundPerson {
  readonly eraser: PersonEraser;
  readonly request: EraseRequest;
  readonly found: EraseFound;
  /** The person in the audit log: a keyed hash, whose key is made if there is none yet. */
  readonly target: () => Promise<string>;
}

/**
 * Finds what is stored about a person, for the commands that erase or export it. The address `-` is
 * read from standard input, because arguments are visible in the process list and the shell's history.
 * @param work runs while the searched stores are open
 * @throws {UsageError} the address is empty, several lines, ambiguous, or one of a shop's own
 */
export async function withPerson(
  open: OpenSpool,
  options: PersonOptions,
  { terminal, events }: { terminal: Terminal; events: ProcessEvents },
  work: (person: FoundPerson) => Promise<void>,
): Promise<void> {
  const shopId = options.shop === undefined ? undefined : open.shopId(options.shop);
  const numbers = open.shops.flatMap(({ sms }) => sms?.numbers ?? []);
  const typed = options.address === '-' ? await readLine(terminal, 'Address: ') : options.address;
  const person = readPerson(typed, countriesOf(numbers));
  const asked: EraseRequest = { person, ...(shopId !== undefined && { shopId }) };
  rejectOwnAddress(open, asked, typed);
  const eraser = PersonEraser.open(open.config, await open.openEraser());
  try {
    const request: EraseRequest = {
      ...asked,
      person: await wholePerson(person, eraser.spool, shopId),
    };
    const found = await interruptible(events, (signal) =>
      search(eraser, request, terminal, signal),
    );
    if (person.reading.kind === 'visitor' && !hasFound(found)) {
      note(
        terminal,
        'It was read as the id or subject of a chat visitor, because it is neither an email address ' +
          'nor a telephone number.\n',
      );
    }
    const target = async () => `person ${await eraser.spool.hashOf(identityOf(person))}`;
    await work({ eraser, request, found, target });
  } finally {
    eraser.close();
  }
}

/** The names of the shops whose platform is not the embedded one: it is not searched. */
export const withRemotePlatform = ({ shops, platform }: CompleteConfig): string[] =>
  shops.filter((shop) => (shop.platformUrl ?? platform.url) !== 'local').map(({ name }) => name);

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
