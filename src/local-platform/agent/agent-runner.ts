import { hasWords } from '../../domain/no-text.ts';
import type { ServedShops } from '../authenticate.ts';
import { atWork } from '../../runtime/main-thread.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type Agent, type AgentAnswer, type AgentContext, AgentUnavailable } from './agent.ts';
import { handOverUnanswered } from './sentences.ts';
import { contextOf, storeReply } from './reply.ts';
import { type Addressee, addresseeOf, type AnswerLimits, spentBudget } from './answer-budgets.ts';
import { isEchoed, LEFT_TO_PEOPLE, LIMITED, reasonNotToReply } from './reply-policy.ts';

const CONVERSATIONS_AT_ONCE = 4;
const RETRY_FIRST_MS = 2000;
const RETRY_MAX_MS = 300_000;
/** Timers may fire slightly early. */
const TIMER_MARGIN_MS = 20;

interface AgentRunnerOptions {
  readonly store: Store;
  /** The agent of a shop; undefined when only people answer there. */
  readonly agentOf: (shop: string) => Agent | undefined;
  /** Shop names by shop id. */
  readonly shopNames: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly now: () => number;
  /** Emails leave through a relay, so answers to unverified senders are limited. */
  readonly hasRelay: boolean;
  readonly limits: AnswerLimits;
  readonly listedEmail: ServedShops['listedEmail'];
  /** How long a message waits while the agent is unavailable, before it is handed to a person. */
  readonly giveUpAfterMs: number;
  /** How long the agent is silent after somebody of the shop has written on their own phone. */
  readonly echoSilenceMs: number;
  /** Called once a PENDING reply is stored and can be sent. */
  readonly onStored: (reply: MessageRow) => void;
}

/** The agent could not answer; the conversation is retried at the latest when `leftMs` has passed. */
class AnswerPostponed extends Error {
  override name = 'AnswerPostponed';
  readonly messageId: string;
  /** Until the agent gives up on the message; milliseconds. */
  readonly leftMs: number;

  constructor(messageId: string, leftMs: number, cause: unknown) {
    super('the agent has not answered', { cause });
    this.messageId = messageId;
    this.leftMs = leftMs;
  }
}

interface Retry {
  /** Whether the timer is running; new messages of the conversation wait until it fires. */
  isPending: boolean;
  readonly timer: NodeJS.Timeout;
  readonly delayMs: number;
  readonly error: unknown;
}

