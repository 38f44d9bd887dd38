import { z } from 'zod';
import type { Arrival, Intake } from '../../intake/intake.ts';
import { chatMeta, chatRaw } from '../../channels/chat/stored.ts';
import type { ShopId } from '../../domain/ids.ts';
import { storedFormReaderOf } from '../../gateway/stored-forms.ts';
import { type ExportedEntry, readExportLine } from '../queue-entry.ts';
import type { EmailIngester } from './email-ingester.ts';
import type { MessagePosition, IngestTally } from './message-position.ts';

interface ExportParts {
  readonly intake: Pick<Intake, 'accept'>;
  /** Keeps raw forms unchanged. */
  readonly emails: EmailIngester;
  readonly tally: IngestTally;
  readonly shopOf: (line: ExportedEntry) => ShopId | undefined;
  readonly isKnown: (arrival: Arrival) => Promise<boolean>;
  readonly maxMessageBytes: number;
  readonly dryRun: boolean;
}

/** The envelope in an email's meta. */
const envelopeSchema = z.object({
  envelopeFrom: z.string(),
  envelopeTo: z.array(z.string()),
});
const smsSchema = z.object({ messageSid: z.string().min(1) });

/**
 * Ingests the lines of `queue export`: emails through the path of emails, texts and chat messages
 * as the arrivals that they were. Entries that already exist are not changed.
 */
export async function readExport(
  file: string,
  chunks: AsyncIterable<Buffer>,
  parts: ExportParts,
): Promise<void> {
  // Base64 adds a third; the timeline and the delivery record are small in comparison.
  const maxBytes = 2 * parts.maxMessageBytes + 16 * 1024 * 1024;
  let at = 0;
  for await (const { offset, text } of readLines(chunks, maxBytes)) {
    parts.emails.advance(offset - at);
    at = offset;
    if (text?.trim() === '') continue;
    const position = { file, offset };
    const line = text === undefined ? undefined : readExportLine(text);
    if (line === undefined) {
      parts.tally.fail(position, 'it is not a line of queue export --format jsonl');
    } else await takeLine(line, position, parts);
  }
}

async function takeLine(
  line: ExportedEntry,
  position: MessagePosition,
  parts: ExportParts,
): Promise<void> {
  const { tally, emails } = parts;
  if (line.kind === 'event') {
    // The event is recreated with the message that it belongs to.
    tally.skipped += 1;
    return;
  }
  if (line.raw === undefined) {
    tally.fail(position, 'its raw form is not in the export');
    return;
  }
  const raw = Buffer.from(line.raw, 'base64');
  const receivedAt = Date.parse(line.receivedAt);
  if (line.channel !== 'email') {
    await takeArrival(line, raw, receivedAt, position, parts);
    return;
  }
  const envelope = envelopeSchema.safeParse(line.meta).data;
  emails.begin(position, {
    receivedAt,
    ...(envelope && { sender: envelope.envelopeFrom, recipients: envelope.envelopeTo }),
  });
  const wait = emails.write(raw);
  if (wait !== undefined) await wait;
  await emails.end();
}

async function takeArrival(
  line: ExportedEntry,
  raw: Buffer,
  receivedAt: number,
  position: MessagePosition,
  parts: ExportParts,
): Promise<void> {
  const { tally } = parts;
  const shopId = parts.shopOf(line);
  if (shopId === undefined) {
    tally.fail(position, 'its shop is not configured here');
    return;
  }
  const dedupKey = dedupKeyOf(line, raw);
  if (dedupKey === undefined) {
    tally.fail(
      position,
      'its raw form is damaged or refers to files that an export does not contain',
    );
    return;
  }
  const { channel, lane, remoteId, meta } = line;
  const arrival: Arrival = {
    ...{ shopId, channel, lane, dedupKey, remoteId, meta, receivedAt },
    raw: { kind: 'inline', bytes: raw },
    summary: storedFormReaderOf({ kind: 'message', channel }).summaryOf(meta, raw),
  };
  const duplicate = parts.dryRun
    ? await parts.isKnown(arrival)
    : ((await parts.intake.accept([arrival]))[0]?.duplicate ?? false);
  if (duplicate) tally.duplicates += 1;
  else {
    tally.accepted += 1;
    tally.entries += 1;
  }
}

/** In the form of the channel (`sms/receive.ts`, `chat/receive.ts`). */
function dedupKeyOf({ channel, meta }: ExportedEntry, raw: Buffer): string | undefined {
  if (channel === 'sms') return smsSchema.safeParse(meta).data?.messageSid;
  try {
    const { visitorId, messageId } = chatMeta({ meta });
    return chatRaw(raw).uploads.length === 0 ? `${visitorId}:${messageId}` : undefined;
  } catch {
    return undefined;
  }
}

/** One line of a file without its end; `text` is absent if the line is too long. */
interface FileLine {
  readonly offset: number;
  readonly text?: string;
}

/** The lines of a file, with at most `maxBytes` of a line in memory. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<FileLine, void, undefined> {
  let parts: Buffer[] = [];
  let held = 0;
  let start = 0;
  let at = 0;
  const line = (end: Buffer): FileLine => {
    const length = held + end.length;
    const whole = length > maxBytes ? undefined : Buffer.concat([...parts, end]).toString('utf8');
    return { offset: start, ...(whole !== undefined && { text: whole }) };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let lf = chunk.indexOf(0x0a); lf !== -1; lf = chunk.indexOf(0x0a, from)) {
      yield line(chunk.subarray(from, lf));
      from = lf + 1;
      parts = [];
      held = 0;
      start = at + from;
    }
    const rest = chunk.subarray(from);
    held += rest.length;
    if (held <= maxBytes) parts.push(Buffer.from(rest));
    else parts = [];
    at += chunk.length;
  }
  if (held > 0) yield line(Buffer.alloc(0));
}
