import type { Command } from 'commander';
import { type Entry, waitOf } from '../spool/entry.ts';
import type { EntryState } from '../domain/entry-state.ts';
import { reasonInWords } from '../domain/reason-explanations.ts';
import type { EntryId } from '../domain/ids.ts';
import type { FoundEntry } from '../spool/entry-index.ts';
import { idOf, shortId } from './entry-id.ts';
import { document, jsonLine } from './json.ts';
import { nothingFound } from './nothing-found.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import type { ProcessEvents } from './process-end.ts';
import { foundJson, time } from './queue-entry.ts';
import { type Filter, filterOf, type FilterOptions } from './queue-filter.ts';
import { STATE_COLOURS } from './cell.ts';
import { type Column, Table } from './table.ts';
import { note, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';
import { watch } from './watch.ts';

export interface ListOptions extends FilterOptions {
  readonly before?: string;
  readonly limit: number;
  readonly json?: true;
  readonly jsonl?: true;
  readonly watch?: true;
  readonly every: number;
}

/** `queue list`: prints a page of entries, or watches the newest. */
export async function listEntries(
  words: readonly string[],
  options: ListOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    if (options.watch) {
      const lines = async () =>
        (await shown(await page(open, options, words), open, terminal)).trimEnd().split('\n');
      await watch(terminal, events, { everyMs: options.every, lines });
      return;
    }
    const listed = await page(open, options, words);
    const { found, next } = listed;
    if (options.json) {
      terminal.out(document(found.map(asJson(open))));
    } else if (options.jsonl) {
      for (const each of found) terminal.out(jsonLine(asJson(open)(each)));
    } else {
      terminal.out(await shown(listed, open, terminal));
      if (next !== undefined) note(terminal, `For older entries: --before ${next}\n`);
      await reportBacklog(open, words, terminal);
    }
  });
}

interface EntryPage {
  readonly filter: Filter;
  readonly before: EntryId | undefined;
  readonly found: readonly FoundEntry[];
  readonly next: EntryId | undefined;
}

async function page(
  open: OpenSpool,
  { before: text, limit, ...options }: ListOptions,
  words: readonly string[],
): Promise<EntryPage> {
  const filter = filterOf(open, options, words);
  const before = text === undefined ? undefined : await idOf(open, text);
  const { found, next } = await open.index.find({
    ...filter,
    limit,
    ...(before !== undefined && { before }),
  });
  const entries = found.map((each) => ({ ...each, entry: open.shown(each.entry) }));
  return { filter, before, found: entries, next };
}

/** Entries that are not indexed yet cannot be found by words. */
async function reportBacklog(
  open: OpenSpool,
  words: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const missing = words.length === 0 ? 0 : await open.index.backlog();
  if (missing > 0) {
    terminal.err(`${missing} entries are not indexed for search yet: try again in a moment\n`);
  }
}

const asJson = (open: OpenSpool) => (found: FoundEntry) =>
  foundJson(found, open.shopName(found.entry.shopId));

async function shown(
  { filter, before, found }: EntryPage,
  open: OpenSpool,
  terminal: Terminal,
): Promise<string> {
  if (found.length === 0) return nothingFound(open.index, filter, before);
  return new Table(columns(open, terminal), terminal).lines(found);
}

/** Ages change with the clock. On a pipe, where lines are compared, times are shown instead. */
function columns(open: OpenSpool, terminal: Terminal): readonly Column<FoundEntry>[] {
  const now = Date.now();
  const seen = terminal.columns !== undefined;
  return [
    seen
      ? { head: 'id', min: 13, value: ({ entry }) => shortId(entry.id) }
      : { head: 'id', min: 36, value: ({ entry }) => entry.id },
    { head: 'received', min: 19, drop: 8, value: ({ entry }) => time(entry.receivedAt) },
    ...(seen
      ? [
          {
            head: 'age',
            min: 4,
            drop: 4,
            value: ({ entry }: FoundEntry) => shortSpan(now - entry.receivedAt),
          },
        ]
      : []),
    { head: 'shop', min: 6, max: 12, drop: 7, value: ({ entry }) => open.shopName(entry.shopId) },
    { head: 'channel', min: 8, drop: 6, value: ({ entry }) => channelOf(entry) },
    {
      head: 'state',
      min: 10,
      value: ({ entry }) => entry.state,
      colour: (text) => (text in STATE_COLOURS ? STATE_COLOURS[text as EntryState] : undefined),
    },
    { head: 'failed', min: 6, drop: 9, value: ({ entry }) => entry.failures },
    { head: 'sender', min: 12, max: 24, drop: 2, value: ({ summary }) => summary.from },
    { head: 'subject', min: 10, max: 30, drop: 3, value: ({ summary }) => summary.subject },
    {
      head: 'next or reason',
      min: 32,
      // The last column: it takes what the others leave.
      max: Infinity,
      value: ({ entry }) => remark(entry, now, seen),
    },
  ];
}

export const channelOf = ({ kind, channel }: Entry): string =>
  kind === 'event' ? `${channel} event` : channel;

function remark(entry: Entry, now: number, seen: boolean): string {
  const reason = entry.reason === undefined ? '' : reasonInWords(entry.reason);
  const isWaiting = entry.state === 'queued' && entry.reason?.code !== 'shop_not_configured';
  const waitsForItsTime = waitOf(entry) === 'time' && entry.failures > 0;
  if (!isWaiting || !waitsForItsTime) return reason;
  const wait = entry.nextAttemptAt - now;
  const next = !seen ? time(entry.nextAttemptAt) : wait <= 0 ? 'now' : `in ${shortSpan(wait)}`;
  return `${next} ${reason}`;
}
