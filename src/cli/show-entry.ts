import type { Command } from 'commander';
import {
  type Entry,
  type EntrySummary,
  type RawForm,
  type TimelineStep,
  waitOf,
} from '../spool/entry.ts';
import { reasonInWords } from '../domain/reason-explanations.ts';
import { timelineParts } from '../spool/timeline.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';
import { paintFor, STATE_COLOURS } from './cell.ts';
import { idOf } from './entry-id.ts';
import { CommandFailed } from './exit-codes.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { entryJson, foundJson, iso, time } from './queue-entry.ts';
import { printable, printableLine, type Terminal } from './terminal.ts';
import { longSpan } from './time-argument.ts';

export interface ShowOptions {
  readonly json?: true;
  readonly payload?: true;
  readonly trimmed?: true;
  readonly raw?: true;
}

export interface Shown {
  readonly entry: Entry;
  readonly summary: EntrySummary | undefined;
  readonly shop: string;
  readonly timeline: readonly TimelineStep[];
  readonly record: DeliveryRecord | undefined;
}

/** `queue show`: an entry with its timeline, or a single part of it. */
export async function showEntry(
  id: string,
  options: ShowOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const entry = await open.spool.get(await idOf(open, id));
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

/** Reads what is shown of an entry. */
export async function gather(open: OpenSpool, entry: Entry): Promise<Shown> {
  const { spool, index, operator, shopName } = open;
  const [timeline, summaries, record] = await Promise.all([
    spool.timeline(entry.id),
    index.summaries([entry.id]),
    operator.record(entry.id),
  ]);
  return {
    entry: open.shown(entry),
    ...{ summary: summaries.get(entry.id), shop: shopName(entry.shopId), timeline, record },
  };
}

/** Writes the raw bytes. On a terminal, they could contain escape sequences of a sender. */
async function writeRaw(open: OpenSpool, entry: Entry, terminal: Terminal): Promise<void> {
  const raw = await open.spool.raw(entry.id);
  if (raw === undefined)
    throw new CommandFailed('the raw message has been swept (spool.retain.raw)');
  if (terminal.columns !== undefined) {
    for await (const part of rawParts(open, raw)) {
      terminal.out(printable(part.toString('utf8').replaceAll('\r\n', '\n')));
    }
    return;
  }
  for await (const part of rawParts(open, raw)) await terminal.outBytes(part);
}

export async function* rawParts(open: OpenSpool, raw: RawForm): AsyncGenerator<Buffer> {
  if (raw.kind === 'inline') yield Buffer.from(raw.bytes);
  // A stream without an encoding yields buffers.
  else for await (const chunk of open.spool.blobs.read(raw.blob)) yield chunk as Buffer;
}

async function payload({ operator }: OpenSpool, { id }: Entry): Promise<string> {
  const record = await operator.record(id);
  if (record === undefined) {
    throw new CommandFailed('nothing has been submitted, or the record has been swept');
  }
  return document(record.request);
}

async function trimmed({ operator }: OpenSpool, { id }: Entry): Promise<string> {
  const record = await operator.record(id);
  if (record?.trimmed === undefined) throw new CommandFailed('nothing was trimmed from it');
  return `${printable(record.trimmed).trimEnd()}\n`;
}

/** An entry for programs, with its timeline and what was submitted. */
export function json({ entry, summary, shop, timeline, record }: Shown): string {
  const steps = timeline.map((step) => ({ ...step, at: iso(step.at) }));
  const known =
    summary === undefined ? entryJson(entry, shop) : foundJson({ entry, summary }, shop);
  const whole = { ...known, timeline: steps, ...(record && { record }) };
  return document(whole);
}

function text({ entry, summary, shop, timeline, record }: Shown, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const { state, settledAt } = entry;
  const settled =
    settledAt === undefined ? '' : ` (${longSpan(settledAt - entry.receivedAt)} after reception)`;
  const fields: [string, string | number | undefined][] = [
    ['id', entry.id],
    ['shop', shop],
    ['channel', entry.kind === 'event' ? `${entry.channel} event` : entry.channel],
    ['state', entry.detached ? `${state} (does not hold its lane back)` : state],
    ['reason', entry.reason && reasonInWords(entry.reason)],
    ['from', summary?.from],
    ['to', summary?.to],
    ['subject', summary?.subject],
    ['lane', entry.lane],
    ['remote id', entry.remoteId],
    ['received', time(entry.receivedAt)],
    ['size', `${entry.rawSize} bytes`],
    ['failed', entry.failures],
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
      return 'when its shop accepts messages again (see: sluice shops)';
    case 'media':
      return 'when its shop accepts attachments again (see: sluice shops)';
    case 'refusal':
      return 'when the refusal shared by many messages is resolved (see: sluice shops)';
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

/**
 * Lines for people: when each part began, how long after the previous one, and how long it took.
 */
function timelineLines(steps: readonly TimelineStep[]): string[] {
  let last: number | undefined;
  const since = (at: number, end = at): string => {
    const text = last === undefined ? '' : `+${longSpan(at - last)}`;
    last = end;
    return text.padEnd(12);
  };
  return timelineParts(steps).flatMap((part) => {
    if (part.kind === 'step') {
      const { at, step, detail } = part.step;
      return [
        line(`  ${time(at)}  ${since(at)} ${printableLine(step.padEnd(14))} ${details(detail)}`),
      ];
    }
    const { startedAt } = part;
    const endedAt = part.steps.at(-1)?.at ?? startedAt;
    const outcome = part.outcome?.step ?? 'under way';
    const head =
      `  ${time(startedAt)}  ${since(startedAt, endedAt)} attempt ${part.no}: ${printableLine(outcome)}` +
      `, took ${longSpan(endedAt - startedAt)}`;
    return [
      head,
      ...part.steps.map(({ tookMs, step, detail }) =>
        line(
          `${' '.repeat(23)}${longSpan(tookMs).padEnd(12)} ${printableLine(step.padEnd(14))} ${details(detail)}`,
        ),
      ),
    ];
  });
}

const line = (text: string): string => text.trimEnd();

function details(detail: TimelineStep['detail']): string {
  return Object.entries(detail ?? {})
    .map(([name, value]) =>
      printableLine(
        name === 'nextAttemptAt' && typeof value === 'number'
          ? `next=${time(value)}`
          : `${name}=${value}`,
      ),
    )
    .join(' ');
}
