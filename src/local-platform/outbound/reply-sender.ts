import { setTimeout as sleep } from 'node:timers/promises';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { isSystemOrSqliteError } from '../api-error.ts';
import type { OutgoingRow } from '../store/outgoing-table.ts';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { addressReply, emailRefusal } from './address-reply.ts';
import {
  type Attempt,
  type Outbound,
  type OutgoingReply,
  SendFailed,
  type Sent,
} from './outbound.ts';
import type { ReplyReport } from '../../domain/reply-fate.ts';
import type { PublicFile } from './reply-files.ts';
import type { ReplyFates } from './reply-fates.ts';
import { type FindTextRoute, routeText } from './text-route.ts';

const CONVERSATIONS_AT_ONCE = 8;
/** How long current attempts may continue after `stop`. */
const STOP_GRACE_MS = 3000;
const ERROR_DELAY_MS = 5000;
/** The longest sleep, because the clock may be set or the computer suspended. */
const SLEEP_MAX_MS = 60_000;

/** A reply that was sent. */
export interface ReplyNotice {
  readonly channel: string;
  readonly shop: string;
  readonly conversationId: string;
  readonly messageId: string;
  /** The `remote_id` of the customer's last message, if it has one. */
  readonly answers?: string;
  readonly outboxPath?: string;
}

export interface ReplySenderOptions {
  readonly store: Store;
  readonly fates: ReplyFates;
  /** By the type of the conversation. */
  readonly outbound: Readonly<Record<string, Outbound>>;
  /** Finds the transport of a conversation's texts. Default: reply by SMS. */
  readonly findTextRoute?: FindTextRoute;
  /** Shop names by shop id. */
  readonly shopNames: ReadonlyMap<string, string>;
  /** The path of an uploaded file. */
  readonly pathOf: (mediaId: string) => string;
  /** The links to a reply's files. */
  readonly linksOf: (reply: MessageRow) => readonly PublicFile[];
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly schedule: RetrySchedule;
  /**
   * To whom a conversation's emails go, and what they have beside the reply, if the customer has
   * asked for them elsewhere. @throws {SendFailed}
   */
  readonly recipientIn: (conversationId: string) => Partial<OutgoingReply> | undefined;
  /** Called within the write that records that a reply in a chat was sent. */
  readonly onSentInChat: (reply: MessageRow) => void;
  /** Called once a reply is DELIVERED. */
  readonly onReply: (reply: ReplyNotice) => void;
  /** Called once a reply is DELIVERED, FAILED or deferred. */
  readonly onChanged: (reply: MessageRow) => void;
}

/**
 * Sends the replies of the agent and of people, and retries those that could not be sent.
 *
 * | a reply is | when |
 * | --- | --- |
 * | PENDING | stored, and being attempted |
 * | DELIVERED | accepted by the relay or provider, or durable on disk |
 * | FAILED | refused permanently, or not sent before the schedule ended; its ticket is WaitingUser |
 *
 * The queue, the number of attempts and the time of the next one are in the store. An attempt that
 * must not be repeated (relay, Twilio) is recorded before it begins, so that after a crash the next
 * one knows that the reply may have been sent.
 */
export class ReplySender {
  readonly #options: ReplySenderOptions;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #abortController = new AbortController();
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

