import pRetry from 'p-retry';
import type { Message } from '../../../platform-api/resources.ts';
import type { ShopId } from '../../../domain/ids.ts';
import type { Pacer, Urgency } from './pacer.ts';
import { type Pages, type ListPosition, positionAfter } from './list-position.ts';
import { isNewestFirst, listTimes } from './platform-message.ts';

export interface MessagePage {
  readonly results: readonly Message[];
  /** The `cursor` of the next page; absent or null on the last one. */
  readonly next?: string | null | undefined;
}

/** The platform refused the requested page: its cursor has expired. */
export class CursorRefused extends Error {
  override name = 'CursorRefused';
}

/** A page of this many messages is larger than the reader accepts. */
export class PageTooLarge extends Error {
  override name = 'PageTooLarge';
}

/** Messages per page: needs fewer requests than the platform's default, which is not documented. */
export const PAGE = 200;

/**
 * The source of replies: `GET /messages/?conversation_id__in=…` (API §4.5). It is injected, because
 * a channel does not import the platform's client. It rejects if the platform cannot be read now,
 * with `CursorRefused` if the requested page is refused, and with `PageTooLarge` if fewer messages
 * have to be requested.
 */
export interface ReplySource {
  listMessages(
    shopId: ShopId,
    conversationIds: readonly string[],
    cursor: string | undefined,
    signal: AbortSignal,
    /** The maximum number of messages per page; `PAGE` by default. */
    limit?: number,
  ): Promise<MessagePage>;
}

export interface Reading {
  readonly shopId: ShopId;
  readonly conversationIds: readonly string[];
  /** Whether a message was already handled. */
  readonly isKnown: (message: Message) => boolean;
  /** Read to the end of the list, including known messages, because the visitor was away. */
  readonly thorough: boolean;
  /** Read on to messages created before this time, known or not; by the platform's clock. */
  readonly backTo: number;
  readonly urgency: Urgency;
  /** The maximum number of messages per page, if larger pages were too large. */
  readonly limit?: number | undefined;
}

export interface ReaderParts {
  readonly source: ReplySource;
  readonly pacer: Pacer;
  /** The maximum number of pages per list; a longer one is read in parts. */
  readonly maxPages: number;
  readonly requestTimeoutMs: number;
}

export interface Read {
  readonly messages: readonly Message[];
  /** False if the list was left before its end, at known messages. */
  readonly isWhole: boolean;
  /** Conversations that are longer than one read, and how far they were read. */
  readonly unfinished: ReadonlyMap<string, ListPosition>;
  /** Conversations that make pages too large, and the maximum page size of each. */
  readonly heavy: ReadonlyMap<string, number>;
  /** Those of them that were left out, to be read alone. */
  readonly leftOut: ReadonlySet<string>;
}

const RETRIES = 2;
/** After this many known messages in a row, all further ones are known too. */
const KNOWN_RUN = 20;
/** For one long list at a time; others take turns. */
const MAX_PAGES_ON = 4;
/**
 * A conversation with more than this share of a too large page counts as the cause, as far as
 * visible.
 */
const HEAVY_SHARE = 1 / 8;

/**
 * Reads the messages of some conversations, in any order in which the platform lists them (API §4.5
 * does not specify it). Only a list that is visibly newest first can be left early, at a page that
 * ends with known messages and reaches far enough back. A list that is longer than one read is
 * divided by conversations; the list of a single conversation is continued where it was left
 * (`continueReading`).
 *
 * A page that is too large is requested again with half as many messages, down to one. The
 * conversations that fill it are then left out, so that the others do not need small pages.
 * @throws {PageTooLarge} for a single conversation, if a single message is too large
 */
