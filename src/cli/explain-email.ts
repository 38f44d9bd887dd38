import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { createAuthenticator } from '../channels/email/authentication/authenticator.ts';
import type { AuthenticationVerdict } from '../channels/email/authentication/verdict.ts';
import { KEPT_WORDS } from '../channels/email/fixture/kept-words.ts';
import { neutralCopy } from '../channels/email/fixture/neutral-copy.ts';
import { NeutralWords } from '../channels/email/fixture/neutral-words.ts';
import { type HeaderBlock, messageIdOf, parseHeaderBlock } from '../channels/email/header-block.ts';
import { type ExplainedEmail, explainEmail } from '../channels/email/normalize/explain-email.ts';
import { answeredIds, readThreading } from '../channels/email/normalize/head/header-values.ts';
import type { EmailJob } from '../channels/email/normalize/job.ts';
import type { NormalizeContext } from '../channels/email/normalize/normalize-message.ts';
import { removeScratch } from '../channels/email/normalize/parts/collect-part.ts';
import { createAddressDirectory, type Inbox, selectInboxes } from '../channels/email/routing.ts';
import { compileShop, type ShopMail } from '../channels/email/shop.ts';
import type { EmailMeta } from '../channels/email/stored.ts';
import { completeForReading, type CompleteConfig, storeUrl } from '../config/complete.ts';
import type { EmailReading } from '../domain/email-reading.ts';
import type { ShopId } from '../domain/ids.ts';
import { isSystemError } from '../runtime/error-code.ts';
import { authenticatorOptions } from '../gateway/authenticator-options.ts';
import { firstInbox } from '../gateway/sample-messages/first-inbox.ts';
import { emailShops, mailSettings } from '../gateway/shops.ts';
import { silentLogger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createMonotonicClock } from '../runtime/clock.ts';
import { openStore } from '../spool/open-store.ts';
import { configuration } from './configuration.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { explanationJson, explanationText } from './explanation.ts';
import { fileSize } from './file-size.ts';
import { arrivalOf, recipientsOf, senderOf } from './ingest/recipients.ts';
import { shopIdOf } from './open-spool.ts';
import { clientAddress } from '../runtime/ip-addresses.ts';
import { printable, type Terminal } from './terminal.ts';

export interface ExplainOptions {
  readonly to?: string;
  readonly from?: string;
  readonly shop?: string;
  readonly known?: true;
  /** The address of the sender's server, or true. */
  readonly checkSender?: string | true;
  readonly json?: true;
  /** A folder for a neutral copy of the message. */
  readonly fixture?: string;
}

/** `explain`: shows how a message is read, without storing or submitting it. */
export async function explainFile(
  file: string,
  options: ExplainOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const config = await completeForReading(configuration(command, terminal).config);
  const bytes = await bytesOf(file, config.smtp.maxMessageBytes, terminal);
  const head = parseHeaderBlock(bytes);
  const { inbox, isGuess } = inboxOf(head, config, options);
  const shop = shopMail(config, inbox.shopId);
  const meta = metaOf(head, inbox, options);
  const authentication = await verdictOn(bytes, meta, { shop, config, options });
  const job: Omit<EmailJob, 'raw' | 'scratch'> = {
    shopId: inbox.shopId,
    remoteId: meta.messageId ?? '(derived from the content)',
    receivedAt: arrivalOf(head) ?? writtenAt(head),
    released: false,
    meta,
    ...(authentication && { authentication }),
  };
  await withKnownIds(config, options, async (isKnown) => {
    const context = {
      ...{ shop, maxBufferBytes: Infinity },
      isKnown: (ids: readonly string[]) => isKnown(inbox.shopId, ids),
    };
    const email = await explain(bytes, job, context);
    const name = config.shops.find(({ shopId }) => shopId === inbox.shopId)?.name ?? inbox.shopId;
    const shown = { email, shop: name, inbox: inbox.agentContact, isGuess };
    if (options.fixture === undefined) {
      terminal.out(options.json ? explanationJson(shown) : explanationText(shown, terminal));
      return;
    }
    const copy = neutralFixture(bytes, head, inbox, email.reading);
    const path = await writeFixture(options.fixture, file, copy);
    const { reading } = await explain(copy, job, {
      ...context,
      isKnown: (ids) => Promise.resolve(ids.includes(KNOWN_ID)),
    });
    const differences = differencesOf(email.reading, reading);
    terminal.out(`${printable(path)}\n`);
    if (differences.length > 0) {
      throw new CommandFailed(
        `the copy is read differently (${differences.join(', ')}): what matters was replaced; ` +
          'put it back by hand',
      );
    }
  });
}