  /** Sends what is due, and schedules the next wake-up. */
  wake(): void {
    clearTimeout(this.#timer);
    if (this.#isStopping) return;
    let sleepMs: number | undefined = ERROR_DELAY_MS;
    try {
      sleepMs = this.#startDue();
    } catch (error) {
      this.#options.logger.error('reply.fault', errorFields(error));
    }
    if (sleepMs !== undefined) this.#timer = setTimeout(() => this.wake(), sleepMs);
  }

  /** Starts the conversations with due replies. @returns when to look again, in milliseconds */
  #startDue(): number | undefined {
    const { store, now } = this.#options;
    const room = CONVERSATIONS_AT_ONCE - this.#busy.size;
    // One time for both: a reply that becomes due in between would be in neither.
    const at = now();
    if (room > 0) {
      for (const id of store.outgoing.due(at, [...this.#busy.keys()], room))
        this.#startConversation(id);
    }
    const nextAt = store.outgoing.nextAt(at);
    return nextAt === undefined ? undefined : Math.min(nextAt - at + 1, SLEEP_MAX_MS);
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
    if (this.#abortController.signal.aborted) return;
    this.#abortController.abort();
    for (const outbound of Object.values(this.#options.outbound)) outbound.close?.();
  }

  #startConversation(conversationId: string): void {
    const work = this.#work(conversationId).finally(() => {
      this.#busy.delete(conversationId);
      this.wake();
    });
    this.#busy.set(conversationId, work);
  }

  /** Never rejects: after an error of the store it is tried again later. */
  async #work(conversationId: string): Promise<void> {
    const { store, logger, outbound, now } = this.#options;
    try {
      const conversation = store.conversations.get(conversationId);
      const inOrder = outbound[conversation?.type ?? '']?.inOrder ?? false;
      for (const row of store.outgoing.ofConversation(conversationId)) {
        if (this.#isStopping) return;
        // With `inOrder`, the first reply is attempted when a later one is due, since that one waits.
        if (!inOrder && row.next_at > now()) continue;
        const isOut = await this.#sendReply(row, conversation);
        if (!isOut && inOrder) return;
      }
    } catch (error) {
      logger.error('reply.fault', { conversation: conversationId, ...errorFields(error) });
      await sleep(ERROR_DELAY_MS, undefined, { signal: this.#abortController.signal }).catch(
        () => undefined,
      );
    }
  }

  /** Makes one attempt. @returns false when the reply is to be retried */
  async #sendReply(row: OutgoingRow, conversation: ConversationRow | undefined): Promise<boolean> {
    const { store } = this.#options;
    const reply = store.messages.byId(row.shop, row.message_id);
    const outbound = conversation && this.#options.outbound[conversation.type];
    if (reply?.status !== 'PENDING' || conversation === undefined || outbound === undefined) {
      await this.#settle(row, reply?.status === 'PENDING' ? NOT_POSSIBLE : undefined);
      return true;
    }
    let out;
    try {
      out = await this.#prepare(conversation, reply);
    } catch (error) {
      if (error instanceof SendFailed) return this.#failed(row, reply, outbound, error);
      throw error;
    }
    if (!outbound.canRepeat) {
      await store.write(() => store.outgoing.begin(this.#options.now(), row.message_id));
    }
    let sent;
    try {
      sent = await outbound.send(out, this.#attempt(row));
    } catch (error) {
      if (this.#abortController.signal.aborted) return false;
      return this.#failed(row, reply, outbound, error);
    }
    await this.#sent(row, conversation, sent);
    return true;
  }

  /** @throws {SendFailed} the reply must not be sent, or not yet */
  async #prepare(conversation: ConversationRow, reply: MessageRow): Promise<OutgoingReply> {
    const { store, shopNames, pathOf, linksOf, findTextRoute, now } = this.#options;
    const out = {
      ...addressReply(store, conversation, reply, shopNames.get(reply.shop) ?? ''),
      // What answers an email goes to its sender.
      ...(reply.in_reply_to === null && this.#options.recipientIn(conversation.id)),
    };
    if (conversation.type === 'sms') {
      const links = linksOf(reply);
      const text = links.length === 0 ? out : { ...out, links };
      if (findTextRoute === undefined) return text;
      return routeText(store, conversation, text, findTextRoute, now());
    }
    const refusal = conversation.type === 'email' ? emailRefusal(store, out) : undefined;
    if (refusal !== undefined) throw refusal;
    const files = store.media
      .ofMessage(reply.id)
      .map(({ id, original_name: name, type }) => ({ name, type, path: pathOf(id) }));
    return files.length === 0 ? out : { ...out, files };
  }

  #attempt(row: OutgoingRow): Attempt {
    const { store, fates, now } = this.#options;
    const { message_id: id, shop } = row;
    let part = row.parts_sent;
    return {
      unsureSince: row.begun_at === null ? undefined : new Date(row.begun_at),
      partsSent: row.parts_sent,
      partSent: (remoteId) =>
        store.write(() => {
          store.outgoing.partSent(now(), id);
          store.messages.setRemoteId({ id, remoteId });
          // An erased reply leaves nothing.
          if (store.messages.byId(shop, id)) fates.addPart({ id, shop }, part, remoteId);
          part += 1;
        }),
      isKnown: (remoteId) =>
        store.fates.part(remoteId) !== undefined ||
        store.messages.reply(shop, remoteId) !== undefined,
      signal: this.#abortController.signal,
    };
  }

  async #sent(row: OutgoingRow, conversation: ConversationRow, sent: Sent): Promise<void> {
    await this.#settle(row, { state: 'sent' });
    const answers = this.#options.store.messages.lastOfCustomer(conversation.id)?.remote_id;
    this.#options.onReply({
      channel: conversation.type,
      shop: conversation.shop,
      conversationId: conversation.id,
      messageId: row.message_id,
      ...(answers && { answers }),
      ...(sent.outboxPath !== undefined && { outboxPath: sent.outboxPath }),
    });
  }

  async #failed(
    row: OutgoingRow,
    reply: MessageRow,
    outbound: Outbound,
    error: unknown,
  ): Promise<boolean> {
    const { store, logger, schedule, now, onChanged } = this.#options;
    const isOfSending = error instanceof SendFailed;
    // An error of the store says nothing about the reply.
    if (!isOfSending && isSystemOrSqliteError(error)) throw error;
    // Any other error is a bug, which a retry would not fix.
    const failure = isOfSending
      ? error
      : new SendFailed('permanent', 'an unexpected error', { cause: error });
    const attempts = row.attempts + 1;
    const queuedAtMs = row.queued_at ?? Date.parse(reply.created_at);
    const nextAt =
      failure.kind === 'permanent'
        ? undefined
        : nextAttemptAt(schedule, { queuedAtMs, attempts }, now());
    const { code, message } = failure;
    const why = { ...(code !== undefined && { code }), reason: failure.words ?? message };
    const fields = {
      messageId: reply.id,
      attempts,
      ...errorFields(failure),
    };
    if (nextAt === undefined) {
      await this.#settle(row, { state: 'failed', ...why });
      logger.warn('reply.failed', fields);
      return true;
    }
    await store.write(() => {
      // An attempt that can be repeated was not recorded before.
      if (outbound.canRepeat) store.outgoing.begin(now(), row.message_id);
      store.outgoing.defer(row.message_id, nextAt, failure.kind === 'unsure');
      if (outbound.inOrder) store.outgoing.holdBack(nextAt, row.conversation_id);
      // The reply may have been erased meanwhile, and a relay's words name the recipient.
      if (store.messages.byId(reply.shop, reply.id)) {
        store.fates.set(reply, { state: 'queued', ...why }, now());
      }
    });
    onChanged(reply);
    logger.warn('reply.deferred', { ...fields, nextAt: new Date(nextAt).toISOString() });
    return false;
  }

  /** Removes the reply from the queue and records its fate, in one write; undefined keeps it. */
  async #settle(row: OutgoingRow, report: ReplyReport | undefined): Promise<void> {
    const { store, fates, onChanged, onSentInChat } = this.#options;
    const isChat = store.conversations.get(row.conversation_id)?.type === 'web_chat';
    const reply = await store.write(() => {
      store.outgoing.remove(row.message_id);
      const settled = store.messages.byId(row.shop, row.message_id);
      if (settled === undefined || report === undefined) return settled;
      fates.settle(settled, report);
      if (report.state === 'sent' && isChat) onSentInChat(settled);
      return store.messages.byId(row.shop, row.message_id);
    });
    if (reply !== undefined) onChanged(reply);
  }
}

/** Its conversation is gone, or has a type that nothing sends. */
const NOT_POSSIBLE: ReplyReport = { state: 'failed', reason: 'the conversation has no channel' };

const MINUTE_MS = 60_000;

export interface RetrySchedule {
  /** The delay after the nth attempt; the last delay repeats. */
  readonly delaysMs: readonly number[];
  /** A reply that has been queued for longer is not sent. */
  readonly giveUpAfterMs: number;
}

export const RETRY_SCHEDULE: RetrySchedule = {
  delaysMs: [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * MINUTE_MS),
  giveUpAfterMs: 2 * 24 * 60 * MINUTE_MS,
};

/**
 * When to make the next attempt, in milliseconds since the epoch; undefined when the schedule has
 * ended.
 */
export function nextAttemptAt(
  { delaysMs, giveUpAfterMs }: RetrySchedule,
  reply: { readonly queuedAtMs: number; readonly attempts: number },
  nowMs: number,
): number | undefined {
  const at = nowMs + (delaysMs[reply.attempts - 1] ?? delaysMs.at(-1) ?? 0);
  return at - reply.queuedAtMs > giveUpAfterMs ? undefined : at;
}