export async function readMessages(
  reading: Reading,
  parts: ReaderParts,
  signal: AbortSignal,
): Promise<Read> {
  const { conversationIds } = reading;
  const [only, ...others] = conversationIds;
  const isAlone = only === undefined || others.length === 0;
  const pages = await readPages(reading, parts, signal).catch((error: unknown) => {
    if (isAlone || !(error instanceof PageTooLarge)) throw error;
    return undefined;
  });
  // A single message of one of them is too large, but it is unknown which.
  if (pages === undefined) return readParts(halves(conversationIds), reading, parts, signal);
  const { messages, next, isLeft, limit } = pages;
  const common = { messages, heavy: new Map<string, number>(), leftOut: new Set<string>() };
  if (isAlone) {
    const unfinished = new Map(
      only === undefined || next === undefined ? [] : [[only, positionAfter(pages)]],
    );
    if (only !== undefined && limit !== undefined) common.heavy.set(only, limit);
    return { ...common, isWhole: unfinished.size === 0 && !isLeft, unfinished };
  }
  if (limit !== undefined) {
    const heavy = heaviest(messages);
    const rest = conversationIds.filter((id) => !heavy.includes(id));
    const read = await readParts(rest.length > 0 ? [rest] : [], reading, parts, signal);
    return {
      ...read,
      heavy: new Map([...read.heavy, ...heavy.map((id) => [id, limit] as const)]),
      leftOut: new Set([...read.leftOut, ...heavy]),
    };
  }
  if (next === undefined) return { ...common, isWhole: !isLeft, unfinished: new Map() };
  return readParts(divided(conversationIds, messages), reading, parts, signal);
}

async function readParts(
  idsOfParts: readonly (readonly string[])[],
  reading: Reading,
  parts: ReaderParts,
  signal: AbortSignal,
): Promise<Read> {
  const reads: Read[] = [];
  for (const conversationIds of idsOfParts) {
    try {
      reads.push(await readMessages({ ...reading, conversationIds }, parts, signal));
    } catch (error) {
      if (!(error instanceof PageTooLarge)) throw error;
      // Then it is a single conversation, which will fail in its own read.
      const heavy = new Map(conversationIds.map((id) => [id, 1]));
      const leftOut = new Set(conversationIds);
      reads.push({ messages: [], isWhole: false, unfinished: new Map(), heavy, leftOut });
    }
  }
  return {
    messages: reads.flatMap((read) => read.messages),
    isWhole: reads.every((read) => read.isWhole),
    unfinished: new Map(reads.flatMap((read) => [...read.unfinished])),
    heavy: new Map(reads.flatMap((read) => [...read.heavy])),
    leftOut: new Set(reads.flatMap((read) => [...read.leftOut])),
  };
}

/**
 * Continues a conversation whose list is longer than one read.
 * @param from a cursor of the position
 */
export async function continueReading(
  reading: Omit<Reading, 'thorough' | 'backTo' | 'isKnown'>,
  { place, from }: { readonly place: ListPosition; readonly from: string | undefined },
  parts: ReaderParts,
  signal: AbortSignal,
): Promise<
  Pick<Read, 'messages'> & { readonly place: ListPosition; readonly limit?: number | undefined }
> {
  const toTheEnd = { thorough: true, backTo: 0, isKnown: () => false };
  const maxPages = Math.min(parts.maxPages, MAX_PAGES_ON);
  // After earlier failures it is not retried, so that others wait for at most one missing response.
  const retries = place.failures > 0 ? 0 : RETRIES;
  const less = { ...parts, maxPages, retries };
  const pages = await readPages({ ...reading, ...toTheEnd }, less, signal, from);
  const { messages, limit } = pages;
  return { messages, limit, place: positionAfter(pages, place) };
}

/** Splits a list: one conversation that fills most of it and the rest, or two halves. */
function divided(
  conversationIds: readonly string[],
  messages: readonly Message[],
): readonly (readonly string[])[] {
  const counts = new Map<string | null, number>();
  for (const { conversation_id: id } of messages) counts.set(id, (counts.get(id) ?? 0) + 1);
  const long = conversationIds.filter((id) => (counts.get(id) ?? 0) > messages.length / 2);
  if (long.length > 0) return [conversationIds.filter((id) => !long.includes(id)), long];
  return halves(conversationIds);
}