async function explain(
  bytes: Uint8Array,
  job: Omit<EmailJob, 'raw' | 'scratch'>,
  context: NormalizeContext,
): Promise<ExplainedEmail> {
  const scratch = join(tmpdir(), `sluice-explain-${randomUUID()}`);
  try {
    return await explainEmail({ ...job, raw: { kind: 'bytes', bytes }, scratch }, context);
  } finally {
    await removeScratch(scratch);
  }
}

/** The names in fixtures of the shop's inbox and of the platform's message. */
const FIXTURE_INBOX = 'support@acme.example';
const KNOWN_ID = '<m1@acme.example>';

function neutralFixture(
  bytes: Uint8Array,
  head: HeaderBlock,
  { ourAddresses }: Inbox,
  { quotes }: EmailReading,
): Buffer {
  const isAnswer = quotes.why !== 'no_reply' && quotes.why !== 'unknown_reply';
  const answered = isAnswer ? answeredIds(readThreading(head)) : [];
  const names = [
    ...ourAddresses.map((address) => [address, FIXTURE_INBOX] as const),
    ...answered.slice(0, 1).map((id) => [id, KNOWN_ID] as const),
  ];
  return neutralCopy(bytes, new NeutralWords(KEPT_WORDS, new Map(names)));
}

/** @throws {UsageError} the folder does not exist, or has a file of this name */
async function writeFixture(folder: string, file: string, copy: Buffer): Promise<string> {
  const name = file === '-' ? 'message' : basename(file).replace(/\.eml$/i, '');
  const path = join(folder, `${name}.eml`);
  try {
    await writeFile(path, copy, { flag: 'wx' });
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw new UsageError(`${printable(path)} cannot be written (${cause.code})`, { cause });
  }
  return path;
}

/** What of a reading is not a matter of words. */
function differencesOf(one: EmailReading, other: EmailReading): readonly string[] {
  const shapes = [one, other].map(({ sender, parts, body, quotes, findings, decision }) => ({
    sender: sender.because,
    parts: parts.map(({ type, use }) => [type, use]),
    body,
    quotes: [quotes.why, quotes.cut.map(({ rule, lines }) => [rule, lines])],
    findings,
    decision: [decision.kind, decision.reason?.code],
  }));
  const [before, after] = shapes;
  return Object.entries(before ?? {}).flatMap(([name, value]) => {
    const same =
      JSON.stringify(value) ===
      JSON.stringify(Object.entries(after ?? {}).find(([key]) => key === name)?.[1]);
    return same ? [] : [name];
  });
}

function writtenAt(head: HeaderBlock): number {
  const at = Date.parse(head.first('date') ?? '');
  return Number.isNaN(at) ? Date.now() : at;
}

