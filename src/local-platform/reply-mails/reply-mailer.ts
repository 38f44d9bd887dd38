import { untagged } from '../../domain/email-addresses.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { isSystemOrSqliteError } from '../api-error.ts';
import { messageIdOf, oneLine } from '../outbound/address-reply.ts';
import {
  type Attempt,
  type Outbound,
  type OutgoingReply,
  SendFailed,
} from '../outbound/outbound.ts';
import { nextAttemptAt, type RetrySchedule } from '../outbound/reply-sender.ts';
import type { LeftAddressRow, ReplyMailRow } from '../store/left-address-table.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { isInUse, type LeftAddresses } from './left-addresses.ts';
import { filled, textsIn } from './texts.ts';
import { storeMail } from './thread.ts';
import { withoutEnd } from '../../runtime/without-end.ts';

const HOUR_MS = 3_600_000;
/** In one conversation more mails are a nuisance, and of an agent that loops they would be thousands. */
export const MAILS_AN_HOUR = 10;
const AT_ONCE = 50;
/** How long a current attempt may continue after `stop`. */
const STOP_GRACE_MS = 3000;
const ERROR_DELAY_MS = 5000;
/** Until mails of a shop that is not served are looked at again: a reload may bring it back. */
export const UNSERVED_DELAY_MS = 60_000;
/** The longest sleep: the clock may be set, and addresses expire. */
const SLEEP_MAX_MS = 60_000;

export interface ReplyMailerOptions {
  readonly store: Store;
  readonly addresses: LeftAddresses;
  /** The address from which a shop writes to its visitors. */
  readonly addressOfShop: (shop: string) => string | undefined;
  /** The gateway's HTTP port as customers reach it. */
  readonly publicUrl: () => string;
  /** Sends the confirmation mails. */
  readonly outbound: Outbound;
  /** Shop names by shop id. */
  readonly shopNames: ReadonlyMap<string, string>;
  /** For the confirmation mails. */
  readonly schedule: RetrySchedule;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once a mail of a reply is stored and can be sent. */
  readonly onMail: (conversationId: string) => void;
}

/** The part of an email that depends on its recipient, who has asked for it in the chat. */
export type ToLeftAddress = Pick<OutgoingReply, 'to' | 'toName' | 'footer' | 'headers'>;

/** The path of the page behind a link; the token follows. */
export const ADDRESS_PAGE = '/chat/email/';

/**
 * Sends confirmation mails to the addresses that visitors have left, and queues replies in the chat
 * for confirmed ones: `ReplySender` sends these like every email. What is due is in the store; a
 * reply is queued in the write that records it, so that it is mailed once.
 */
export class ReplyMailer {
  readonly #options: ReplyMailerOptions;
  readonly #abortController = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopping = false;

  constructor(options: ReplyMailerOptions) {
    this.#options = options;
  }

