import { PlatformError } from '../platform-api/errors.ts';
import { isUsableId } from '../platform-api/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Entry } from '../spool/entry.ts';
import type { DeliverySpool } from '../spool/spool.ts';
import { findByRemoteId, hasNoOtherName, Later, NotLearned, readAnswer } from './answer.ts';
import type { Submitted, Work } from './work.ts';

/** A conversation that was unused for longer is looked up before a message is sent to it. */
const LOOK_AFTER_MS = 60 * 60 * 1000;
/** Then the message counts as delivered, and the next of its lane starts a new conversation. */
const TRIES_TO_LEARN = 10;
/** A 404 of a misrouting proxy is temporary, so a 404 counts only after this many attempts. */
const TRIES_WHILE_MISROUTED = 3;

/** Keeps one lane's text messages and chats in one conversation. Emails are threaded by headers. */
export class Conversations {
  readonly #spool: DeliverySpool;
  readonly #clock: Clock;

  constructor(spool: DeliverySpool, clock: Clock) {
    this.#spool = spool;
    this.#clock = clock;
  }

  /**
   * The conversation that this entry continues. A resolved one still counts: split threads are the
   * most frequent complaint.
   * @throws {Later} the platform cannot answer now
   */
  async find(work: Work): Promise<string | undefined> {
    const { entry, conversation: remembered } = work.claimed;
    if (remembered === undefined) return undefined;
    const continuityMs = entry.channel === 'sms' ? work.shop.settings.smsContinuityMs : undefined;
    // Only the sender's silence counts, not the time that the message waited for the platform.
    const silenceMs = entry.receivedAt - remembered.usedAt;
    if (continuityMs !== undefined && silenceMs > continuityMs) return undefined;
    const quietMs = this.#clock() - remembered.usedAt;
    if (quietMs <= LOOK_AFTER_MS || (await lookUp(work, remembered.id)) !== 'gone') {
      return remembered.id;
    }
    work.steps.add('conversation_gone');
    await this.#spool.forgetConversation(entry);
    return undefined;
  }

  /**
   * Stores the conversation of a message before the next message of its lane is sent. The answer to
   * a newly created message is not documented (API §4.7 rule 6), so a missing conversation id is
   * looked up: in the message, then among the newest messages, then by submitting the same payload
   * again, which the documentation says returns the existing message.
   * @throws {NotLearned} the platform cannot answer now, but it has the message
   */
  async learn(work: Work, submitted: Submitted): Promise<string | undefined> {
    const { entry } = work.claimed;
    const { request, message, caveat } = submitted;
    // Replies here cannot reach the sender, so their next message starts another conversation.
    if (caveat !== undefined) return message?.conversation_id ?? undefined;
    if (message?.conversation_id) {
      // A conversation that was continued is remembered already; settling notes its use.
      if (message.conversation_id === request.conversation.id) return message.conversation_id;
      return this.#remember(entry, message.conversation_id);
    }
    if (entry.channel === 'email') return undefined;
    try {
      const id =
        (await this.#fromMessage(work, submitted)) ??
        (await this.#fromList(work, request.message.remote_id)) ??
        (await this.#fromDuplicate(work, submitted));
      return id === undefined ? undefined : await this.#remember(entry, id);
    } catch (error) {
      const { learning } = work.notes.value;
      if (!(error instanceof Later)) throw error;
      if (learning >= TRIES_TO_LEARN) return undefined;
      work.notes.set({ learning: learning + 1 });
      throw new NotLearned(error);
    }
  }

  /** Undefined when another lane has this conversation: two people never share one. */
  async #remember(entry: Entry, id: string): Promise<string | undefined> {
    if (!isUsableId(id)) return undefined;
    if (entry.channel === 'email') return id;
    return (await this.#spool.rememberConversation(entry, id)) ? id : undefined;
  }

  async #fromMessage({ requests }: Work, submitted: Submitted): Promise<string | undefined> {
    const id = submitted.message?.id;
    if (typeof id !== 'string') return undefined;
    const message = await requests.ask((client, signal) => client.getMessage(id, signal));
    if (message === undefined || !hasNoOtherName(message, submitted.request)) return undefined;
    return message.conversation_id ?? undefined;
  }

  async #fromList(
    { requests, shop, claimed }: Work,
    remoteId: string | null | undefined,
  ): Promise<string | undefined> {
    if (!remoteId) return undefined;
    const { receivedAt } = claimed.entry;
    const message = await requests.ask((client, signal) =>
      findByRemoteId(client, shop.answers, { remoteId, receivedAt, signal }),
    );
    return message?.conversation_id ?? undefined;
  }

  /** Once per entry, payload unchanged: how the platform matches duplicates is not documented. */
  async #fromDuplicate(
    { requests, notes }: Work,
    { request, isRecalled }: Submitted,
  ): Promise<string | undefined> {
    if (notes.value.resubmitted || isRecalled === true) return undefined;
    notes.set({ resubmitted: true });
    const again = await requests.ask((client, signal) => client.createMessage(request, signal), {
      once: true,
    });
    return again?.message?.conversation_id ?? undefined;
  }
}

/**
 * Whether a conversation exists. Only a 404 or 410 for the conversation itself means that it is
 * gone, and only while other reads work. While the message list still shows messages of it, the
 * lookup is repeated on a few attempts, because misconfigured proxies answer 404, too. Any other
 * refusal says nothing about the conversation.
 * @throws {Later} the platform cannot answer now
 */
export async function lookUp(
  { requests, claimed }: Work,
  id: string,
): Promise<'there' | 'gone' | 'unknown'> {
  try {
    await requests.call('messages', (client, signal) => client.getConversation(id, signal));
    return 'there';
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (readAnswer(error, true) !== 'gone') return 'unknown';
    if (error.code === 'invalid') return 'gone';
    const messages = await requests.ask((client, signal) =>
      client.listMessages({ conversation_id: id, limit: 1 }, signal),
    );
    if (messages?.results.length === 0) return 'gone';
    if (claimed.entry.failures >= TRIES_WHILE_MISROUTED) return 'gone';
    if (messages !== undefined) throw new Later('messages', error);
    const contacts = await requests.ask((client, signal) =>
      client.listContacts({ limit: 1 }, signal),
    );
    if (contacts === undefined) throw new Later('messages', error);
    return 'gone';
  }
}
