import { type FieldError, type HttpAnswer, json, type Refusals } from './platform-answers.ts';
import {
  contactResource,
  conversationResource,
  messageResource,
  ticketResource,
} from './platform-resources.ts';
import type {
  ReadableMessage,
  ShopStore,
  StoredContact,
  StoredConversation,
} from './platform-store.ts';
import type { PlatformTraits } from './platform-traits.ts';

const VERSION = '/v2026-04';
const DAY_MS = 24 * 3_600_000;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

/** A parsed GET request. */
export interface ReadTarget {
  readonly collection: string;
  /** The id in /v2026-04/messages/{id}/; `count` for tickets. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  readonly host: string;
}

/** An invalid query; caught in `answer`. */
class InvalidQuery extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Answers the GET endpoints from a shop's store. */
export class PlatformReads {
  readonly #traits: PlatformTraits;
  readonly #refusals: Refusals;

  constructor(traits: PlatformTraits, refusals: Refusals) {
    this.#traits = traits;
    this.#refusals = refusals;
  }

  /** @returns the resource, a page of resources, or an error */
  answer(store: ShopStore, target: ReadTarget, at: number): HttpAnswer {
    try {
      return target.id === undefined
        ? this.#list(store, target, at)
        : this.#one(store, target, target.id, at);
    } catch (error) {
      if (!(error instanceof InvalidQuery)) throw error;
      const { field, message } = error;
      const fields: readonly FieldError[] = [{ field, message }];
      return this.#refusals.of(this.#traits.validationStatus, fields);
    }
  }

  /** §4.3, §4.4, §4.6, §4.9, §4.11: one resource by its id. */
  #one(store: ShopStore, target: ReadTarget, id: string, at: number): HttpAnswer {
    const key = id.toLowerCase();
    switch (target.collection) {
      case 'messages':
        return this.#found(store.message(key), (found) => messageResource(found, this.#traits));
      case 'conversations':
        return this.#found(store.conversation(key), conversationResource);
      case 'contacts':
        return this.#found(store.contact(key), contactResource);
      case 'tickets': {
        if (id === 'count') {
          return json(200, { count: ticketsOf(store, new Filters(target.query), at).length });
        }
        const ofTicket = store.conversations.find(({ ticketId }) => ticketId === key);
        return this.#found(ofTicket, ticketResource);
      }
      default:
        return this.#refusals.of(404);
    }
  }

  #found<T>(found: T | undefined, resource: (found: T) => unknown): HttpAnswer {
    return found === undefined ? this.#refusals.of(404) : json(200, resource(found));
  }

  /** §4.2, §4.5, §4.10: the page envelope of §2.6. */
  #list(store: ShopStore, target: ReadTarget, at: number): HttpAnswer {
    const filters = new Filters(target.query);
    switch (target.collection) {
      case 'messages':
        return this.#page(messagesOf(store, filters), target, (each) =>
          messageResource(each, this.#traits),
        );
      case 'contacts':
        return this.#page(contactsOf(store, filters), target, contactResource);
      case 'tickets':
        return this.#page(ticketsOf(store, filters, at), target, ticketResource);
      default:
        return this.#refusals.of(404);
    }
  }

  /** @param items oldest first, their `seq` ascending */
  #page<T extends { readonly seq: number }>(
    items: readonly T[],
    target: ReadTarget,
    resource: (item: T) => unknown,
  ): HttpAnswer {
    const { query } = target;
    const limit = this.#limit(query.get('limit'));
    const isNewestFirst = this.#traits.listOrder === 'newest first';
    const total = items.length;
    // The number of results before an item, in the order of the list.
    const place = (seq: number): number =>
      isNewestFirst ? total - countBelow(items, seq + 1) : countBelow(items, seq);
    let start = 0;
    let end = Math.min(limit, total);
    const cursor = query.get('cursor');
    if (cursor !== null) {
      const { direction, seq } = readCursor(cursor);
      const isThere = items[countBelow(items, seq)]?.seq === seq;
      if (direction === 'next') {
        start = place(seq) + (isThere ? 1 : 0);
        end = Math.min(start + limit, total);
      } else {
        end = place(seq);
        start = Math.max(0, end - limit);
      }
    }
    const results: T[] = [];
    for (let index = start; index < end; index++) {
      const item = items[isNewestFirst ? total - 1 - index : index];
      if (item !== undefined) results.push(item);
    }
    const link = (direction: Direction, item: T | undefined): string | null =>
      item === undefined ? null : linkTo(target, writeCursor(direction, item.seq));
    return json(200, {
      results: results.map(resource),
      next: end < total ? link('next', results.at(-1)) : null,
      previous: start > 0 ? link('previous', results[0]) : null,
    });
  }

  #limit(given: string | null): number {
    if (given === null) return Math.min(this.#traits.defaultLimit, this.#traits.maxLimit);
    if (!/^[1-9]\d{0,8}$/.test(given))
      throw new InvalidQuery('limit', 'must be a positive integer');
    return Math.min(Number(given), this.#traits.maxLimit);
  }
}

