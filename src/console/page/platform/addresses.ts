import { queryString } from '../query.ts';

/** The views of a shop's platform. */
export type View = 'tickets' | 'conversations' | 'contacts';
export const VIEWS: readonly View[] = ['tickets', 'conversations', 'contacts'];
/** With what waits for a person, in all shops on the local platform. */
export type Place = View | 'queue' | 'outbox';
export const QUEUE = '/platform?view=queue';
/** With the replies that have not arrived. */
export const OUTBOX = '/platform?view=outbox';

/** What the address selects: a view with its filters, or one item. */
export interface PlatformPlace {
  readonly shop: string;
  readonly view: Place;
  /** The id of a ticket, a conversation or a contact; empty for the list. */
  readonly id: string;
  readonly filters: Readonly<Record<string, string>>;
}

/** Navigates to a changed location; the shop stays unless it is given. */
export type Go = (next: Partial<PlatformPlace>) => void;

/** The filters of the API (§4.2, §4.10) for each view; `person` is the gateway's own. */
const FILTERS: Readonly<Record<Place, readonly string[]>> = {
  queue: [],
  outbox: [],
  tickets: [
    'priority',
    'assignee_id',
    'agent_id',
    'label_id',
    'conversation_id',
    'person',
    'created_at__range',
  ],
  conversations: ['person'],
  contacts: ['email', 'phone', 'is_archived'],
};

export function readPlace(query: string): PlatformPlace {
  const params = new URLSearchParams(query);
  const places: readonly Place[] = ['queue', 'outbox', ...VIEWS];
  const view = places.find((known) => known === params.get('view')) ?? 'tickets';
  const filters: Record<string, string> = {};
  for (const name of FILTERS[view]) {
    const value = params.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  return { shop: params.get('shop') ?? '', view, id: params.get('id') ?? '', filters };
}

export function writePlace({ shop, view, id, filters }: PlatformPlace): string {
  const known = Object.fromEntries(FILTERS[view].map((name) => [name, filters[name]]));
  return `/platform${queryString({ shop, view, id, ...known })}`;
}

/** The address of one item, or without `id` of the whole list. */
export const addressIn = (view: View, shop: string, id = ''): string =>
  writePlace({ shop, view, id, filters: {} });

/** The cursor in the `next` link of a page (API §2.6). */
export function cursorOf(next: string | null | undefined): string | undefined {
  if (!next) return undefined;
  return new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('cursor') ?? undefined;
}

/**
 * The filter for an email address or a phone number; numbers in the platform's form, digits after a
 * plus sign.
 */
export function personFilter(text: string): Readonly<Record<string, string>> {
  if (text === '') return {};
  if (text.includes('@')) return { email: text.toLowerCase() };
  return { phone: text.replace(/[^\d+]/g, '') };
}
