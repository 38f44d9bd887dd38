import { z } from 'zod';
import type { Arrival, Intake } from '../../intake/intake.ts';
import { chatMeta, chatRaw } from '../../channels/chat/stored.ts';
import type { ShopId } from '../../domain/ids.ts';
import { storedFormOf } from '../../gateway/stored-forms.ts';
import { type ExportedEntry, readExportLine } from '../queue-entry.ts';
import type { EmailTaker } from './email-taker.ts';
import type { Place, IngestTally } from './place.ts';

interface ExportParts {
  readonly intake: Pick<Intake, 'accept'>;
  /** With raw forms as they are. */
  readonly emails: EmailTaker;
  readonly tally: IngestTally;
  readonly shopOf: (line: ExportedEntry) => ShopId | undefined;
  readonly isKnown: (arrival: Arrival) => Promise<boolean>;
  readonly maxMessageBytes: number;
  readonly dryRun: boolean;
}

/** What of an email's meta is its envelope. */
const envelopeSchema = z.object({
  envelopeFrom: z.string(),
  envelopeTo: z.array(z.string()),
});
const smsSchema = z.object({ messageSid: z.string().min(1) });

/**
 * Takes the lines of `queue export` in again: emails by the door of emails, texts and chat messages
 * as the arrivals that they were. What is known already stays as it is.
 */
export async function readExport(
  file: string,
  chunks: AsyncIterable<Buffer>,
  parts: ExportParts,
): Promise<void> {
  // Base64 adds a third; timeline and record are small beside it.
  const maxBytes = 2 * parts.maxMessageBytes + 16 * 1024 * 1024;
  let at = 0;
  for await (const { offset, text } of readLines(chunks, maxBytes)) {
    parts.emails.advance(offset - at);
    at = offset;
    if (text?.trim() === '') continue;
    const place = { file, offset };
    const line = text === undefined ? undefined : readExportLine(text);
    if (line === undefined) {
      parts.tally.fail(place, 'it is no line of queue export --format jsonl');
    } else await takeLine(line, place, parts);
  }
}

async function takeLine(line: ExportedEntry, place: Place, parts: ExportParts): Promise<void> {
  const { tally, emails } = parts;
  if (line.kind === 'event') {
    // It is made again by the message that it belongs to.
    tally.skipped += 1;
    return;
  }
  if (line.raw === undefined) {
    tally.fail(place, 'its raw form is not in the export');
    return;
  }
  const raw = Buffer.from(line.raw, 'base64');
  const receivedAt = Date.parse(line.receivedAt);
  if (line.channel !== 'email') {
    await takeArrival(line, raw, receivedAt, place, parts);
    return;
  }
  const envelope = envelopeSchema.safeParse(line.meta).data;
  emails.begin(place, {
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
  place: Place,
  parts: ExportParts,
): Promise<void> {
  const { tally } = parts;
  const shopId = parts.shopOf(line);
  if (shopId === undefined) {
    tally.fail(place, 'its shop is not configured here');
    return;
  }
  const dedupKey = dedupKeyOf(line, raw);
  if (dedupKey === undefined) {
    tally.fail(place, 'its raw form is damaged, or has files that are not in an export');
    return;
  }
  const { channel, lane, remoteId, meta } = line;
  const arrival: Arrival = {
    ...{ shopId, channel, lane, dedupKey, remoteId, meta, receivedAt },
    raw: { kind: 'inline', bytes: raw },
    summary: storedFormOf({ kind: 'message', channel }).summaryOf(meta, raw),
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

/** As the channel made it (`sms/receive.ts`, `chat/receive.ts`). */
function dedupKeyOf({ channel, meta }: ExportedEntry, raw: Buffer): string | undefined {
  if (channel === 'sms') return smsSchema.safeParse(meta).data?.messageSid;
  try {
    const { visitorId, messageId } = chatMeta({ meta });
    return chatRaw(raw).uploads.length === 0 ? `${visitorId}:${messageId}` : undefined;
  } catch {
    return undefined;
  }
}

/** One line of a file without its end; `text` is absent when it is longer than allowed. */
interface FileLine {
  readonly offset: number;
  readonly text?: string;
}

/** The lines of a file, none of them in memory longer than `maxBytes`. */
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
