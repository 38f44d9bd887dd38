import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { ConversationRow, MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Agent } from './agent.ts';
import { contextOf, outgoing, silence, storeReply } from './reply.ts';

const CONVERSATIONS_AT_ONCE = 4;
const RETRY_FIRST_MS = 2000;
const RETRY_MAX_MS = 300_000;

/** A reply that has gone out. */
export interface ReplyNotice {
  readonly channel: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly outboxPath?: string;
}

export interface AgentDeskOptions {
  readonly store: Store;
  readonly agent: Agent;
  readonly outbound: Readonly<Record<string, Outbound>>;
  /** The shop's name by its id. */
  readonly shopNames: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onReply: (reply: ReplyNotice) => void;
}

/**
 * Where the agent works: one conversation at a time is on its desk, a few conversations at once.
 *
 * What there is to do is in the store, not in memory: a customer's message is `unanswered` until
 * its reply is stored, in the same transaction, and a reply is PENDING until it went out. So a
 * message gets one answer, and a restart goes on where the stop was.
 */
export class AgentDesk {
  readonly #options: AgentDeskOptions;
  readonly #waiting = new Set<string>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #retries = new Map<string, { timer: NodeJS.Timeout; delayMs: number }>();
  readonly #stop = new AbortController();

  constructor(options: AgentDeskOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier run left. */
  start(): void {
    for (const id of this.#options.store.messages.unfinished()) this.notify(id);
  }

  /** There is something new in this conversation. */
  notify(conversationId: string): void {
    if (this.#stop.signal.aborted) return;
    this.#waiting.add(conversationId);
    this.#next();
  }

  /** Finishes what is in hand; what waits stays in the store. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#waiting.clear();
    for (const { timer } of this.#retries.values()) clearTimeout(timer);
    await Promise.all(this.#busy.values());
  }

  #next(): void {
    for (const id of this.#waiting) {
      if (this.#busy.size >= CONVERSATIONS_AT_ONCE) return;
      if (this.#busy.has(id)) continue;
      this.#waiting.delete(id);
      this.#busy.set(
        id,
        this.#work(id).finally(() => {
          this.#busy.delete(id);
          this.#next();
        }),
      );
    }
  }

  /** Never rejects: a conversation that fails is taken up again later. */
  async #work(conversationId: string): Promise<void> {
    const { store, logger } = this.#options;
    try {
      const conversation = store.conversations.get(conversationId);
      if (conversation === undefined) return;
      for (const reply of store.messages.unsent(conversationId)) {
        await this.#send(reply, conversation);
      }
      for (const message of store.messages.unanswered(conversationId)) {
        if (this.#stop.signal.aborted) return;
        await this.#answer(message);
      }
      this.#retries.delete(conversationId);
    } catch (error) {
      logger.error('agent.failed', { conversation: conversationId, ...errorFields(error) });
      this.#retryLater(conversationId);
    }
  }

  async #answer(message: MessageRow): Promise<void> {
    const { store, agent, logger, shopNames, now } = this.#options;
    // Read anew: an answer before this one may have handed the conversation to a person.
    const conversation = store.conversations.get(message.conversation_id);
    if (conversation === undefined) return;
    const reason = silence(store, conversation, message, now());
    const answer =
      reason === undefined
        ? await agent.answer(
            contextOf(store, conversation, message, shopNames.get(message.shop) ?? ''),
            this.#stop.signal,
          )
        : undefined;
    if (answer === undefined) {
      await store.write(() => store.messages.markAnswered(message.id));
      logger.info('agent.silent', { messageId: message.id, reason: reason ?? 'nothing_to_say' });
      return;
    }
    const reply = await store.write(() => storeReply(store, conversation, message, answer, now()));
    if (reply !== undefined) await this.#send(reply, conversation);
  }

  async #send(reply: MessageRow, conversation: ConversationRow): Promise<void> {
    const { store, outbound, logger, shopNames, now, onReply } = this.#options;
    const out = outgoing(store, conversation, reply, shopNames.get(reply.shop) ?? '');
    const settle = (status: 'DELIVERED' | 'FAILED') =>
      store.write(() => store.messages.settle(reply.id, status, new Date(now()).toISOString()));
    let sent;
    try {
      sent = await outbound[conversation.type]?.send(out, this.#stop.signal);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      await settle('FAILED');
      logger.warn('agent.reply_failed', { messageId: reply.id, ...errorFields(error) });
      return;
    }
    await settle(sent === undefined ? 'FAILED' : 'DELIVERED');
    onReply({
      channel: conversation.type,
      conversationId: conversation.id,
      messageId: reply.id,
      ...sent,
    });
  }

  #retryLater(conversationId: string): void {
    if (this.#stop.signal.aborted) return;
    const before = this.#retries.get(conversationId)?.delayMs;
    const delayMs = before === undefined ? RETRY_FIRST_MS : Math.min(before * 2, RETRY_MAX_MS);
    const timer = setTimeout(() => this.notify(conversationId), delayMs);
    this.#retries.set(conversationId, { timer, delayMs });
  }
}
