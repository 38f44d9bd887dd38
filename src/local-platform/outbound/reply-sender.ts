import { setTimeout as sleep } from 'node:timers/promises';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { isSystemError } from '../api-error.ts';
import type { OutgoingRow } from '../store/outgoing-table.ts';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { addressed, emailRefusal } from './addressed.ts';
import {
  type Attempt,
  type Outbound,
  type OutgoingReply,
  SendFailed,
  type Sent,
} from './outbound.ts';
import { type FindTextRoute, onItsRoute } from './text-route.ts';

const CONVERSATIONS_AT_ONCE = 8;
/** How long attempts in hand may go on once the program is to end. */
const STOP_GRACE_MS = 3000;
const AFTER_A_FAULT_MS = 5000;
/** The longest sleep: clocks are set, laptops are closed. */
const WAKE_MS = 60_000;

/** A reply that has gone out. */
export interface ReplyNotice {
  readonly channel: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly outboxPath?: string;
}

interface ReplySenderOptions {
  readonly store: Store;
  /** By the type of the conversation. */
  readonly outbound: Readonly<Record<string, Outbound>>;
  /** How texts came; without it, they are answered by SMS. */
  readonly findTextRoute?: FindTextRoute;
  /** The shop's name by its id. */
  readonly shopNames: ReadonlyMap<string, string>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly schedule: RetrySchedule;
  /** Called once a reply is DELIVERED. */
  readonly onReply: (reply: ReplyNotice) => void;
  /** Called once a reply is DELIVERED or FAILED. */
  readonly onSettled: (reply: MessageRow) => void;
}

/**
 * Sends the agent's replies, and retries those that could not be sent.
 *
 * | a reply is | when |
 * | --- | --- |
 * | PENDING | stored by the agent, and for as long as it is tried |
 * | DELIVERED | the relay, the provider or the disk has taken it over |
 * | FAILED | refused for good, or still not out when the schedule ends; its ticket is WaitingUser |
 *
 * What is to leave, how often it was tried and when it is next, is in the store. An attempt is
 * noted there before it begins: after a crash in the middle, the next one knows that the reply may
 * be out already.
 */
