import type { Command } from 'commander';
import type { EntryState } from '../domain/entry-state.ts';
import type { EntryCount } from '../spool/spool.ts';
import type { Channel } from '../domain/channel.ts';
import { paintFor, STATE_COLOURS } from './cell.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import type { ProcessEvents } from './process-end.ts';
import { type Column, Table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';
import { watch } from './watch.ts';
import { iso } from './queue-entry.ts';

export interface StatsOptions {
  readonly channel?: Channel;
  readonly shop?: string;
  readonly json?: true;
  readonly watch?: true;
  readonly every: number;
}

/** A bucket is counted up to this number. */
const MAX_COUNTED = 1_000_000;
/** The number of waiting entries that are searched for the earliest due time. */
const MAX_SEARCHED = 5000;
/** States in the order of the table: waiting entries and those that need an operator come first. */
const ORDER: readonly EntryState[] = [
  'queued',
  'delivering',
  'held',
  'dead',
  'suppressed',
  'discarded',
];

/** `queue stats`: counts entries that wait or need an operator, by age. */
export async function countEntries(
  options: StatsOptions,
  command: Command,
  terminal: Terminal,
  events: ProcessEvents,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    if (options.watch) {
      const lines = async () => shown(await ages(open, options), open, options, terminal);
      await watch(terminal, events, { everyMs: options.every, lines });
      return;
    }
    const all = await ages(open, options);
    terminal.out(
      options.json
        ? document(all.map((each) => agesJson(each, open.shopName(each.shopId))))
        : `${shown(all, open, options, terminal).join('\n')}\n`,
    );
  });
}

async function ages(open: OpenSpool, options: StatsOptions): Promise<Ages[]> {
  const shopId = options.shop === undefined ? undefined : open.shopId(options.shop);
  const now = Date.now();
  const counts = (await open.spool.counts()).filter(
    (each) =>
      (shopId === undefined || each.shopId === shopId) &&
      (options.channel === undefined || each.channel === options.channel),
  );
  const all = await Promise.all(counts.map((count) => agesOf(open, count, now)));
  const name = ({ shopId: id }: Ages) => open.shopName(id);
  return all.toSorted(
    (a, b) =>
      ORDER.indexOf(a.state) - ORDER.indexOf(b.state) ||
      name(a).localeCompare(name(b)) ||
      a.channel.localeCompare(b.channel),
  );
}

async function agesOf({ spool, index }: OpenSpool, count: EntryCount, now: number): Promise<Ages> {
  const { shopId, channel, state } = count;
  const which = { shopId, channel, states: [state] };
  const byAge = await Promise.all(
    buckets(now).map((span) => index.count({ ...which, ...span }, MAX_COUNTED)),
  );
  if (state !== 'queued') return { ...count, byAge };
  const waiting = await spool.list({ ...which, limit: MAX_SEARCHED });
  const dueAt = waiting.reduce(
    (least, { nextAttemptAt }) => Math.min(least, nextAttemptAt),
    Infinity,
  );
  return { ...count, byAge, ...(Number.isFinite(dueAt) && { dueAt }) };
}

function shown(
  all: readonly Ages[],
  open: OpenSpool,
  { shop, channel }: StatsOptions,
  terminal: Terminal,
): readonly string[] {
  const paint = paintFor(terminal);
  if (all.length === 0) {
    const what = [shop, channel].filter((name) => name !== undefined).join(', ');
    return [
      paint(
        `Nothing waits for delivery or for an operator${what === '' ? '' : ` (${what})`}.`,
        'green',
      ),
    ];
  }
  const now = Date.now();
  const table = new Table(columns(open, now), terminal).lines(all);
  const sum = ORDER.flatMap((state) => {
    const count = all.reduce((total, each) => total + (each.state === state ? each.count : 0), 0);
    return count === 0 ? [] : [paint(`${count} ${state}`, STATE_COLOURS[state])];
  });
  return [...table.trimEnd().split('\n'), '', sum.join(', ')];
}

function columns(open: OpenSpool, now: number): readonly Column<Ages>[] {
  return [
    {
      head: 'state',
      min: 10,
      value: ({ state }) => state,
      colour: (text) => STATE_COLOURS[text as EntryState],
    },
    { head: 'shop', min: 6, max: 20, value: ({ shopId }) => open.shopName(shopId) },
    { head: 'channel', min: 8, value: ({ channel }) => channel },
    { head: 'total', min: 7, right: true, value: ({ count }) => count },
    ...BUCKET_NAMES.map((name, at) => ({
      head: name,
      min: 5,
      drop: 1,
      right: true as const,
      // A dot is easier to overlook than a zero.
      value: ({ byAge }: Ages) => (byAge[at] === 0 ? '.' : byAge[at]),
    })),
    { head: 'oldest', min: 6, right: true, value: ({ oldestAt }) => shortSpan(now - oldestAt) },
    {
      head: 'due',
      min: 4,
      right: true,
      value: ({ dueAt }) =>
        dueAt === undefined ? '' : dueAt <= now ? 'now' : shortSpan(dueAt - now),
    },
  ];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The upper age bounds of the buckets, ascending; the last bucket has none. */
const AGE_BOUNDS: readonly number[] = [
  MINUTE,
  5 * MINUTE,
  20 * MINUTE,
  HOUR,
  4 * HOUR,
  DAY,
  7 * DAY,
];

/** `<1m <5m <20m <1h <4h <1d <7d older` */
const BUCKET_NAMES: readonly string[] = [
  ...AGE_BOUNDS.map((bound) => `<${shortSpan(bound)}`),
  'older',
];

/** The range of `receivedAt` for each bucket at a given time: from inclusive, to exclusive. */
function buckets(now: number): readonly { readonly from?: number; readonly to?: number }[] {
  const starts = AGE_BOUNDS.map((bound) => now - bound);
  return [...starts, undefined].map((from, at) => {
    const to = at === 0 ? undefined : starts[at - 1];
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  });
}

/** The entries of one shop, channel and state by age. */
interface Ages extends EntryCount {
  /** One count for each of `BUCKET_NAMES`. */
  readonly byAge: readonly number[];
  /** When the first waiting entry may be tried; absent if none waits. */
  readonly dueAt?: number;
}

function agesJson(ages: Ages, shop: string): Record<string, unknown> {
  const { shopId, channel, state, count, oldestAt, byAge, dueAt } = ages;
  return {
    shop,
    shopId,
    channel,
    state,
    count,
    oldestAt: iso(oldestAt),
    ...(dueAt !== undefined && { dueAt: iso(dueAt) }),
    byAge: Object.fromEntries(BUCKET_NAMES.map((name, at) => [name, byAge[at] ?? 0])),
  };
}