/**
 * Lets the agent answer: each conversation's messages one at a time, a few conversations at once.
 *
 * The queue is in the store: a customer's message is `unanswered` until its reply is stored, in the
 * same transaction. A message therefore gets exactly one answer, also across restarts.
 *
 * | the agent | the message |
 * | --- | --- |
 * | answers | is answered; the ticket is WaitingContact, Open while later messages are unanswered, or WaitingUser when a person takes over |
 * | has answered too often | is left to people: marked as answered, its ticket WaitingUser |
 * | has no answer, or must not answer | is marked as answered; its ticket stays New or Open |
 * | is unavailable | stays unanswered and is retried after 2 s, 4 s … 5 min, also across restarts |
 * | is still unavailable `giveUpAfterMs` after the arrival | is handed to a person; a reply tells the customer |
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
    for (const id of this.#options.store.messages.conversationsToAnswer()) this.notify(id);
  }

  /** Called when a conversation has a new message. */
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
      // New messages wait behind the message that is being retried.
      if (this.#retries.get(id)?.isPending === true) continue;
      this.#busy.set(
        id,
        this.#work(id).finally(() => {
          this.#busy.delete(id);
          this.#next();
        }),
      );
    }
  }

  /** Never rejects: a conversation that fails is retried later. */
  async #work(conversationId: string): Promise<void> {
    const { store, logger } = this.#options;
    try {
      for (const id of store.messages.unanswered(conversationId)) {
        if (this.#stop.signal.aborted) return;
        // Loaded one at a time, because there may be many large messages.
        const message = store.messages.get(id);
        if (message !== undefined) await this.#answer(message);
      }
      clearTimeout(this.#retries.get(conversationId)?.timer);
      this.#retries.delete(conversationId);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const why = error instanceof AnswerPostponed ? error.cause : error;
      const delayMs = this.#retryLater(conversationId, error);
      logger.error('agent.failed', { conversation: conversationId, delayMs, ...errorFields(why) });
    }
  }

  async #answer(message: MessageRow): Promise<void> {
    atWork('agent');
    const { store, agentOf, logger, now, limits, onStored } = this.#options;
    // Read again, because the previous answer may have handed the conversation to a person.
    const conversation = store.conversations.get(message.conversation_id);
    if (conversation === undefined) return;
    const agent = agentOf(message.shop);
    const addressee = addresseeOf(store, conversation, message, this.#options);
    // An echo may come while the agent answers.
    const echoed = () => {
      const current = store.conversations.get(conversation.id) ?? conversation;
      return isEchoed(current, now(), this.#options.echoSilenceMs) ? 'echo' : undefined;
    };
    const spent = () =>
      echoed() ?? spentBudget(store, conversation, message, addressee, limits, now());
    const reason =
      agent === undefined ? 'off' : (reasonNotToReply(store, conversation, message) ?? spent());
    if (agent === undefined || reason !== undefined) return this.#skip(message, reason);
    const startMs = performance.now();
    const answer = await this.#ask(agent, message, addressee);
    if (answer === undefined) return this.#skip(message, 'nothing_to_say');
    // Other conversations have been answered meanwhile.
    const reply = await store.write(
      () => spent() ?? storeReply(store, conversation, message, answer, addressee, now()),
    );
    if (typeof reply === 'string') return this.#skip(message, reply);
    if (reply === undefined) return;
    const ms = Math.round(performance.now() - startMs);
    logger.info('agent.answered', { messageId: message.id, escalated: answer.escalate, ms });
    onStored(reply);
  }

  /** @throws {AnswerPostponed} */
  async #ask(
    agent: Agent,
    message: MessageRow,
    addressee: Addressee,
  ): Promise<AgentAnswer | undefined> {
    const { store, logger, shopNames, now, giveUpAfterMs } = this.#options;
    const conversation = store.conversations.get(message.conversation_id);
    if (conversation === undefined) return undefined;
    const shopName = shopNames.get(message.shop) ?? '';
    const context = contextOf(store, conversation, message, { shopName, addressee });
    if (!hasText(context) || isLatePicture(context, message)) return handOverUnanswered(context);
    // `updated_at` of a customer's message is its arrival; `created_at` may come from the sender.
    const leftMs = () => Date.parse(message.updated_at) + giveUpAfterMs - now();
    let failure = this.#lastFailure(message);
    // A message whose time is up does not wait again for an agent that hangs.
    if (failure === undefined || leftMs() > 0) {
      try {
        return await agent.answer(context, this.#stop.signal);
      } catch (error) {
        this.#stop.signal.throwIfAborted();
        failure = new AnswerPostponed(message.id, leftMs(), error);
        if (failure.leftMs > 0) throw failure;
      }
    }
    logger.error('agent.gave_up', { messageId: message.id, ...errorFields(failure.cause) });
    return handOverUnanswered(context);
  }

  /** The error of the last attempt at this message since the start, if it failed. */
  #lastFailure(message: MessageRow): AnswerPostponed | undefined {
    const error = this.#retries.get(message.conversation_id)?.error;
    return error instanceof AnswerPostponed && error.messageId === message.id ? error : undefined;
  }

  /**
   * Leaves the message without an answer. The ticket is WaitingUser when a person has to answer
   * instead; another one does not stay WaitingContact, because the customer has written.
   */
  async #skip(message: MessageRow, reason: string | undefined): Promise<void> {
    const { store, logger, now } = this.#options;
    await store.write(() => {
      if (!store.messages.markAnswered(message.id)) return;
      const isWaiting =
        store.tickets.byId(message.shop, message.ticket_id)?.status === 'WaitingContact';
      if (reason !== undefined && LIMITED.has(reason)) store.messages.noteLimit(reason, message.id);
      if (LEFT_TO_PEOPLE.has(reason)) {
        store.tickets.setTurn(message, 'WaitingUser', now());
      } else if (isWaiting) {
        store.tickets.setTurn(message, 'Open', now());
      }
    });
    logger.info('agent.silent', { messageId: message.id, reason });
  }

  #retryLater(conversationId: string, error: unknown): number {
    const retry = this.#retries.get(conversationId);
    clearTimeout(retry?.timer);
    const backoffMs =
      retry === undefined ? RETRY_FIRST_MS : Math.min(retry.delayMs * 2, RETRY_MAX_MS);
    const delayMs = error instanceof AnswerPostponed ? delayBefore(error, backoffMs) : backoffMs;
    const timer = setTimeout(() => {
      next.isPending = false;
      this.notify(conversationId);
    }, delayMs);
    const next: Retry = { isPending: true, timer, delayMs: backoffMs, error };
    this.#retries.set(conversationId, next);
    return delayMs;
  }
}

/** A file alone is for a person: an agent cannot open it. Later emails of a thread repeat its subject. */
function hasText({ text, subject, history }: AgentContext): boolean {
  return hasWords(text) || (history.length === 0 && hasWords(subject ?? ''));
}

/** Ends the remote id of the pictures of a text message that could only be fetched after it. */
const LATE_PICTURES = '/media';

/**
 * Their message repeats the first words of the text message, which has its answer already. Like
 * pictures without a text they are for a person.
 */
const isLatePicture = ({ channel }: AgentContext, { remote_id: id }: MessageRow): boolean =>
  channel === 'sms' && id?.endsWith(LATE_PICTURES) === true;

/** A failure that only a new configuration can fix is not retried until the agent gives up. */
function delayBefore({ leftMs, cause }: AnswerPostponed, backoffMs: number): number {
  const endMs = leftMs + TIMER_MARGIN_MS;
  if (!(cause instanceof AgentUnavailable)) return Math.min(backoffMs, endMs);
  const requestedMs = cause.isTemporary ? Math.max(backoffMs, cause.retryAfterMs ?? 0) : endMs;
  return Math.min(requestedMs, endMs);
}
