import type { Command } from 'commander';
import { createAddressMatcher } from '../intake/address-matcher.ts';
import { confirm } from './confirm.ts';
import { countriesOf, type NamedPerson, readPerson } from './erase-person.ts';
import { eraseJson, foundText, hasFound, othersText, summary } from './erase-report.ts';
import { type Erased, type EraseFound, type EraseRequest, EraseScene } from './erase-scene.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { progressOf } from './progress.ts';
import type { Terminal } from './terminal.ts';

interface EraseOptions {
  readonly address: string;
  readonly shop?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

const HELP = `
The address is an email address, a telephone number in any usual writing, or the id
or the subject of a chat visitor. Shows what is stored, asks, and erases it: entries with
their raw messages and files, timelines, chat histories, remembered conversations, and on
the embedded platform the contact, tickets, messages, files and replies. A running gateway
goes on meanwhile. Other people's messages that name the person are listed and stay.

A message that comes a second time is still known, and who has opted out of texts stays
so: by keyed hashes. Not reached: a platform elsewhere, backups, other people's mailboxes.
May be run again at any time, also after it was stopped in the middle.

Examples:
  $ sluice erase --address ann@example.com --dry-run
  $ sluice erase --address "+1 (415) 555-2671" --shop acme
  $ sluice erase --address ann@example.com --yes --json`;

/** `erase`: removes what is stored about a person. */
export function registerErase(program: Command, terminal: Terminal): void {
  program
    .command('erase')
    .description('removes what is stored about a person')
    .requiredOption('--address <address>', 'email address, number, or chat visitor')
    .option('--shop <name>', 'only of this shop')
    .option('--dry-run', 'shows what would be erased')
    .option('--yes', 'does not ask')
    .option('--json', 'for programs: one object')
    .addHelpText('after', HELP)
    .action(async (options: EraseOptions, command: Command) => {
      await withSpool(command, terminal, (open) => eraseWith(open, options, terminal));
    });
}

async function eraseWith(
  open: OpenSpool,
  options: EraseOptions,
  terminal: Terminal,
): Promise<void> {
  const shopId = options.shop === undefined ? undefined : open.shopId(options.shop);
  const numbers = open.shops.flatMap(({ sms }) => sms?.numbers ?? []);
  const person = readPerson(options.address, countriesOf(numbers));
  const request: EraseRequest = { person, ...(shopId !== undefined && { shopId }) };
  refuseOwn(open, request, options.address);
  const scene = EraseScene.open(open.config);
  try {
    const found = await look(scene, request, terminal);
    if (options.json !== true) terminal.out(foundText(found, open.shopName));
    if (person.reading.kind === 'visitor' && !hasFound(found)) {
      terminal.err(
        'It was read as the id or the subject of a chat visitor: it is neither one email address ' +
          'nor a telephone number.\n',
      );
    }
    const erased = options.dryRun
      ? undefined
      : await eraseIfAgreed(scene, request, found, open, options, terminal);
    terminal.out(
      options.json
        ? `${JSON.stringify(eraseJson(found, erased, open.shopName), null, 2)}\n`
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
): Promise<EraseFound> {
  const total = scene.count();
  const bar = progressOf(terminal, { name: 'looking', total, unit: 'entries' });
  try {
    return await scene.find(request, (entries) => bar.at(entries, ''));
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
  terminal: Terminal,
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
  const erased = await scene.erase(request, found);
  await audit('erase', target, `done: ${summary(found)}`);
  return erased;
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
