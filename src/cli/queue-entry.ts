import { type Entry, waitOf, type TimelineStep } from '../spool/entry.ts';
import type { FoundEntry } from '../spool/entry-index.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';
import { z } from 'zod';
import { ENTRY_STATES } from '../domain/entry-state.ts';
import { type Reason, sentence } from '../domain/reasons.ts';
import { CHANNELS } from '../domain/channel.ts';
import { jsonLine } from './json.ts';

/** An entry for programs: times in ISO 8601, and the shop's name as well. */
export function entryJson(entry: Entry, shop: string): Record<string, unknown> {
  return {
    ...entry,
    ...reasonJson(entry.reason),
    shop,
    waitsFor: entry.state === 'queued' ? waitOf(entry) : undefined,
    receivedAt: iso(entry.receivedAt),
    nextAttemptAt: iso(entry.nextAttemptAt),
    lastAttemptAt: entry.lastAttemptAt === 0 ? undefined : iso(entry.lastAttemptAt),
    settledAt: entry.settledAt === undefined ? undefined : iso(entry.settledAt),
  };
}

/** The reason in words, as a code, and as the code's parameters. */
export function reasonJson(reason: Reason | undefined): object {
  if (reason === undefined) return {};
  const { code: reasonCode, params: reasonParams } = reason;
  return { reason: sentence(reason), reasonCode, reasonParams };
}

/** A time for people: UTC, to the second. */
export function time(at: number): string {
  return iso(at).replace('T', ' ').slice(0, 'YYYY-MM-DD hh:mm:ss'.length);
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** The same with the sender, if it is known. */
export function foundJson({ entry, summary }: FoundEntry, shop: string): Record<string, unknown> {
  return { ...entryJson(entry, shop), ...summary };
}

/** Stored in each JSON line beside the entry; `ingest` reads it. */
const EXPORT_VERSION = 1;

export function exportLine(
  found: FoundEntry,
  shop: string,
  timeline: readonly TimelineStep[],
  record: DeliveryRecord | undefined,
  raw: Buffer | undefined,
): string {
  const line = {
    version: EXPORT_VERSION,
    ...foundJson(found, shop),
    timeline: timeline.map((step) => ({ ...step, at: iso(step.at) })),
    ...(record !== undefined && { record }),
  };
  const text = jsonLine(line);
  if (raw === undefined) return text;
  // Appended as text, because the raw form can be many megabytes and needs no escaping.
  return `${text.slice(0, -2)},"raw":"${raw.toString('base64')}"}\n`;
}

/** The fields of such a line that `ingest` needs; the others are for people. */
const lineSchema = z.object({
  version: z.literal(EXPORT_VERSION),
  id: z.string(),
  kind: z.enum(['message', 'event']),
  shopId: z.string(),
  shop: z.string(),
  channel: z.enum(CHANNELS),
  lane: z.string(),
  remoteId: z.string(),
  state: z.enum(ENTRY_STATES),
  receivedAt: z.iso.datetime(),
  meta: z.record(z.string(), z.unknown()),
  raw: z.base64().optional(),
});
export type ExportedEntry = Readonly<z.output<typeof lineSchema>>;

/** Undefined if it is not a line of an export, or is one of another version. */
export function readExportLine(text: string): ExportedEntry | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