export class ReplySender {
  readonly #options: ReplySenderOptions;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #cut = new AbortController();
  #isStopping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReplySenderOptions) {
    this.#options = options;
  }

  /** Resumes what an earlier run left unsent. */
  async start(): Promise<void> {
    const { store, now } = this.#options;
    await store.write(() => store.outgoing.adopt(now()));
    this.wake();
  }

  /** There may be something to send. */
  wake(): void {
    clearTimeout(this.#timer);
    if (this.#isStopping) return;
    let sleepMs: number | undefined = AFTER_A_FAULT_MS;
    try {
      sleepMs = this.#takeDue();
    } catch (error) {
      this.#options.logger.error('reply.fault', errorFields(error));
    }
    if (sleepMs !== undefined) this.#timer = setTimeout(() => this.wake(), sleepMs);
  }

  /** Begins what is due; answers when to look again, in milliseconds. */
  #takeDue(): number | undefined {
    const { store, now } = this.#options;
    const room = CONVERSATIONS_AT_ONCE - this.#busy.size;
    if (room > 0) {
      for (const id of store.outgoing.due(now(), [...this.#busy.keys()], room)) this.#take(id);
    }
    const nextAt = store.outgoing.nextAt(now());
    return nextAt === undefined ? undefined : Math.min(nextAt - now() + 1, WAKE_MS);
  }

  /** Waits briefly for attempts in progress; unsent replies stay in the store. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const cut = setTimeout(() => this.#abort(), STOP_GRACE_MS);
    await Promise.all(this.#busy.values());
    clearTimeout(cut);
    this.#abort();
  }

  #abort(): void {
    if (this.#cut.signal.aborted) return;
    this.#cut.abort();
    for (const outbound of Object.values(this.#options.outbound)) outbound.close?.();
  }

  #take(conversationId: string): void {
    const work = this.#work(conversationId).finally(() => {
      this.#busy.delete(conversationId);
      this.wake();
    });
    this.#busy.set(conversationId, work);
  }

  /** Never rejects: a store that fails is asked again later. */
  async #work(conversationId: string): Promise<void> {
    const { store, logger, outbound, now } = this.#options;
    try {
      const conversation = store.conversations.get(conversationId);
      const inOrder = outbound[conversation?.type ?? '']?.inOrder ?? false;
      for (const row of store.outgoing.ofConversation(conversationId)) {
        if (this.#isStopping) return;
        // In order, the first one is tried whenever another wants to leave: it is in its way.
        if (!inOrder && row.next_at > now()) continue;
        const isOut = await this.#depart(row, conversation);
        if (!isOut && inOrder) return;
      }
    } catch (error) {
      logger.error('reply.fault', { conversation: conversationId, ...errorFields(error) });
      await sleep(AFTER_A_FAULT_MS, undefined, { signal: this.#cut.signal }).catch(() => undefined);
    }
  }

  /** One attempt. False when the reply stays. */
  async #depart(row: OutgoingRow, conversation: ConversationRow | undefined): Promise<boolean> {
    const { store, outbound } = this.#options;
    const reply = store.messages.byId(row.shop, row.message_id);
    const way = conversation && outbound[conversation.type];
    if (reply?.status !== 'PENDING' || conversation === undefined || way === undefined) {
      await this.#settle(row, reply?.status === 'PENDING' ? 'FAILED' : undefined);
      return true;
    }
    let out;
    try {
      out = await this.#cleared(conversation, reply);
    } catch (error) {
      if (error instanceof SendFailed) return this.#failed(row, reply, way, error);
      throw error;
    }
    if (!way.canRepeat) {
      await store.write(() => store.outgoing.begin(row.message_id, this.#options.now()));
    }
    let sent;
    try {
      sent = await way.send(out, this.#attempt(row));
    } catch (error) {
      if (this.#cut.signal.aborted) return false;
      return this.#failed(row, reply, way, error);
    }
    await this.#sent(row, conversation, sent);
    return true;
  }

  /** @throws {SendFailed} it must not leave, or not yet */
  async #cleared(conversation: ConversationRow, reply: MessageRow): Promise<OutgoingReply> {
    const { store, shopNames, findTextRoute, now } = this.#options;
    const out = addressed(store, conversation, reply, shopNames.get(reply.shop) ?? '');
    if (conversation.type === 'sms' && findTextRoute !== undefined) {
      return onItsRoute(store, conversation, out, findTextRoute, now());
    }
    const refusal = conversation.type === 'email' ? emailRefusal(store, out) : undefined;
    if (refusal !== undefined) throw refusal;
    return out;
  }

  #attempt(row: OutgoingRow): Attempt {
    const { store, now } = this.#options;
    return {
      unsureSince: row.begun_at === null ? undefined : new Date(row.begun_at),
      partsSent: row.parts_sent,
      partSent: (remoteId) =>
        store.write(() => {
          store.outgoing.partSent(row.message_id, now());
          store.messages.sentAs(row.message_id, remoteId);
        }),
      isKnown: (remoteId) => store.messages.isSentAs(row.shop, remoteId),
      signal: this.#cut.signal,
    };
  }

  async #sent(row: OutgoingRow, conversation: ConversationRow, sent: Sent): Promise<void> {
    await this.#settle(row, 'DELIVERED');
    this.#options.onReply({
      channel: conversation.type,
      conversationId: conversation.id,
      messageId: row.message_id,
      ...(sent.outboxPath !== undefined && { outboxPath: sent.outboxPath }),
    });
  }

  async #failed(
    row: OutgoingRow,
    reply: MessageRow,
    way: Outbound,
    error: unknown,
  ): Promise<boolean> {
    const { store, logger, schedule, now } = this.#options;
    // The store could not note what was done: nothing is known of the reply itself.
    if (isSystemError(error)) throw error;
    // Anything else is a fault of this program: to repeat it would not mend it.
    const failure =
      error instanceof SendFailed
        ? error
        : new SendFailed('permanent', 'an unexpected error', { cause: error });
    const attempts = row.attempts + 1;
    const storedAtMs = Date.parse(reply.created_at);
    const nextAt =
      failure.kind === 'permanent'
        ? undefined
        : nextAttemptAt(schedule, { storedAtMs, attempts }, now());
    const fields = {
      messageId: reply.id,
      attempts,
      ...errorFields(failure),
    };
    if (nextAt === undefined) {
      await this.#settle(row, 'FAILED');
      logger.warn('reply.failed', fields);
      return true;
    }
    await store.write(() => {
      // What can be repeated was not noted before.
      if (way.canRepeat) store.outgoing.begin(row.message_id, now());
      store.outgoing.defer(row.message_id, nextAt, failure.kind === 'unsure');
      if (way.inOrder) store.outgoing.holdBack(row.conversation_id, nextAt);
    });
    logger.warn('reply.deferred', { ...fields, nextAt: new Date(nextAt).toISOString() });
    return false;
  }

  /**
   * The reply leaves the list, in one write with its state; without one when it has one already. The
   * customer knows nothing of a FAILED one: it is a person of the shop who has to see to it.
   */
  async #settle(row: OutgoingRow, status: 'DELIVERED' | 'FAILED' | undefined): Promise<void> {
    const { store, now, onSettled } = this.#options;
    const reply = await store.write(() => {
      if (status !== undefined) {
        store.messages.settle(row.message_id, status, new Date(now()).toISOString());
      }
      store.outgoing.remove(row.message_id);
      const settled = store.messages.byId(row.shop, row.message_id);
      if (status === 'FAILED' && settled) store.tickets.setTurn(settled, 'WaitingUser', now());
      return settled;
    });
    if (reply !== undefined) onSettled(reply);
  }
}

const MINUTE_MS = 60_000;

export interface RetrySchedule {
  /** How long after its nth attempt a reply is tried again; the last one repeats. */
  readonly delaysMs: readonly number[];
  /** A reply that is older has lost its worth: the customer has given up, or has called. */
  readonly giveUpAfterMs: number;
}

export const RETRY_SCHEDULE: RetrySchedule = {
  delaysMs: [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS),
  giveUpAfterMs: 2 * 24 * 60 * MINUTE_MS,
};

/**
 * When to try again after `attempts` attempts; undefined when it is time to give up. Milliseconds
 * since the epoch.
 */
export function nextAttemptAt(
  { delaysMs, giveUpAfterMs }: RetrySchedule,
  reply: { readonly storedAtMs: number; readonly attempts: number },
  nowMs: number,
): number | undefined {
  const at = nowMs + (delaysMs[reply.attempts - 1] ?? delaysMs.at(-1) ?? 0);
  return at - reply.storedAtMs > giveUpAfterMs ? undefined : at;
}