function halves(conversationIds: readonly string[]): readonly (readonly string[])[] {
  const middle = Math.ceil(conversationIds.length / 2);
  return [conversationIds.slice(0, middle), conversationIds.slice(middle)];
}

/** The conversations that make up most of these messages by length; at least one. */
function heaviest(messages: readonly Message[]): readonly string[] {
  const lengths = new Map<string, number>();
  let total = 0;
  for (const message of messages) {
    const id = message.conversation_id;
    const length = JSON.stringify(message).length;
    total += length;
    if (id !== null) lengths.set(id, (lengths.get(id) ?? 0) + length);
  }
  const sorted = [...lengths].sort(([, one], [, other]) => other - one);
  return sorted
    .filter(([, length], nth) => nth === 0 || length > total * HEAVY_SHARE)
    .map(([id]) => id);
}

interface PageParts extends ReaderParts {
  readonly retries?: number;
}

interface PagesRead extends Pages {
  readonly isLeft: boolean;
  /** Set if larger pages were too large, now or earlier. */
  readonly limit?: number | undefined;
}

async function readPages(
  reading: Reading,
  parts: PageParts,
  signal: AbortSignal,
  from?: string,
): Promise<PagesRead> {
  const { conversationIds, isKnown, thorough, backTo, limit: mostAtFirst } = reading;
  // By id, because new messages may move the end of one page to the next.
  const read = new Map<string, Message>();
  const cursors: (string | undefined)[] = [];
  let cursor = from;
  let limit = mostAtFirst;
  const result = (next: string | undefined, isLeft = false) => ({
    messages: [...read.values()],
    cursors,
    next,
    isLeft,
    limit,
  });
  const fittingPage = async (at: string | undefined): Promise<MessagePage> => {
    for (;;) {
      try {
        return await listPage(reading, { at, limit }, parts, signal);
      } catch (error) {
        if (!(error instanceof PageTooLarge) || limit === 1) throw error;
        limit = Math.floor((limit ?? PAGE) / 2);
      }
    }
  };
  for (;;) {
    const at = cursor;
    cursors.push(at);
    const { results, next } = await fittingPage(at);
    for (const message of results) read.set(message.id, message);
    // Some of these are read alone from now on, and the others without them.
    if (limit !== mostAtFirst && conversationIds.length > 1) return result(next ?? undefined);
    // A repeated cursor would cause an endless loop.
    if (!next || cursors.includes(next)) return result(undefined);
    const messages = [...read.values()];
    const isOld = (listTimes(messages).at(-1) ?? -Infinity) <= backTo;
    const isRead = results.slice(-KNOWN_RUN).every(isKnown);
    if (!thorough && isNewestFirst(messages) && isRead && isOld) {
      return result(undefined, true);
    }
    if (cursors.length >= parts.maxPages) return result(next);
    cursor = next;
  }
}

/**
 * Requests one page. It is retried here rather than in the next round; otherwise an unstable
 * connection would never get through a long list.
 */
function listPage(
  { shopId, conversationIds, urgency }: Reading,
  { at, limit }: { readonly at: string | undefined; readonly limit: number | undefined },
  { source, pacer, requestTimeoutMs, retries = RETRIES }: PageParts,
  signal: AbortSignal,
): Promise<MessagePage> {
  return pRetry(
    async () => {
      await pacer.turn(signal, urgency);
      return withDeadline(requestTimeoutMs, signal, (deadline) =>
        source.listMessages(shopId, conversationIds, at, deadline, limit),
      );
    },
    {
      retries,
      minTimeout: 250,
      randomize: true,
      signal,
      shouldRetry: ({ error }) =>
        !(error instanceof CursorRefused || error instanceof PageTooLarge),
    },
  );
}

/** Ends the call on either signal, and leaves no listener on the longer-lived one. */
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
