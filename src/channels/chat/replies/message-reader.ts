import pRetry from 'p-retry';
import type { Message } from '../../../platform-api/resources.ts';
import type { ShopId } from '../../../types/ids.ts';
import type { Pacer, Urgency } from './pacer.ts';
import { createdAt, isNewestFirst } from './reply-order.ts';
import type { ReplySource } from './reply-source.ts';

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
  /** Pages of one list; a longer one is read in halves. */
  readonly maxPages: number;
  readonly requestTimeoutMs: number;
}

export interface Read {
  readonly messages: readonly Message[];
  /** False when a single conversation is longer than the bound. */
  readonly complete: boolean;
}

const RETRIES = 2;
/** So many known ones in a row, and everything behind them is known as well. */
const KNOWN_RUN = 20;

/**
 * Reads the messages of some conversations, in whatever order the platform lists them (API §4.5
 * does not say). Only a list that shows itself to be newest first can be left early, at a page that
 * ends with what is known and reaches far enough back.
 */
export async function readMessages(
  reading: Reading,
  parts: ReaderParts,
  signal: AbortSignal,
): Promise<Read> {
  const read = await readPages(reading, parts, signal);
  const { conversationIds } = reading;
  if (read.complete || conversationIds.length < 2) return read;
  const middle = Math.ceil(conversationIds.length / 2);
  const halves: Read[] = [];
  for (const half of [conversationIds.slice(0, middle), conversationIds.slice(middle)]) {
    halves.push(await readMessages({ ...reading, conversationIds: half }, parts, signal));
  }
  return {
    messages: halves.flatMap(({ messages }) => messages),
    complete: halves.every(({ complete }) => complete),
  };
}

async function readPages(
  { shopId, conversationIds, isKnown, thorough, backTo, urgency }: Reading,
  { source, pacer, maxPages, requestTimeoutMs }: ReaderParts,
  signal: AbortSignal,
): Promise<Read> {
  // By id: what comes while pages are read may push the end of one onto the next.
  const read = new Map<string, Message>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const at = cursor;
    // Here, and not only by the next round: a long list would never be read through a flaky line.
    const { results, next } = await pRetry(
      async () => {
        await pacer.turn(signal, urgency);
        return withDeadline(requestTimeoutMs, signal, (deadline) =>
          source.listMessages(shopId, conversationIds, at, deadline),
        );
      },
      { retries: RETRIES, minTimeout: 250, randomize: true, signal },
    );
    for (const message of results) read.set(message.id, message);
    const messages = [...read.values()];
    // A cursor that comes back would go round for ever.
    if (!next || cursors.has(next)) return { messages, complete: true };
    const isOld = (oldestOf(results) ?? -Infinity) <= backTo;
    const isRead = results.slice(-KNOWN_RUN).every(isKnown);
    if (!thorough && isNewestFirst(messages) && isRead && isOld) {
      return { messages, complete: true };
    }
    cursors.add(next);
    cursor = next;
  }
  return { messages: [...read.values()], complete: false };
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
