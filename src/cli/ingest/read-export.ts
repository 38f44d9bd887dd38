import { z } from 'zod';
import type { Arrival, Intake } from '../../intake/intake.ts';
import { chatMeta, chatRaw } from '../../channels/chat/stored.ts';
import type { ShopId } from '../../domain/ids.ts';
import { storedFormOf } from '../../gateway/stored-forms.ts';
import { type ExportedEntry, readExportLine } from '../export-line.ts';
import type { EmailTaker } from './email-taker.ts';
import type { Place } from './place.ts';
import { readLines } from './read-lines.ts';
import type { IngestTally } from './tally.ts';

export interface ExportParts {
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