/** @throws {UsageError} it cannot be read, or is larger than the gateway accepts */
async function bytesOf(file: string, maxBytes: number, { input }: Terminal): Promise<Uint8Array> {
  if (file !== '-') {
    const size = await fileSize(file);
    if (size > maxBytes) throw tooLarge(maxBytes);
    return readFile(file);
  }
  if (input === undefined || input.isTTY === true) {
    throw new UsageError('- reads a pipe from another program');
  }
  const bytes = await buffer(input);
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

const tooLarge = (maxBytes: number) =>
  new UsageError(`the message is larger than ${maxBytes} bytes (smtp.maxMessageBytes)`);

interface ChosenInbox {
  readonly inbox: Inbox;
  /** No recipient of the message is configured. */
  readonly isGuess: boolean;
}

/** @throws {UsageError} no shop has email, or no such shop */
function inboxOf(
  head: HeaderBlock,
  config: CompleteConfig,
  { to, shop }: ExplainOptions,
): ChosenInbox {
  const shopId = shop === undefined ? undefined : shopIdOf(config.shops, shop);
  const shops = emailShops(config).filter((each) => shopId === undefined || each.shopId === shopId);
  const [first] = shops;
  if (first === undefined) {
    throw new UsageError(
      shop === undefined ? 'no shop has email' : `the shop ${shop} has no email`,
    );
  }
  const directory = createAddressDirectory(shops);
  const recipients = recipientsOf(head, { ...(to !== undefined && { to: [to] }) }, [], directory);
  const [inbox] = selectInboxes(directory, head, recipients);
  if (inbox !== undefined) return { inbox, isGuess: false };
  if (to !== undefined) throw new UsageError(`${to} is not an address of a configured shop`);
  const agentContact = firstInbox(first.addresses);
  const addresses = [agentContact];
  return {
    inbox: { shopId: first.shopId, agentContact, recipients: addresses, ourAddresses: addresses },
    isGuess: true,
  };
}

function shopMail(config: CompleteConfig, shopId: ShopId): ShopMail {
  const settings = mailSettings(config).find((each) => each.shopId === shopId);
  if (settings === undefined) throw new UsageError('the shop has no email');
  return compileShop(settings);
}

/** What a door would have stored with the message. */
function metaOf(
  head: HeaderBlock,
  { agentContact, recipients, ourAddresses }: Inbox,
  { from, checkSender }: ExplainOptions,
): EmailMeta {
  const messageId = messageIdOf(head);
  const remoteAddress = typeof checkSender === 'string' ? clientAddress(checkSender) : 'explain';
  if (typeof checkSender === 'string' && isIP(checkSender) === 0) {
    throw new UsageError(`--check-sender: ${checkSender} is not an IP address`);
  }
  return {
    ...{ remoteAddress, heloName: '', tls: false, receivedHeader: '' },
    // Without the address of the sender's server, SPF is left out.
    trustedRelay: typeof checkSender !== 'string',
    envelopeFrom: senderOf(head, { ...(from !== undefined && { from }) }, undefined),
    envelopeTo: [...recipients],
    agentContact,
    ourAddressesMatched: [...ourAddresses],
    ...(messageId !== undefined && { messageId }),
  };
}

interface Asked {
  readonly shop: ShopMail;
  readonly config: CompleteConfig;
  readonly options: ExplainOptions;
}

/** Asks DNS only if the command line says so: it may run where there is none. */
async function verdictOn(
  bytes: Uint8Array,
  meta: EmailMeta,
  { shop, config, options }: Asked,
): Promise<AuthenticationVerdict | undefined> {
  if (options.checkSender === undefined) return undefined;
  const authenticator = createAuthenticator(authenticatorOptions(config), {
    logger: silentLogger,
    metrics: createMetrics(),
    clock: createMonotonicClock(),
  });
  try {
    const { trustedArcSealers, senders } = shop;
    return await authenticator.check({
      ...meta,
      raw: { kind: 'bytes', bytes },
      ...{ trustedArcSealers, senders },
    });
  } finally {
    await authenticator.stop();
  }
}

type IsKnown = (shopId: ShopId, ids: readonly string[]) => Promise<boolean>;

/** Which messages have passed through is in the spool, if there is one. */
async function withKnownIds<T>(
  config: CompleteConfig,
  { known }: ExplainOptions,
  work: (isKnown: IsKnown) => Promise<T>,
): Promise<T> {
  const { dataDir: dir } = config;
  const url = storeUrl(config);
  if (known === true || (url === 'sqlite' && !existsSync(join(dir, 'spool.db')))) {
    return work(() => Promise.resolve(known === true));
  }
  const { spool } = await openStore({ url, dir, role: 'beside', reserveBytes: 0 });
  try {
    return await work(async (shopId, ids) => (await spool.knownEmailIds(shopId, ids)).size > 0);
  } finally {
    await spool.close();
  }
}
