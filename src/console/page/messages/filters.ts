import { ENTRY_STATES } from '../../../domain/entry-state.ts';
import type { Channel, EntryState } from '../../contract.ts';
import { CHANNEL_NAMES, CHANNELS, exact, STATE_NAMES } from '../formats.ts';

/** The time range of a list. A preset is relative to the current time. */
export type TimeFilter =
  | { readonly kind: 'any' }
  | { readonly kind: 'last'; readonly preset: Preset }
  | { readonly kind: 'between'; readonly from?: number; readonly to?: number };

type Preset = '15m' | '1h' | '24h' | '7d' | '30d';

export const PRESETS: readonly { readonly preset: Preset; readonly words: string }[] = [
  { preset: '15m', words: 'Last 15 minutes' },
  { preset: '1h', words: 'Last hour' },
  { preset: '24h', words: 'Last 24 hours' },
  { preset: '7d', words: 'Last 7 days' },
  { preset: '30d', words: 'Last 30 days' },
];

const MINUTE_MS = 60_000;
const PRESET_MS: Readonly<Record<Preset, number>> = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '24h': 24 * 60 * MINUTE_MS,
  '7d': 7 * 24 * 60 * MINUTE_MS,
  '30d': 30 * 24 * 60 * MINUTE_MS,
};

/** The filters of a list; empty values match everything. */
export interface Filters {
  readonly text: string;
  /** A configured name. */
  readonly shop: string;
  readonly channel: Channel | '';
  readonly states: readonly EntryState[];
  /** A prefix of the reason. */
  readonly reason: string;
  readonly time: TimeFilter;
}

export const NO_FILTERS: Filters = {
  text: '',
  shop: '',
  channel: '',
  states: [],
  reason: '',
  time: { kind: 'any' },
};

/** Reads the filters from the query of an address; unknown values are ignored. */
export function readFilters(query: string): Filters {
  const params = new URLSearchParams(query);
  const channel = CHANNELS.find((known) => known === params.get('channel')) ?? '';
  const wanted = params.getAll('state').flatMap((value) => value.split(','));
  return {
    text: params.get('text') ?? '',
    shop: params.get('shop') ?? '',
    channel,
    states: ENTRY_STATES.filter((state) => wanted.includes(state)),
    reason: params.get('reason') ?? '',
    time: readTime(params),
  };
}

function readTime(params: URLSearchParams): TimeFilter {
  const preset = PRESETS.find((known) => known.preset === params.get('time'))?.preset;
  if (preset !== undefined) return { kind: 'last', preset };
  const from = instant(params.get('from'));
  const to = instant(params.get('to'));
  if (from === undefined && to === undefined) return { kind: 'any' };
  return { kind: 'between', ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function instant(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}

/**
 * Writes the filters as a query: empty, or beginning with a question mark. `readFilters` reverses
 * it.
 */
export function writeFilters(filters: Filters): string {
  const params = new URLSearchParams();
  set(params, 'text', filters.text);
  set(params, 'shop', filters.shop);
  set(params, 'channel', filters.channel);
  for (const state of filters.states) params.append('state', state);
  set(params, 'reason', filters.reason);
  const { time } = filters;
  if (time.kind === 'last') params.set('time', time.preset);
  if (time.kind === 'between') {
    if (time.from !== undefined) params.set('from', new Date(time.from).toISOString());
    if (time.to !== undefined) params.set('to', new Date(time.to).toISOString());
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Parameters of `GET /api/entries`, without empty ones. */
export type EntryQuery = Readonly<Record<string, string | readonly string[]>>;

/** The parameters that select entries. */
export function entryQuery(filters: Filters, now: number): EntryQuery {
  const { from, to } = bounds(filters.time, now);
  const query: Record<string, string | readonly string[]> = {
    text: filters.text.trim(),
    shop: filters.shop,
    channel: filters.channel,
    state: filters.states,
    reason: filters.reason.trim(),
    from: from === undefined ? '' : String(from),
    to: to === undefined ? '' : String(to),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value.length > 0));
}

/**
 * The query of an action on all matches. Entries that arrive later are excluded, since the operator
 * has not seen them.
 */
export const bulkQuery = (filters: Filters, now: number): EntryQuery => ({
  to: String(now),
  ...entryQuery(filters, now),
});

/** From (inclusive) and to (exclusive), in milliseconds since the epoch. */
function bounds(time: TimeFilter, now: number): { readonly from?: number; readonly to?: number } {
  switch (time.kind) {
    case 'any':
      return {};
    case 'last':
      return { from: now - PRESET_MS[time.preset] };
    case 'between':
      return {
        ...(time.from !== undefined && { from: time.from }),
        ...(time.to !== undefined && { to: time.to }),
      };
  }
}

export const isFiltered = (filters: Filters): boolean => writeFilters(filters) !== '';

/** The id when the text is a complete UUID; the message is then opened directly. */
export function completeId(text: string): string | undefined {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : undefined;
}

function set(params: URLSearchParams, name: string, value: string): void {
  if (value !== '') params.set(name, value);
}

/** Describes the filters, to complete "All messages that …". */
export function describeFilters(filters: Filters): string {
  const { text, shop, channel, states, reason, time } = filters;
  const parts = [
    ...(states.length > 0
      ? [`are ${listed(states.map((state) => STATE_NAMES[state].toLowerCase()))}`]
      : []),
    ...(channel === '' ? [] : [`came through ${CHANNEL_NAMES[channel]}`]),
    ...(shop === '' ? [] : [`belong to ${shop}`]),
    ...(reason === '' ? [] : [`have a reason starting with “${reason}”`]),
    ...(text === '' ? [] : [`match “${text}”`]),
    ...(time.kind === 'last'
      ? [
          `arrived in the ${PRESETS.find(({ preset }) => preset === time.preset)?.words.toLowerCase()}`,
        ]
      : []),
    ...(time.kind === 'between' && time.from !== undefined
      ? [`arrived after ${exact(time.from)}`]
      : []),
    ...(time.kind === 'between' && time.to !== undefined
      ? [`arrived before ${exact(time.to)}`]
      : []),
  ];
  return parts.length === 0 ? 'exist' : parts.join(', ');
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
