import type { Command } from 'commander';
import { createAddressMatcher } from '../channels/email/address-matcher.ts';
import { confirm } from './confirm.ts';
import { countriesOf, type NamedPerson, readPerson } from './erase-person.ts';
import { eraseJson, foundText, hasFound, othersText, summary } from './erase-report.ts';
import { type Erased, type EraseFound, type EraseRequest, EraseScene } from './erase-scene.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { Interrupted, interruptible, type ProcessEvents } from './process-end.ts';
import { jsonText } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { progressOf } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface EraseOptions {
  readonly address: string;
  readonly shop?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/** `erase`: shows what is stored about a person, asks, and erases it. */
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
  refuseOwn(open, request, options.address);
  const scene = EraseScene.open(open.config);
  try {
    const found = await interruptible(events, (signal) => look(scene, request, terminal, signal));
    if (options.json !== true) terminal.out(foundText(found, open.shopName));
    if (person.reading.kind === 'visitor' && !hasFound(found)) {
      terminal.err(
        'It was read as the id or the subject of a chat visitor: it is neither one email address ' +
          'nor a telephone number.\n',
      );
    }
    const erased = options.dryRun
      ? undefined
      : await eraseIfAgreed(scene, request, found, open, options, { terminal, events });
    terminal.out(
      options.json
        ? `${jsonText(eraseJson(found, erased, open.shopName), 2)}\n`
        : othersText(found, open.shopName),
    );
    if (erased !== undefined) tellEnd(erased, open, terminal);
  } finally {
    scene.close();
  }
}

/**
 * What comes to a shop's own address is from everybody.
 * @throws {UsageError}
 */
function refuseOwn({ shops }: OpenSpool, { person, shopId }: EraseRequest, typed: string): void {
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
        `${typed.trim()} is one of ${name}'s own addresses, where all its customers write to or from: ` +
          'nobody is erased by it',
      );
    }
  }
}

async function look(
  scene: EraseScene,
  request: EraseRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<EraseFound> {
  const total = scene.count();
  const bar = progressOf(terminal, { name: 'looking', total, unit: 'entries' });
  try {
    const found = await scene.find(request, (entries) => {
      signal.throwIfAborted();
      bar.at(entries, '');
    });
    signal.throwIfAborted();
    return found;
  } finally {
    bar.end();
  }
}

/** Undefined: the operator thinks better of it. */
async function eraseIfAgreed(
  scene: EraseScene,
  request: EraseRequest,
  found: EraseFound,
  { audit }: OpenSpool,
  { yes }: EraseOptions,
  { terminal, events }: { terminal: Terminal; events: ProcessEvents },
): Promise<Erased | undefined> {
  if (
    hasFound(found) &&
    yes !== true &&
    !(await confirm(terminal, 'Erase all of this for good?'))
  ) {
    throw new CommandFailed('nothing was erased');
  }
  const target = `person ${scene.hashOf(identityOf(request.person))}`;
  await audit('erase', target, 'begun');
  try {
    const erased = await interruptible(events, (signal) => scene.erase(request, found, signal));
    await audit('erase', target, `done: ${summary(found)}`);
    return erased;
  } catch (error) {
    if (error instanceof Interrupted) {
      await audit('erase', target, 'broken off');
      terminal.err('Not all is erased yet: run the same again, which finishes it.\n');
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

/** @throws {CommandFailed} something could not be finished beside a running gateway */
function tellEnd({ inFlight, bytes }: Erased, { config }: OpenSpool, terminal: Terminal): void {
  if (inFlight.length > 0) {
    terminal.err(
      `${inFlight.length} messages were still on their way to the platform, which may have them ` +
        'by now: run this again in a minute.\n',
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
  const postponed = Object.keys(bytes).filter((file) => bytes[file] === 'postponed');
  if (postponed.length > 0) {
    throw new CommandFailed(
      `All is erased, but ${postponed.join(' and ')} may still have traces in unused space, and is too ` +
        'large to be written anew beside a gateway: stop the gateway and run this again.',
    );
  }
}
