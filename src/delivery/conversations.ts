import { PlatformError } from '../platform-api/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Entry } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import { Later, NotLearned, readAnswer } from './answer.ts';
import { findByRemoteId } from './evidence.ts';
import type { Submitted, Work } from './work.ts';

/** A conversation that was quiet for longer is looked at before it is written to. */
const LOOK_AFTER_MS = 60 * 60 * 1000;
/** Then the message counts as delivered, and the next of its lane begins a conversation. */
const TRIES_TO_LEARN = 10;
/** A 404 of a proxy that misroutes is temporary: it is believed after so many tries. */
const TRIES_WHILE_MISROUTED = 3;

/** Keeps the texts and chats of one lane in one conversation. Email threads by its headers. */
export class Conversations {
  readonly #spool: Spool;
  readonly #clock: Clock;

  constructor(spool: Spool, clock: Clock) {
    this.#spool = spool;
    this.#clock = clock;
  }

  /**
   * The conversation that this entry continues. A resolved one still counts: threads that split
   * are what people complain of most.
   * @throws {Later} the platform cannot say
   */
  async find(work: Work): Promise<string | undefined> {
    const { entry } = work.claimed;
    if (entry.channel === 'email') return undefined;
    const remembered = await this.#spool.conversation(entry);
    if (remembered === undefined) return undefined;
    const continuityMs = entry.channel === 'sms' ? work.shop.settings.smsContinuityMs : undefined;
    // The person's silence: a message that waited for the platform does not begin anew.
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
   * Remembers where the message went, before the next of its lane goes out. What a newly created
   * message is answered with is not documented (API §4.7 rule 6), so an id that is missing is
   * looked for: in the message, among the newest messages, at last by submitting the same payload
   * again, for which the existing message is the documented answer.
   * @throws {NotLearned} the platform cannot say now; it has the message all the same
   */
  async learn(
    work: Work,
    submitted: Submitted,
    late: readonly string[],
  ): Promise<string | undefined> {
    const { entry } = work.claimed;
    const { request, message, caveat } = submitted;
    // Nobody can answer in it: the person's next message begins another.
    if (caveat !== undefined) return message?.conversation_id ?? undefined;
    if (message?.conversation_id) return this.#remember(entry, message.conversation_id);
    if (entry.channel === 'email') return undefined;
    try {
      const id =
        (await this.#fromMessage(work, message?.id)) ??
        (await this.#fromList(work, request.message.remote_id)) ??
        (await this.#fromDuplicate(work, submitted));
      return id === undefined ? undefined : await this.#remember(entry, id);
    } catch (error) {
      const { learning } = work.notes.value;
      if (!(error instanceof Later)) throw error;
      if (learning >= TRIES_TO_LEARN) return undefined;
      work.notes.set({
        learning: learning + 1,
        submitted: { ...(message?.id !== undefined && { id: message.id }), late: [...late] },
      });
      throw new NotLearned(error.message, { cause: error });
    }
  }

  /** Undefined when another lane has it: the gateway never puts two people into one conversation. */
  async #remember(entry: Entry, id: string): Promise<string | undefined> {
    if (entry.channel === 'email') return id;
    return (await this.#spool.rememberConversation(entry, id)) ? id : undefined;
  }

  async #fromMessage({ requests }: Work, id: string | undefined): Promise<string | undefined> {
    if (id === undefined) return undefined;
    const message = await requests.ask((client, signal) => client.getMessage(id, signal));
    return message?.conversation_id ?? undefined;
  }

  async #fromList(
    { requests }: Work,
    remoteId: string | null | undefined,
  ): Promise<string | undefined> {
    if (!remoteId) return undefined;
    const message = await requests.ask((client, signal) =>
      findByRemoteId(client, remoteId, undefined, signal),
    );
    return message?.conversation_id ?? undefined;
  }

  /** Once only, and no other payload: how the platform matches duplicates is not documented. */
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
 * Only its own 404 or 410 says that a conversation is gone, and only while other reads work.
 * While these show messages of it, it is asked for again a few times: proxies that have lost their
 * way answer 404, too. Any other refusal says nothing about the conversation.
 * @throws {Later} nobody can tell now
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