/** The filters of a list; an array is one parameter, separated by commas (§4). */
class Filters {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  text(name: string): string | null {
    return this.#query.get(name);
  }

  /** The values of an array parameter, or the single value of a plain one; null when not given. */
  list(name: string, pattern: RegExp = UUID): readonly string[] | null {
    const given = this.#query.get(name);
    if (given === null) return null;
    const values = (name.endsWith('__in') ? given.split(',') : [given]).map((value) =>
      value.trim().toLowerCase(),
    );
    if (!values.every((value) => pattern.test(value))) {
      throw new InvalidQuery(name, 'has a value that is not valid');
    }
    return values;
  }

  flag(name: string): boolean | null {
    const given = this.#query.get(name);
    if (given === null) return null;
    if (!/^(?:true|false)$/i.test(given)) throw new InvalidQuery(name, 'must be true or false');
    return given.toLowerCase() === 'true';
  }

  /** §8: `relative:-7d,` or two date-times; at most 30 days lie between. */
  range(name: string, at: number): readonly [from: number, to: number] | null {
    const given = this.#query.get(name);
    if (given === null) return null;
    const days = /^relative:-(\d+)d,$/.exec(given)?.[1];
    const [start = '', end = '', ...more] = given.split(',');
    const range: readonly [number, number] =
      days === undefined ? [Date.parse(start), Date.parse(end)] : [at - Number(days) * DAY_MS, at];
    const length = range[1] - range[0];
    if (more.length > 0 || !(length >= 0 && length <= 30 * DAY_MS)) {
      throw new InvalidQuery(name, 'must be two date-times with at most 30 days between them');
    }
    return range;
  }
}

/** §4.5 */
function messagesOf(store: ShopStore, filters: Filters): readonly ReadableMessage[] {
  const one = filters.list('conversation_id');
  const many = filters.list('conversation_id__in');
  const ticket = filters.list('ticket_id');
  // The most frequent case, without scanning all messages.
  const first = one?.[0];
  const all = first === undefined ? store.readable : (store.conversation(first)?.messages ?? []);
  if (many === null && ticket === null) return all;
  return all.filter(
    ({ conversationId, ticketId }) =>
      (many === null || many.includes(conversationId)) &&
      (ticket === null || ticket.includes(ticketId)),
  );
}

/** §4.10. The model has no child contacts, archived contacts or external platforms. */
function contactsOf(store: ShopStore, filters: Filters): readonly StoredContact[] {
  const ids = filters.list('id') ?? filters.list('id__in');
  const email = filters.text('email')?.toLowerCase() ?? null;
  const phone = filters.text('phone');
  const isTopLevel = filters.flag('parent_contact_id__isnull');
  const excludesAll =
    filters.flag('is_archived') === true ||
    isTopLevel === false ||
    filters.list('parent_contact_id') !== null ||
    filters.list('parent_contact_id__in') !== null ||
    filters.text('remote_platform') !== null ||
    filters.text('remote_platform__in') !== null;
  if (excludesAll) return [];
  return store.contacts.filter(
    (contact) =>
      (ids === null || ids.includes(contact.id)) &&
      (email === null || contact.email?.toLowerCase() === email) &&
      (phone === null || contact.phone === phone),
  );
}

/** §4.2. Each conversation has one ticket of priority 0, without agent, assignee or label. */
function ticketsOf(store: ShopStore, filters: Filters, at: number): readonly StoredConversation[] {
  const ids = filters.list('id');
  const one = filters.list('conversation_id');
  const many = filters.list('conversation_id__in');
  const priorities = filters.list('priority', INTEGER) ?? filters.list('priority__in', INTEGER);
  const range = filters.range('created_at__range', at);
  const excludesAll = ['agent_id', 'assignee_id', 'label_id'].some(
    (name) => filters.list(name) !== null,
  );
  if (excludesAll || priorities?.includes('0') === false) return [];
  return store.conversations.filter(
    (conversation) =>
      (ids === null || ids.includes(conversation.ticketId)) &&
      (one === null || one.includes(conversation.id)) &&
      (many === null || many.includes(conversation.id)) &&
      (range === null || (conversation.at >= range[0] && conversation.at <= range[1])),
  );
}

const INTEGER = /^-?\d+$/;

type Direction = 'next' | 'previous';

const writeCursor = (direction: Direction, seq: number): string =>
  Buffer.from(`${direction}:${seq}`).toString('base64url');

function readCursor(cursor: string): { direction: Direction; seq: number } {
  const [, direction, seq] =
    /^(next|previous):(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (direction === undefined) throw new InvalidQuery('cursor', 'is not one of ours');
  return { direction: direction === 'next' ? 'next' : 'previous', seq: Number(seq) };
}

function linkTo({ host, collection, query }: ReadTarget, cursor: string): string {
  const linked = new URLSearchParams(query);
  linked.set('cursor', cursor);
  return `https://${host}${VERSION}/${collection}/?${linked.toString()}`;
}

/** The number of items with a smaller `seq`, which is the index of an item with this `seq`. */
function countBelow(items: readonly { readonly seq: number }[], seq: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.seq ?? Infinity) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
