import type { Command } from 'commander';
import {
  type Entry,
  type EntrySummary,
  type RawForm,
  type TimelineStep,
  waitOf,
} from '../spool/entry.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';
import { asEntryId } from '../domain/ids.ts';
import { paintFor } from './cell.ts';
import { CommandFailed } from './exit-codes.ts';
import { jsonText } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { entryJson, foundJson, iso, time } from './queue-entry.ts';
import { STATE_COLOURS } from './state-colours.ts';
import { printable, printableLine, type Terminal } from './terminal.ts';
import { longSpan } from './time-argument.ts';
import { timelineLines } from './timeline.ts';

export interface ShowOptions {
  readonly json?: true;
  readonly payload?: true;
  readonly trimmed?: true;
  readonly raw?: true;
}

interface Shown {
  readonly entry: Entry;
  readonly summary: EntrySummary | undefined;
  readonly shop: string;
  readonly timeline: readonly TimelineStep[];
  readonly record: DeliveryRecord | undefined;
}

/** `queue show`: an entry with its timeline, or one part of it alone. */
export async function showEntry(
  id: string,
  options: ShowOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const entry = await open.spool.get(asEntryId(id));
    if (entry === undefined) throw new CommandFailed(`there is no entry ${printable(id)}`);
    if (options.raw) await writeRaw(open, entry, terminal);
    else if (options.payload) terminal.out(await payload(open, entry));
    else if (options.trimmed) terminal.out(await trimmed(open, entry));
    else {
      const shown = await gather(open, entry);
      terminal.out(options.json ? json(shown) : text(shown, terminal));
    }
  });
}

async function gather(open: OpenSpool, entry: Entry): Promise<Shown> {
  const { spool, operator, shopName } = open;
  const [timeline, summaries, record] = await Promise.all([
    spool.timeline(entry.id),
    operator.summaries([entry.id]),
    operator.record(entry.id),
  ]);
  return {
    entry: open.told(entry),
    ...{ summary: summaries.get(entry.id), shop: shopName(entry.shopId), timeline, record },
  };
}

/** The bytes as they are: a person's terminal would obey what a stranger wrote. */
async function writeRaw(open: OpenSpool, entry: Entry, terminal: Terminal): Promise<void> {
  const raw = await open.spool.raw(entry.id);
  if (raw === undefined) throw new CommandFailed('its raw form has been swept (spool.retain.raw)');
  if (terminal.columns !== undefined) {
    for await (const part of rawParts(open, raw)) {
      terminal.out(printable(part.toString('utf8').replaceAll('\r\n', '\n')));
    }
    return;
  }
  for await (const part of rawParts(open, raw)) await terminal.outBytes(part);
}

async function* rawParts(open: OpenSpool, raw: RawForm): AsyncGenerator<Buffer> {
  if (raw.kind === 'inline') yield Buffer.from(raw.bytes);
  // A stream without an encoding gives buffers.
  else for await (const chunk of open.spool.blobs.read(raw.blob)) yield chunk as Buffer;
}

async function payload({ operator }: OpenSpool, { id }: Entry): Promise<string> {
  const record = await operator.record(id);
  if (record === undefined) {
    throw new CommandFailed('nothing was submitted yet, or what was has been swept');
  }
  return `${jsonText(record.request, 2)}\n`;
}

async function trimmed({ operator }: OpenSpool, { id }: Entry): Promise<string> {
  const record = await operator.record(id);
  if (record?.trimmed === undefined) throw new CommandFailed('nothing was trimmed from it');
  return `${printable(record.trimmed).trimEnd()}\n`;
}

function json({ entry, summary, shop, timeline, record }: Shown): string {
  const steps = timeline.map((step) => ({ ...step, at: iso(step.at) }));
  const known =
    summary === undefined ? entryJson(entry, shop) : foundJson({ entry, summary }, shop);
  const whole = { ...known, timeline: steps, ...(record && { record }) };
  return `${jsonText(whole, 2)}\n`;
}

function text({ entry, summary, shop, timeline, record }: Shown, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const { state, settledAt } = entry;
  const settled =
    settledAt === undefined ? '' : ` (${longSpan(settledAt - entry.receivedAt)} after it came)`;
  const fields: [string, string | number | undefined][] = [
    ['id', entry.id],
    ['shop', shop],
    ['channel', entry.kind === 'event' ? `${entry.channel} event` : entry.channel],
    ['state', entry.detached ? `${state} (lets its lane pass)` : state],
    ['reason', entry.reason],
    ['from', summary?.from],
    ['to', summary?.to],
    ['subject', summary?.subject],
    ['lane', entry.lane],
    ['remote id', entry.remoteId],
    ['received', time(entry.receivedAt)],
    ['size', `${entry.rawSize} bytes`],
    ['tries', entry.attempts],
    ['next try', state === 'queued' ? nextTry(entry) : undefined],
    ['settled', settledAt === undefined ? undefined : `${time(settledAt)}${settled}`],
    ['message', entry.platformMessageId],
    ['conversation', entry.conversationId],
  ];
  const head = fields.flatMap(([name, value]) => {
    if (value === undefined || value === '') return [];
    const shown = printableLine(String(value));
    return `${name.padEnd(13)} ${name === 'state' ? paint(shown, STATE_COLOURS[state]) : shown}`;
  });
  const parts = [head, ['', 'timeline (UTC)', ...timelineLines(timeline)], recordLines(record)];
  return `${parts.flat().join('\n')}\n`;
}

function nextTry(entry: Entry): string {
  switch (waitOf(entry)) {
    case 'time':
      return time(entry.nextAttemptAt);
    case 'shop':
      return 'when its shop takes messages again (see: sluice shops)';
    case 'media':
      return 'when its shop takes attachments again (see: sluice shops)';
    case 'refusal':
      return 'when the refusal that many messages got is over (see: sluice shops)';
  }
}

function recordLines(record: DeliveryRecord | undefined): string[] {
  if (record === undefined) return [];
  const files = record.attachments.map(
    ({ name, type, bytes, mediaId }) =>
      `  ${printableLine(name)}  ${printableLine(type)}  ${bytes} bytes  ${mediaId ?? 'not uploaded'}`,
  );
  return [
    ...(files.length === 0 ? [] : ['', 'attachments', ...files]),
    '',
    `submitted: see --payload${record.trimmed === undefined ? '' : '; trimmed: see --trimmed'}`,
  ];
}