  /** Does what is due, and schedules the next wake-up. */
  wake(): void {
    clearTimeout(this.#timer);
    if (this.#isStopping) return;
    this.#isAskedAgain = true;
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined;
      if (this.#isAskedAgain) this.wake();
    });
  }

  /** Waits briefly for an attempt in progress; what is not sent stays in the store. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const cut = setTimeout(() => this.#abortController.abort(), STOP_GRACE_MS);
    await this.#work;
    clearTimeout(cut);
  }

  /**
   * What an email in this conversation has beside the reply; undefined if it is another thread.
   * @throws {SendFailed} the recipient wants no more of them
   */
  recipientIn(conversationId: string): ToLeftAddress | undefined {
    const row = this.#options.store.leftAddresses.ofThread(conversationId);
    if (row === undefined) return undefined;
    if (this.#options.store.leftAddresses.isStopped(row.shop, row.address_key)) {
      throw new SendFailed('permanent', 'the recipient has stopped these emails', {
        code: 'stopped',
        words: 'the recipient wants no more of these emails',
      });
    }
    const url = this.#linkOf(row);
    const words = textsIn(row.language).footer;
    // The name of a contact is what somebody has typed somewhere.
    return {
      ...{ to: row.email, toName: undefined },
      footer: { words, url },
      headers: unsubscribeHeaders(url),
    };
  }

  async #run(): Promise<void> {
    let sleepMs = ERROR_DELAY_MS;
    try {
      while (this.#isAskedAgain && !this.#isStopping) {
        this.#isAskedAgain = false;
        await this.#doDue();
      }
      const nextAt = this.#options.store.leftAddresses.nextMailAt() ?? Infinity;
      sleepMs = Math.min(Math.max(nextAt - this.#options.now(), 0) + 1, SLEEP_MAX_MS);
    } catch (error) {
      this.#options.logger.error('reply.mail_fault', errorFields(error));
    }
    if (!this.#isStopping) this.#timer = setTimeout(() => this.wake(), sleepMs);
  }

  async #doDue(): Promise<void> {
    const { store, addresses, now } = this.#options;
    await addresses.removeExpired();
    const at = now();
    for (const row of store.leftAddresses.dueMails(at, AT_ONCE)) {
      if (this.#isStopping) return;
      await this.#mailReply(row, at);
    }
    for (const row of store.leftAddresses.toConfirm(at, AT_ONCE)) {
      if (this.#isStopping) return;
      await this.#askToConfirm(row);
    }
  }

  async #mailReply({ message_id: id }: ReplyMailRow, at: number): Promise<void> {
    const { store, logger, onMail } = this.#options;
    const mail = await store.write(() => this.#queue(id, at));
    if (mail === undefined) return;
    logger.info('reply.mailed', { messageId: id, mailId: mail.id });
    onMail(mail.conversation_id);
  }

  /** Must run within a write. @returns undefined when the reply is not mailed, or not yet */
  #queue(messageId: string, at: number): MessageRow | undefined {
    const { store, addresses, addressOfShop, logger } = this.#options;
    const table = store.leftAddresses;
    const row = table.mail(messageId);
    // Things may have changed since the row was read: a hold, a stop, an erasure.
    if (!row || row.due_at === null || row.due_at > at) return undefined;
    const reply = store.messages.get(messageId);
    const address = table.byId(row.address_id);
    const isMissed = reply !== undefined && store.fates.of(reply).state === 'sent';
    if (address === undefined || !isInUse(address) || !isMissed) {
      table.removeMail(messageId);
      return undefined;
    }
    if (!addresses.isServed(address)) {
      table.holdMails(at + UNSERVED_DELAY_MS, address.id);
      return undefined;
    }
    const heldUntil = this.#heldUntil(address, at);
    if (heldUntil > at) {
      table.holdMails(heldUntil, address.id);
      return undefined;
    }
    const subject = filled(textsIn(address.language).subject, this.#shopName(address));
    const from = addressOfShop(address.shop);
    const mail = storeMail(store, address, reply, { subject, from, nowMs: at });
    if (mail === undefined) {
      logger.warn('reply.no_shop_address', { shop: address.shop });
      table.removeMail(messageId);
      return undefined;
    }
    table.mailed({ messageId, mailId: mail.id, at });
    return mail;
  }

  /** When the visitor may get the next mail. */
  #heldUntil({ shop, remote_prefix: prefix }: LeftAddressRow, at: number): number {
    const since = at - HOUR_MS;
    const mailed = this.#options.store.leftAddresses.mailedSince({
      ...{ shop, prefix, since, limit: MAILS_AN_HOUR },
    });
    const first = mailed[MAILS_AN_HOUR - 1];
    return first === undefined ? at : first + HOUR_MS;
  }

  async #askToConfirm(row: LeftAddressRow): Promise<void> {
    const { store, addresses, outbound, schedule, logger, now } = this.#options;
    const { id, asked_at: queuedAtMs } = row;
    if (!addresses.isServed(row)) {
      await store.write(() => store.leftAddresses.postpone(now() + UNSERVED_DELAY_MS, id));
      return;
    }
    const attempts = row.attempts + 1;
    const nextAt = nextAttemptAt(schedule, { queuedAtMs, attempts }, now());
    // Before the attempt, so that no crash makes it one of many in a row.
    const isDue = await store.write(() => store.leftAddresses.tried(nextAt ?? null, id));
    if (isDue === 0) return;
    try {
      await outbound.send(this.#confirmation(row), this.#attempt);
    } catch (error) {
      if (this.#abortController.signal.aborted) return;
      if (!(error instanceof SendFailed) && isSystemOrSqliteError(error)) throw error;
      const isTransient = error instanceof SendFailed && error.kind !== 'permanent';
      const fields = { address: id, attempts, ...errorFields(error) };
      if (isTransient && nextAt !== undefined) {
        const at = new Date(nextAt).toISOString();
        logger.warn('reply.confirmation_deferred', { ...fields, nextAt: at });
        return;
      }
      await store.write(() => store.leftAddresses.settle(id));
      logger.warn('reply.confirmation_failed', fields);
      return;
    }
    await store.write(() => store.leftAddresses.settle(id));
    logger.info('reply.confirmation_sent', { address: id });
  }

  /** Says what has happened and has nothing that the visitor wrote. @throws {SendFailed} */
  #confirmation(row: LeftAddressRow): OutgoingReply {
    const { id, shop, email, language, asked_at: askedAt } = row;
    const from = this.#options.addressOfShop(shop);
    const texts = textsIn(language);
    const shopName = this.#shopName(row);
    const url = this.#linkOf(row);
    const content = `${filled(texts.asked, shopName)}\n\n${url}\n\n${texts.ignore}\n`;
    return {
      ...{ id, shop, content, format: 'TEXT', from, fromName: shopName },
      ...{ to: email, toName: undefined, at: new Date(askedAt) },
      // Until they confirm it, the tag is what somebody else may have typed.
      shownTo: untagged(email),
      headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(url) },
      email: {
        messageId: messageIdOf(id, from ?? null),
        subject: filled(texts.confirmSubject, shopName),
        inReplyTo: undefined,
        references: [],
      },
    };
  }

  #shopName({ shop }: LeftAddressRow): string {
    return oneLine(this.#options.shopNames.get(shop) ?? '');
  }

  #linkOf(row: LeftAddressRow): string {
    const { publicUrl, addresses } = this.#options;
    return `${withoutEnd(publicUrl(), /\//)}${ADDRESS_PAGE}${addresses.tokenOf(row)}`;
  }

  /** One mail, of which nothing is to be found out afterwards. */
  get #attempt(): Attempt {
    return {
      ...{ unsureSince: undefined, partsSent: 0 },
      partSent: () => Promise.resolve(),
      isKnown: () => false,
      signal: this.#abortController.signal,
    };
  }
}

/** RFC 2369 and, where a mail program may send the request itself, RFC 8058, which requires https. */
function unsubscribeHeaders(url: string): Readonly<Record<string, string>> {
  return {
    'List-Unsubscribe': `<${url}>`,
    ...(url.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  };
}
