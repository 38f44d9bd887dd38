import { constants, setPriority } from 'node:os';
import type { Command } from 'commander';
import { firstInbox } from '../gateway/sample-messages/first-inbox.ts';
import { emailShops } from '../gateway/shops.ts';
import { canonicalAddress } from '../domain/email-addresses.ts';
import { createIntake } from '../intake/intake.ts';
import { createAddressDirectory } from '../channels/email/routing.ts';
import { createMetrics } from '../observability/metrics.ts';
import { counted } from '../runtime/amounts.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { EmailIngester, DiskFull, type EmailIngesterOptions } from './ingest/email-ingester.ts';
import { type Input, inputsOf } from './ingest/inputs.ts';
import { showPosition, IngestTally } from './ingest/message-position.ts';
import { readExport } from './ingest/read-export.ts';
import { readMbox } from './ingest/read-mbox.ts';
import type { EnvelopeChoice } from './ingest/recipients.ts';
import { interruptible, type ProcessEvents } from './process-end.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { progressOf } from './progress.ts';
import { isSystemError } from '../runtime/error-code.ts';
import { printable, type Terminal } from './terminal.ts';

export interface IngestOptions {
  readonly to?: readonly string[];
  readonly from?: string;
  readonly shop?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/**
 * `ingest`: accepts the messages of the files, except those that are already in the spool. What a
 * gateway beside it receives meanwhile comes first.
 */
export async function ingestFiles(
  files: readonly string[],
  options: IngestOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  if (events.pid !== undefined) setPriority(events.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  await interruptible(events, async (signal) => {
    const inputs = await inputsOf(files, { standardInput: terminal.input, signal });
    await withSpool(command, terminal, async (open) => {
      const tally = new IngestTally();
      try {
        await ingest(open, inputs, options, tally, terminal);
      } finally {
        if (options.dryRun !== true && tally.entries > 0) {
          await open.audit(
            'ingest',
            counted(tally.entries, 'entry', 'entries'),
            `${tally.failed} failed`,
          );
        }
        printTally(tally, options, terminal);
      }
      if (tally.failed > 0) {
        throw new CommandFailed(`${tally.failed} of ${tally.messages} messages were not ingested`);
      }
    });
  });
}

async function ingest(
  open: OpenSpool,
  inputs: readonly Input[],
  options: IngestOptions,
  tally: IngestTally,
  terminal: Terminal,
): Promise<void> {
  const { config, spool } = open;
  const dryRun = options.dryRun === true;
  const total = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = progressOf(terminal, { name: 'ingest', total, unit: 'bytes' });
  let done = 0;
  const intake = createIntake({
    spool,
    chat: open.chat,
    metrics: createMetrics(),
    clock: Date.now,
    // A running gateway finds new entries by itself.
    onAccepted: () => undefined,
  });
  const parts = {
    spool,
    intake,
    directory: createAddressDirectory(emailShops(config)),
    tally,
    onProgress: (bytes: number) => {
      done += bytes;
      progress.at(done, `${tally.messages} messages`);
    },
  };
  const own: EmailIngesterOptions = {
    hostname: config.smtp.hostname,
    maxMessageBytes: config.smtp.maxMessageBytes,
    choice: choiceOf(open, options),
    dryRun,
  };
  const mail = new EmailIngester(parts, own);
  const exported = new EmailIngester(parts, { ...own, verbatim: true });
  try {
    for (const { file, kind, read } of inputs) {
      const chunks = read();
      if (kind === 'mbox') await readMbox(file, chunks, mail);
      else if (kind === 'eml') await readMessage(file, chunks, mail);
      else {
        await readExport(file, chunks, {
          ...{ intake, tally, dryRun, emails: exported, maxMessageBytes: own.maxMessageBytes },
          shopOf: ({ shopId, shop }) =>
            open.shops.find((each) => each.shopId === shopId || each.name === shop)?.shopId,
          isKnown: async ({ shopId, channel, dedupKey }) =>
            (await spool.knownKeys(shopId, channel, [dedupKey])).has(dedupKey),
        });
      }
    }
    await Promise.all([mail.idle(), exported.idle()]);
  } catch (error) {
    if (error instanceof DiskFull || isSystemError(error)) {
      throw new CommandFailed(`${error.message}; run the command again to continue`, {
        cause: error,
      });
    }
    throw error;
  } finally {
    await Promise.all([mail.drop(), exported.drop()]);
    // Messages in progress when another failed become durable, or are not counted.
    await Promise.allSettled([mail.idle(), exported.idle()]);
    progress.end();
  }
}

async function readMessage(
  file: string,
  chunks: AsyncIterable<Buffer>,
  receiver: EmailIngester,
): Promise<void> {
  receiver.begin({ file }, {});
  try {
    for await (const chunk of chunks) {
      const wait = receiver.write(chunk);
      if (wait !== undefined) await wait;
      receiver.advance(chunk.length);
    }
  } catch (error) {
    // A running mail program moves the files of its Maildir.
    if (!isSystemError(error)) throw error;
    await receiver.abandon(`it cannot be read (${error.code})`);
  }
  await receiver.end();
}

function choiceOf(open: OpenSpool, { to, from, shop: name }: IngestOptions): EnvelopeChoice {
  const recipients = to?.map((text) => address(text, '--to'));
  const sender = from === undefined || from === '' ? from : address(from, '--from');
  const ends = {
    ...(recipients && { to: recipients }),
    ...(sender !== undefined && { from: sender }),
  };
  if (name === undefined) return ends;
  const shopId = open.shopId(name);
  const inbox = firstInbox(
    open.shops.find((shop) => shop.shopId === shopId)?.email?.addresses ?? [],
  );
  if (inbox === '') throw new UsageError(`the shop ${name} has no email`);
  return { shop: { shopId, inbox }, ...ends };
}

function address(text: string, option: string): string {
  const canonical = canonicalAddress(text);
  if (canonical === undefined) throw new UsageError(`${option} ${text} is not an email address`);
  return canonical;
}

function printTally(tally: IngestTally, { json, dryRun }: IngestOptions, terminal: Terminal): void {
  const { accepted, duplicates, failed, skipped, entries, failures } = tally;
  if (json) {
    const report = {
      dryRun: dryRun === true,
      accepted,
      duplicates,
      failed,
      skipped,
      entries,
      failures,
    };
    terminal.out(document(report));
    return;
  }
  for (const { reason, ...position } of failures) {
    terminal.err(`${printable(showPosition(position))}: ${printable(reason)}\n`);
  }
  if (failures.length < failed) terminal.err(`and ${failed - failures.length} more\n`);
  const events = skipped === 0 ? '' : `, ${skipped} events skipped`;
  terminal.out(
    `${dryRun ? 'would be ' : ''}ingested: ${accepted}, already present: ${duplicates}, failed: ${failed}${events}\n`,
  );
}
