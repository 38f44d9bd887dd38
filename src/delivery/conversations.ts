import { PlatformError } from '../platform-api/errors.ts';
import type { CreatedMessage } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Entry } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import { readAnswer } from './failure.ts';
import type { ShopPlatform } from './shop-platform.ts';
import type { Steps } from './steps.ts';

/** A conversation that was quiet for longer is looked at before it is written to. */
const LOOK_AFTER_MS = 60 * 60 * 1000;

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
  async find(
    entry: Entry,
    shop: ShopPlatform,
    steps: Steps,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (entry.channel === 'email') return undefined;
    const remembered = await this.#spool.conversation(entry);
    if (remembered === undefined) return undefined;
    const continuityMs = entry.channel === 'sms' ? shop.settings.smsContinuityMs : undefined;
    // The person's silence: a message that waited for the platform does not begin anew.
    const silenceMs = entry.receivedAt - remembered.usedAt;
    if (continuityMs !== undefined && silenceMs > continuityMs) return undefined;
    const quietMs = this.#clock() - remembered.usedAt;
    if (quietMs <= LOOK_AFTER_MS || (await this.#exists(remembered.id, shop, signal))) {
      return remembered.id;
    }
    steps.add('conversation_gone');
    await this.forget(entry);
    return undefined;
  }

  async #exists(id: string, shop: ShopPlatform, signal: AbortSignal): Promise<boolean> {
    try {
      await shop.call('messages', signal, () => shop.client.getConversation(id, signal));
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      // Any other refusal says nothing about the conversation: the submit will tell.
      return readAnswer(error) !== 'gone';
    }
  }

  async forget(entry: Entry): Promise<void> {
    await this.#spool.forgetConversation(entry);
  }

  /**
   * Remembers where the message went, before the next of its lane goes out. What a newly created
   * message is answered with is not documented (API §4.7 rule 6), so an id that is missing is
   * looked for: by the message, by the contact's newest ticket, at last by submitting the same
   * payload again, for which the existing message is the documented answer.
   */
  async learn(
    entry: Entry,
    request: CreateMessageRequest,
    answer: CreatedMessage | undefined,
    shop: ShopPlatform,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (answer?.conversation_id) return this.#remember(entry, answer.conversation_id);
    if (entry.channel === 'email') return undefined;
    return (
      (await this.#fromMessage(entry, answer?.id, shop, signal)) ??
      (await this.#fromTicket(entry, request, shop, signal)) ??
      (await this.#fromDuplicate(entry, request, shop, signal))
    );
  }

  /** Undefined when another lane has it: two people never share a conversation by our doing. */
  async #remember(entry: Entry, id: string): Promise<string | undefined> {
    if (entry.channel === 'email') return id;
    return (await this.#spool.rememberConversation(entry, id)) ? id : undefined;
  }

  async #fromMessage(
    entry: Entry,
    id: string | undefined,
    shop: ShopPlatform,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (id === undefined) return undefined;
    const message = await unlessRefused(() =>
      shop.call('messages', signal, () => shop.client.getMessage(id, signal)),
    );
    return message?.conversation_id ? this.#remember(entry, message.conversation_id) : undefined;
  }

  async #fromTicket(
    entry: Entry,
    { contact }: CreateMessageRequest,
    shop: ShopPlatform,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const by = contact.phone ? { phone: contact.phone } : { email: contact.email ?? undefined };
    if (by.email === undefined && by.phone === undefined) return undefined;
    const tickets = await unlessRefused(async () => {
      const contacts = await shop.call('messages', signal, () =>
        shop.client.listContacts({ ...by, limit: 1 }, signal),
      );
      const [found] = contacts.results;
      if (found === undefined) return [];
      const page = await shop.call('messages', signal, () =>
        shop.client.listTickets({ limit: 50 }, signal),
      );
      return page.results.filter((ticket) => ticket.contact_id === found.id);
    });
    const [newest] = (tickets ?? []).toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
    return newest?.conversation_id ? this.#remember(entry, newest.conversation_id) : undefined;
  }

  async #fromDuplicate(
    entry: Entry,
    request: CreateMessageRequest,
    shop: ShopPlatform,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const again = await unlessRefused(() =>
      shop.call('messages', signal, () => shop.client.createMessage(request, signal)),
    );
    const id = again?.message?.conversation_id;
    return id ? this.#remember(entry, id) : undefined;
  }
}

/** A refusal here costs the conversation id, not the message, which has been delivered. */
async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof PlatformError) return undefined;
    throw error;
  }
}
