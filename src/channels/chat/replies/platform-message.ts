import type { Message } from '../../../platform-api/resources.ts';
import type { ChatFormat } from '../../../spool/chat-store.ts';
import { isVisible, isVisibleHtml } from '../visible-text.ts';

/** What a platform message is, and in which order lists have them. */

/** Names that platforms give the customer's side of a conversation. */
const CUSTOMER_ROLES = new Set(['contact', 'customer', 'visitor', 'end_user', 'end-user']);
/** `remote_id` of a message that came from a visitor through this gateway. */
const OUR_REMOTE_ID = /^chat:[0-9a-f]{32}:/;

/**
 * Whether a message of the platform is for the visitor to see, by what it says of itself. Most
 * fields are optional (API §2.2), and internal messages must never leave: in doubt it is no reply.
 * Whether this gateway submitted it is looked up in the store, separately.
 */
export function isReply(message: Message): boolean {
  if (message.status === 'HIDDEN' || message.status === 'FAILED') return false;
  if (isCustomers(message)) return false;
  if (shownText(message) === undefined) return false;
  if (message.type === undefined) return message.agent_id !== null && message.user_id === null;
  return message.type === 'External';
}

/**
 * Whether no field names its author. Such a message could be the visitor's own, if delivery has not
 * yet stored that the platform has it.
 */
export function isUnsigned(message: Message): boolean {
  return message.agent_id === null && message.user_id === null && message.role === undefined;
}

function isCustomers({ role, remote_id: remoteId, user_id: userId }: Message): boolean {
  if (remoteId !== undefined && remoteId !== null && OUR_REMOTE_ID.test(remoteId)) return true;
  const name = role?.toLowerCase();
  if (name === undefined) return false;
  // In the manner of language models "user" is the customer; with a `user_id` it is a teammate.
  return CUSTOMER_ROLES.has(name) || (name === 'user' && userId === null);
}

/** No single line of a chat is longer; the platform's answer has a limit of its own. */
const MAX_REPLY = 100_000;

/** What the visitor is shown; undefined while nothing in it is visible. */
export function shownText(message: Message): { text: string; format: ChatFormat } | undefined {
  const { content = '', text = '', format } = message;
  const shown = content.slice(0, MAX_REPLY);
  if (format === 'MARKDOWN' && isVisible(shown)) return { text: shown, format };
  // What is sanitized to nothing would be an empty bubble.
  if (format === 'HTML' && isVisibleHtml(shown)) return { text: shown, format };
  const isPlain = format === undefined || format === 'TEXT';
  // RICH_TEXT is the platform's own markup, and so is whatever else API §2.2 does not name.
  const plain = isPlain && isVisible(content) ? content : text;
  return isVisible(plain) ? { text: plain.slice(0, MAX_REPLY), format: 'TEXT' } : undefined;
}

/**
 * Sorts by `created_at`. A message without a (readable) time keeps its place behind the one that
 * was read before it; equal times keep the order in which they were read.
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

/** Which way a platform's lists run, learned from those that show it. */
export class ListDirection {
  #isNewestFirst = false;

  /**
   * One reading of lists with the messages of each conversation the oldest first, so that those
   * with one time keep their order. A conversation all of whose messages have the same time runs
   * as the last one did that showed its direction.
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
export function createdAt({ created_at: text }: Message): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Whether a page shows by itself that the list is sorted newest first. */
export function isNewestFirst(messages: readonly Message[]): boolean {
  const times = messages.map(createdAt);
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined || first === last) return false;
  return times.every((time, index) => {
    const previous = index === 0 ? first : times[index - 1];
    return time !== undefined && previous !== undefined && time <= previous;
  });
}

/** Whether nothing shows that the list is sorted otherwise. */
export function isOldestFirst(messages: readonly Message[]): boolean {
  const times = messages.map(createdAt);
  return times.every((time, index) => {
    const previous = index === 0 ? time : times[index - 1];
    return time !== undefined && previous !== undefined && time >= previous;
  });
}

/** Infinities included, whose difference is not a number. */
const compare = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);
