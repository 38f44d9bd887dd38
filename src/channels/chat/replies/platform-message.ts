import { Parser } from 'htmlparser2';
import type { Message } from '../../../platform-api/resources.ts';
import type { ChatFormat } from '../../../spool/chat-store.ts';
import { isVisible } from '../receive.ts';

/** Classifies and orders messages of the platform. */

/** The names that platforms use for the customer's side of a conversation. */
const CUSTOMER_ROLES = new Set(['contact', 'customer', 'visitor', 'end_user', 'end-user']);
/** The `remote_id` of a visitor's message from this gateway. */
const OUR_REMOTE_ID = /^chat:[0-9a-f]{32}:/;

/**
 * Whether a message of the platform may be shown to the visitor, by its own fields. Most fields are
 * optional (API §2.2), and internal messages must never be shown: in doubt it is not a reply.
 * Whether this gateway submitted it is checked separately, in the store.
 */
export function isReply(message: Message): boolean {
  if (message.status === 'HIDDEN' || message.status === 'FAILED') return false;
  if (isCustomers(message)) return false;
  if (shownText(message) === undefined) return false;
  if (message.type === undefined) return message.agent_id !== null && message.user_id === null;
  return message.type === 'External';
}

/**
 * Whether no field names its author. It could be the visitor's own message, if delivery has not
 * stored yet that the platform has it.
 */
export function isUnsigned(message: Message): boolean {
  return message.agent_id === null && message.user_id === null && message.role === undefined;
}

function isCustomers({ role, remote_id: remoteId, user_id: userId }: Message): boolean {
  if (remoteId !== undefined && remoteId !== null && OUR_REMOTE_ID.test(remoteId)) return true;
  const name = role?.toLowerCase();
  if (name === undefined) return false;
  // As with language models, "user" is the customer; with a `user_id` it is a member of the team.
  return CUSTOMER_ROLES.has(name) || (name === 'user' && userId === null);
}

/** The maximum length of a chat line; the platform's response has a separate limit. */
const MAX_REPLY = 100_000;

/** The text for the visitor; undefined while it has no visible content. */
export function shownText(message: Message): { text: string; format: ChatFormat } | undefined {
  const { content = '', text = '', format } = message;
  const shown = content.slice(0, MAX_REPLY);
  if (format === 'MARKDOWN' && isVisible(shown)) return { text: shown, format };
  // HTML without content after sanitizing would be an empty bubble.
  if (format === 'HTML' && isVisibleHtml(shown)) return { text: shown, format };
  const isPlain = format === undefined || format === 'TEXT';
  // RICH_TEXT is the platform's own markup, as are formats that API §2.2 does not name.
  const plain = isPlain && isVisible(content) ? content : text;
  return isVisible(plain) ? { text: plain.slice(0, MAX_REPLY), format: 'TEXT' } : undefined;
}

/**
 * Sorts by `created_at`. A message without a readable time stays after the one that was read before
 * it; equal times keep the order in which they were read.
 */
export function inOrder(messages: readonly Message[]): Message[] {
  let last = Number.NEGATIVE_INFINITY;
  return messages
    .map((message, index) => {
      const time = createdAt(message);
      if (time !== undefined) last = time;
      return { message, index, time: time ?? last };
    })
    .sort((one, other) => compare(one.time, other.time) || one.index - other.index)
    .map(({ message }) => message);
}

/** The sort order of a platform's lists, learned from those that show it. */
export class ListDirection {
  #isNewestFirst = false;

  /**
   * Orders the messages of each conversation oldest first, so that messages with equal times keep
   * their order. A conversation in which all times are equal is assumed to have the order of the
   * last one that showed it.
   */
  oldestFirst(messages: readonly Message[]): Message[] {
    const places = new Map<string | null, number[]>();
    for (const [place, { conversation_id: id }] of messages.entries()) {
      const own = places.get(id);
      if (own === undefined) places.set(id, [place]);
      else own.push(place);
    }
    const ordered = [...messages];
    for (const own of places.values()) {
      const listed = own.flatMap((place) => messages[place] ?? []);
      if (isNewestFirst(listed)) this.#isNewestFirst = true;
      else if (new Set(listed.map(createdAt)).size > 1) {
        if (!isOldestFirst(listed)) continue;
        this.#isNewestFirst = false;
      }
      if (!this.#isNewestFirst) continue;
      for (const [nth, place] of own.toReversed().entries()) {
        const message = listed[nth];
        if (message !== undefined) ordered[place] = message;
      }
    }
    return ordered;
  }
}

/** Milliseconds since the epoch. */
export const createdAt = (message: Message): number | undefined => timeOf(message.created_at);

/** Milliseconds since the epoch; undefined for a text that is not a time. */
export function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * The times by which a list may be sorted. A customer's message may have the time at which it was
 * written (`timestamp`, API §4.7), long before the list got it, so that only the others are used if
 * they show an order.
 */
export function listTimes(messages: readonly Message[]): readonly (number | undefined)[] {
  const others = messages.filter((message) => !isCustomers(message)).map(createdAt);
  return new Set(others).size > 1 ? others : messages.map(createdAt);
}

/** Whether a page is visibly sorted newest first. */
export function isNewestFirst(messages: readonly Message[]): boolean {
  const times = listTimes(messages);
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined || first === last) return false;
  return times.every((time, index) => {
    const previous = index === 0 ? first : times[index - 1];
    return time !== undefined && previous !== undefined && time <= previous;
  });
}

/** Whether nothing indicates another order than oldest first. */
export function isOldestFirst(messages: readonly Message[]): boolean {
  const times = listTimes(messages);
  return times.every((time, index) => {
    const previous = index === 0 ? time : times[index - 1];
    return time !== undefined && previous !== undefined && time >= previous;
  });
}

/** Handles infinities too, whose difference is not a number. */
const compare = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);

/** Elements that the widget removes with their content (`widget/ui/rich/html.ts`). */
const HIDDEN = new Set(
  `script style template svg math iframe object embed noscript title textarea select audio video
  canvas`.split(/\s+/),
);

/** Whether sanitized HTML has any visible content. */
function isVisibleHtml(html: string): boolean {
  let hidden = 0;
  let found = false;
  const parser = new Parser({
    onopentag: (name, { src, alt }) => {
      if (HIDDEN.has(name)) hidden += 1;
      // A picture is shown as a link with its alternative text or its address.
      else if (name === 'img' && hidden === 0) found ||= isVisible(`${src ?? ''}${alt ?? ''}`);
    },
    onclosetag: (name) => {
      if (HIDDEN.has(name)) hidden -= 1;
    },
    ontext: (text) => {
      if (hidden === 0) found ||= isVisible(text);
    },
  });
  parser.end(html);
  return found;
}
