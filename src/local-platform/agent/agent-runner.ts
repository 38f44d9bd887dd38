import { errorFields, type Logger } from '../../observability/logger.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type Agent, type AgentAnswer, AgentUnavailable } from './agent.ts';
import { passedOn } from './sentences.ts';
import { contextOf, storeReply } from './reply.ts';
import { silence } from './silence.ts';

const CONVERSATIONS_AT_ONCE = 4;
const RETRY_FIRST_MS = 2000;
const RETRY_MAX_MS = 300_000;
/** Timers may be a little early. */
const MARGIN_MS = 20;

interface AgentRunnerOptions {
  readonly store: Store;
  /** Who answers in this shop; undefined where nobody does but people. */
  readonly agentOf: (shop: string) => Agent | undefined;
  /** The shop's name by its id. */
  readonly shopNames: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly now: () => number;
  /** How long a message waits for an agent that cannot answer, before a person is asked. */
  readonly giveUpAfterMs: number;
  /** Called once a reply is stored, PENDING: it can leave. */
  readonly onStored: (reply: MessageRow) => void;
}

/** No answer yet: the conversation is taken up again, at the latest when the message is given up. */
class NotYet extends Error {
  override name = 'NotYet';
  readonly messageId: string;
  readonly leftMs: number;

  constructor(messageId: string, leftMs: number, cause: unknown) {
    super('the agent has not answered', { cause });
    this.messageId = messageId;
    this.leftMs = leftMs;
  }
}

interface Retry {
  /** Its time has not come: whatever else is written in the conversation waits as well. */
  isAhead: boolean;
  readonly timer: NodeJS.Timeout;
  readonly delayMs: number;
  readonly error: unknown;
}

/**
 * Lets the agent answer: each conversation's messages one at a time, a few conversations at once.
 *
 * What there is to do is in the store, not in memory: a customer's message is `unanswered` until
 * its reply is stored, in the same transaction. So a message gets one answer, and a restart goes on
 * where the stop was.
 *
 * | the agent | the message |
 * | --- | --- |
 * | answers | is answered; the ticket is WaitingContact, Open while more was asked, or WaitingUser when a person takes over |
 * | has nothing to say, or must not | is marked as seen; its ticket stays New or Open for a person |
 * | cannot answer now | stays unanswered and is tried again: after 2 s, 4 s … 5 min, over restarts too |
 * | still cannot, `giveUpAfterMs` after the arrival | is handed to a person, and the customer is told |
 */
export class AgentRunner {
  readonly #options: AgentRunnerOptions;
  readonly #waiting = new Set<string>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #retries = new Map<string, Retry>();
  readonly #stop = new AbortController();

  constructor(options: AgentRunnerOptions) {
    this.#options = options;
  }

