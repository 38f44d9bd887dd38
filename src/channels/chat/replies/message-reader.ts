import pRetry from 'p-retry';
import type { Message } from '../../../platform-api/resources.ts';
import type { ShopId } from '../../../types/ids.ts';
import type { Pacer, Urgency } from './pacer.ts';
import { type Pages, type Place, placeAfter } from './place.ts';
import { createdAt, isNewestFirst } from './reply-order.ts';
import { CursorRefused, type ReplySource } from './reply-source.ts';

export interface Reading {
  readonly shopId: ShopId;
  readonly conversationIds: readonly string[];
  /** Whether a message needs no second look. */
  readonly isKnown: (message: Message) => boolean;
  /** Read to the end of the list, known messages or not: somebody was away. */
  readonly thorough: boolean;
  /** Read on to messages that were created before this, known or not; by the platform's clock. */
  readonly backTo: number;
  readonly urgency: Urgency;
}

export interface ReaderParts {
  readonly source: ReplySource;
  readonly pacer: Pacer;
  /** Pages of one list; a longer one is read in parts. */
  readonly maxPages: number;
  readonly requestTimeoutMs: number;
}

export interface Read {
  readonly messages: readonly Message[];
  /** False when a list was left before its end, at what is known. */
  readonly isWhole: boolean;
  /** Conversations that are longer than one reading, and how far it came. */
  readonly unfinished: ReadonlyMap<string, Place>;
}

const RETRIES = 2;
/** So many known ones in a row, and everything behind them is known as well. */
const KNOWN_RUN = 20;
/** Of one long list at a time: others wait for their turn meanwhile. */
const MAX_PAGES_ON = 4;

/**
 * Reads the messages of some conversations, in whatever order the platform lists them (API §4.5
 * does not say). Only a list that shows itself to be newest first can be left early, at a page that
 * ends with what is known and reaches far enough back. A list that is longer than one reading is
 * divided by conversations; one conversation's own goes on where it was left (`readOn`).
 */
export async function readMessages(
  reading: Reading,
  parts: ReaderParts,
  signal: AbortSignal,
): Promise<Read> {
  const pages = await readPages(reading, parts, signal);
  const { messages, next, isLeft } = pages;
  if (next === undefined) return { messages, isWhole: !isLeft, unfinished: new Map() };
  const { conversationIds } = reading;
  const [only, ...others] = conversationIds;
  if (only === undefined || others.length === 0) {
    const unfinished = new Map(only === undefined ? [] : [[only, placeAfter(pages)]]);
    return { messages, isWhole: unfinished.size === 0, unfinished };
  }
  const reads: Read[] = [];
  for (const part of divided(conversationIds, messages)) {
    reads.push(await readMessages({ ...reading, conversationIds: part }, parts, signal));
  }
  return {
    messages: reads.flatMap((read) => read.messages),
    isWhole: reads.every((read) => read.isWhole),
    unfinished: new Map(reads.flatMap((read) => [...read.unfinished])),
  };
}

/**
 * Reads some more of a conversation whose list is longer than one reading.
 * @param from a cursor of the place's
 */
export async function readOn(
  reading: Omit<Reading, 'thorough' | 'backTo' | 'isKnown'>,
  { place, from }: { readonly place: Place; readonly from: string | undefined },
  parts: ReaderParts,
  signal: AbortSignal,
): Promise<{ readonly messages: readonly Message[]; readonly place: Place }> {
  const toTheEnd = { thorough: true, backTo: 0, isKnown: () => false };
  const maxPages = Math.min(parts.maxPages, MAX_PAGES_ON);
  // Where it has failed before, others wait no longer than for one answer that does not come.
  const retries = place.failures > 0 ? 0 : RETRIES;
  const less = { ...parts, maxPages, retries };
  const pages = await readPages({ ...reading, ...toTheEnd }, less, signal, from);
  return { messages: pages.messages, place: placeAfter(pages, place) };
}

/** In two: a conversation that fills most of the list by itself and the rest, or halves. */
function divided(
  conversationIds: readonly string[],
  messages: readonly Message[],
): readonly (readonly string[])[] {
  const counts = new Map<string | null, number>();
  for (const { conversation_id: id } of messages) counts.set(id, (counts.get(id) ?? 0) + 1);
  const long = conversationIds.filter((id) => (counts.get(id) ?? 0) > messages.length / 2);
  if (long.length > 0) return [conversationIds.filter((id) => !long.includes(id)), long];
  const middle = Math.ceil(conversationIds.length / 2);
  return [conversationIds.slice(0, middle), conversationIds.slice(middle)];
}

interface PageParts extends ReaderParts {
  readonly retries?: number;
}

async function readPages(
  { shopId, conversationIds, isKnown, thorough, backTo, urgency }: Reading,
  { source, pacer, maxPages, requestTimeoutMs, retries = RETRIES }: PageParts,
  signal: AbortSignal,
  from?: string,
): Promise<Pages & { readonly isLeft: boolean }> {
  // By id: what comes while pages are read may push the end of one onto the next.
  const read = new Map<string, Message>();
  const cursors: (string | undefined)[] = [];
  let cursor = from;
  const result = (next: string | undefined, isLeft = false) => ({
    messages: [...read.values()],
    cursors,
    next,
    isLeft,
  });
  for (;;) {
    const at = cursor;
    cursors.push(at);
    // Here, and not only by the next round: a long list would never be read through a flaky line.
    const { results, next } = await pRetry(
      async () => {
        await pacer.turn(signal, urgency);
        return withDeadline(requestTimeoutMs, signal, (deadline) =>
          source.listMessages(shopId, conversationIds, at, deadline),
        );
      },
      {
        retries,
        minTimeout: 250,
        randomize: true,
        signal,
        shouldRetry: ({ error }) => !(error instanceof CursorRefused),
      },
    );
    for (const message of results) read.set(message.id, message);
    // A cursor that comes back would go round for ever.
    if (!next || cursors.includes(next)) return result(undefined);
    const isOld = (oldestOf(results) ?? -Infinity) <= backTo;
    const isRead = results.slice(-KNOWN_RUN).every(isKnown);
    if (!thorough && isNewestFirst([...read.values()]) && isRead && isOld) {
      return result(undefined, true);
    }
    if (cursors.length >= maxPages) return result(next);
    cursor = next;
  }
}

/** Of a page that is sorted newest first. */
function oldestOf(page: readonly Message[]): number | undefined {
  const last = page.at(-1);
  return last && createdAt(last);
}

/** Ends the call by both, and leaves nothing hanging on the longer-lived signal. */
async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const end = (): void => deadline.abort();
  const timer = setTimeout(end, timeoutMs);
  signal.addEventListener('abort', end);
  try {
    signal.throwIfAborted();
    return await call(deadline.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
