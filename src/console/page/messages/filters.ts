import { CHANNELS } from '../../../domain/channel.ts';
import { ENTRY_STATES } from '../../../domain/entry-state.ts';
import type { Channel, EntryState } from '../../contract.ts';
import { queryString } from '../query.ts';
import { CHANNEL_NAMES, exact, listed, STATE_NAMES } from '../formats.ts';

/** The time range of a list. A preset is relative to the current time. */
export type TimeFilter =
  | { readonly kind: 'any' }
  | { readonly kind: 'last'; readonly preset: Preset }
  | { readonly kind: 'between'; readonly from?: Instant; readonly to?: Instant };
type Instant = number | undefined;

const HOUR_MS = 3_600_000;
export const PRESETS = [
  { preset: '15m', words: 'Last 15 minutes', ms: HOUR_MS / 4 },
  { preset: '1h', words: 'Last hour', ms: HOUR_MS },
  { preset: '24h', words: 'Last 24 hours', ms: 24 * HOUR_MS },
  { preset: '7d', words: 'Last 7 days', ms: 7 * 24 * HOUR_MS },
  { preset: '30d', words: 'Last 30 days', ms: 30 * 24 * HOUR_MS },
] as const;
type Preset = (typeof PRESETS)[number]['preset'];

const presetOf = (text: string | null) => PRESETS.find(({ preset }) => preset === text);

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
  const preset = presetOf(params.get('time'))?.preset;
  if (preset !== undefined) return { kind: 'last', preset };
  return between(instant(params.get('from')), instant(params.get('to')));
}

/** A range, of which either end may be open. */
export const between = (from: Instant, to: Instant): TimeFilter =>
  from === undefined && to === undefined ? { kind: 'any' } : { kind: 'between', from, to };

function instant(text: string | null): Instant {
  if (text === null || text === '') return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}

/**
 * Writes the filters as a query: empty, or beginning with a question mark. `readFilters` reverses
 * it.
 */
export function writeFilters({ text, shop, channel, states, reason, time }: Filters): string {
  const { from, to } = time.kind === 'between' ? time : {};
  return queryString({
    ...{ text, shop, channel, state: states, reason },
    time: time.kind === 'last' ? time.preset : '',
    from: from === undefined ? '' : new Date(from).toISOString(),
    to: to === undefined ? '' : new Date(to).toISOString(),
  });
}

/** Parameters of `GET /api/entries`, without empty ones. */
export type EntryQuery = Readonly<Record<string, string | readonly string[]>>;

/** The parameters of a time range; empty ones are open. */
export function boundsQuery(
  time: TimeFilter,
  now: number,
): { readonly from: string; readonly to: string } {
  const { from, to } = bounds(time, now);
  return {
    from: from === undefined ? '' : String(from),
    to: to === undefined ? '' : String(to),
  };
}

/** The parameters that select entries. */
export function entryQuery(filters: Filters, now: number): EntryQuery {
  const query: Record<string, string | readonly string[]> = {
    text: filters.text.trim(),
    shop: filters.shop,
    channel: filters.channel,
    state: filters.states,
    reason: filters.reason.trim(),
    ...boundsQuery(filters.time, now),
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
function bounds(time: TimeFilter, now: number): { readonly from?: Instant; readonly to?: Instant } {
  if (time.kind === 'last') return { from: now - (presetOf(time.preset)?.ms ?? 0) };
  return time.kind === 'between' ? time : {};
}

export const isFiltered = (filters: Filters): boolean => writeFilters(filters) !== '';

/** The id when the text is a complete UUID; the message is then opened directly. */
export function completeId(text: string): string | undefined {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : undefined;
}

/** Describes the filters, to complete "All messages that …". */
export function describeFilters(filters: Filters): string {
  const { text, shop, channel, states, reason, time } = filters;
  const { from, to } = time.kind === 'between' ? time : {};
  const parts = listed(
    states.length > 0 &&
      `are ${alternatives(states.map((state) => STATE_NAMES[state].toLowerCase()))}`,
    channel !== '' && `came through ${CHANNEL_NAMES[channel]}`,
    shop !== '' && `belong to ${shop}`,
    reason !== '' && `have a reason starting with “${reason}”`,
    text !== '' && `match “${text}”`,
    time.kind === 'last' && `arrived in the ${presetOf(time.preset)?.words.toLowerCase()}`,
    from !== undefined && `arrived after ${exact(from)}`,
    to !== undefined && `arrived before ${exact(to)}`,
  );
  return parts.length === 0 ? 'exist' : parts.join(', ');
}

function alternatives(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