  /** Resumes what an earlier run left unanswered. */
  start(): void {
    for (const id of this.#options.store.messages.unfinished()) this.notify(id);
  }

  /** This conversation has a new message. */
  notify(conversationId: string): void {
    if (this.#stop.signal.aborted) return;
    this.#waiting.add(conversationId);
    this.#next();
  }

  /** Aborts the answers in progress; unanswered messages stay in the store. */
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
      // New messages wait for the one that is being retried.
      if (this.#retries.get(id)?.isAhead === true) continue;
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
      for (const id of store.messages.unanswered(conversationId)) {
        if (this.#stop.signal.aborted) return;
        // One at a time: many may wait, and each may be large.
        const message = store.messages.get(id);
        if (message !== undefined) await this.#answer(message);
      }
      clearTimeout(this.#retries.get(conversationId)?.timer);
      this.#retries.delete(conversationId);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const why = error instanceof NotYet ? error.cause : error;
      const delayMs = this.#retryLater(conversationId, error);
      logger.error('agent.failed', { conversation: conversationId, delayMs, ...errorFields(why) });
    }
  }

  async #answer(message: MessageRow): Promise<void> {
    const { store, agentOf, logger, now, onStored } = this.#options;
    // Read anew: an answer before this one may have handed the conversation to a person.
    const conversation = store.conversations.get(message.conversation_id);
    if (conversation === undefined) return;
    const agent = agentOf(message.shop);
    const reason = agent === undefined ? 'off' : silence(store, conversation, message, now());
    if (agent === undefined || reason !== undefined) return this.#passOver(message, reason);
    const startMs = performance.now();
    const answer = await this.#ask(agent, message);
    if (answer === undefined) return this.#passOver(message, 'nothing_to_say');
    const reply = await store.write(() => storeReply(store, conversation, message, answer, now()));
    if (reply === undefined) return;
    const ms = Math.round(performance.now() - startMs);
    logger.info('agent.answered', { messageId: message.id, escalated: answer.escalate, ms });
    onStored(reply);
  }

  /** @throws {NotYet} */
  async #ask(agent: Agent, message: MessageRow): Promise<AgentAnswer | undefined> {
    const { store, logger, shopNames, now, giveUpAfterMs } = this.#options;
    // It was found a moment ago, and conversations are never removed one by one.
    const conversation = store.conversations.get(message.conversation_id);
    if (conversation === undefined) return undefined;
    const context = contextOf(store, conversation, message, shopNames.get(message.shop) ?? '');
    // Of a customer's message this is the time of its arrival; `created_at` may be the sender's.
    const leftMs = () => Date.parse(message.updated_at) + giveUpAfterMs - now();
    let failure = this.#failureOf(message);
    // Many may wait for an agent that hangs: who has waited for long enough does not wait for it again.
    if (failure === undefined || leftMs() > 0) {
      try {
        return await agent.answer(context, this.#stop.signal);
      } catch (error) {
        this.#stop.signal.throwIfAborted();
        failure = new NotYet(message.id, leftMs(), error);
        if (failure.leftMs > 0) throw failure;
      }
    }
    logger.error('agent.gave_up', { messageId: message.id, ...errorFields(failure.cause) });
    return passedOn(context);
  }

  /** How the last attempt at this message ended, in this run. */
  #failureOf(message: MessageRow): NotYet | undefined {
    const error = this.#retries.get(message.conversation_id)?.error;
    return error instanceof NotYet && error.messageId === message.id ? error : undefined;
  }

  /**
   * No answer. In a conversation that waits for a person, the ticket goes on waiting for one; in any
   * other it does not say that it is the customer who has to speak.
   */
  async #passOver(message: MessageRow, reason: string | undefined): Promise<void> {
    const { store, logger, now } = this.#options;
    await store.write(() => {
      if (!store.messages.markAnswered(message.id)) return;
      const isWaiting =
        store.tickets.byId(message.shop, message.ticket_id)?.status === 'WaitingContact';
      if (reason === 'escalated') store.tickets.setTurn(message, 'WaitingUser', now());
      else if (isWaiting) store.tickets.setTurn(message, 'Open', now());
    });
    logger.info('agent.silent', { messageId: message.id, reason });
  }

  #retryLater(conversationId: string, error: unknown): number {
    const retry = this.#retries.get(conversationId);
    clearTimeout(retry?.timer);
    const backoffMs =
      retry === undefined ? RETRY_FIRST_MS : Math.min(retry.delayMs * 2, RETRY_MAX_MS);
    const delayMs = error instanceof NotYet ? waitOf(error, backoffMs) : backoffMs;
    const timer = setTimeout(() => {
      next.isAhead = false;
      this.notify(conversationId);
    }, delayMs);
    const next: Retry = { isAhead: true, timer, delayMs: backoffMs, error };
    this.#retries.set(conversationId, next);
    return delayMs;
  }
}

/** A failure that only a new configuration can fix is not retried before the message is given up. */
function waitOf({ leftMs, cause }: NotYet, backoffMs: number): number {
  const endMs = leftMs + MARGIN_MS;
  if (!(cause instanceof AgentUnavailable)) return Math.min(backoffMs, endMs);
  const wanted = cause.isPassing ? Math.max(backoffMs, cause.retryAfterMs ?? 0) : endMs;
  return Math.min(wanted, endMs);
}
