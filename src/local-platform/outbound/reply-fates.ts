import { isNews, type ReplyReport, stateOfParts } from '../../domain/reply-fate.ts';
import type { MailFailure } from '../../domain/mail-failure.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/**
 * Reports of parts that are not known yet: a provider may report a message before the response that
 * has its id was stored. They are kept in memory, because a report that is lost leaves the reply
 * `sent`, which is true.
 */
const EARLY_MAX = 1000;
const EARLY_MS = 60 * 60_000;

/** A provider's report of one of its messages. */
export interface PartReport extends ReplyReport {
  readonly remoteId: string;
  /** The shops whose account signed it: it says nothing about the replies of others. */
  readonly shops: readonly string[];
}

interface EarlyReport extends PartReport {
  readonly until: number;
}

interface ReplyFatesOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once a reply's fate has changed. */
  readonly onChanged: (reply: MessageRow) => void;
}

/**
 * What became of replies. A failure that is reported after the reply was accepted makes it FAILED,
 * and its ticket waits for a person, as if it had been refused at once.
 *
 * | channel | sent | delivered | read | failed |
 * | --- | --- | --- | --- | --- |
 * | email | the relay has accepted it | | | the relay refused it, or a bounce names it |
 * | SMS, WhatsApp | the provider has accepted it | the provider's report | its report (WhatsApp) | its report, or its refusal |
 * | chat | stored | a tab of the visitor has it | the visitor has seen it | |
 */
export class ReplyFates {
  readonly #options: ReplyFatesOptions;
  readonly #early = new Map<string, EarlyReport>();

  constructor(options: ReplyFatesOptions) {
    this.#options = options;
  }

  /** Records that a part was accepted. Must run within a write. */
  addPart(reply: Pick<MessageRow, 'id' | 'shop'>, part: number, remoteId: string): void {
    const { fates } = this.#options.store;
    fates.addPart({ remote_id: remoteId, message_id: reply.id, part });
    const early = this.#early.get(remoteId);
    this.#early.delete(remoteId);
    if (early?.shops.includes(reply.shop) === true) fates.setPart(remoteId, early);
  }

  /** Records that all parts were accepted, or none is left to be tried. Must run within a write. */
  settle(reply: MessageRow, report: ReplyReport): void {
    const { fates } = this.#options.store;
    const parts = report.state === 'sent' ? fates.parts(reply.id) : [];
    const state = stateOfParts(parts.map((part) => part.state)) ?? report.state;
    const { code, reason } = parts.find((part) => part.state === state) ?? report;
    this.#set(reply, { state, ...words({ code, reason }) });
  }

  /** A provider's report about one of its messages, which may be none of ours. */
  async reportPart(report: PartReport): Promise<void> {
    const { store } = this.#options;
    const { remoteId } = report;
    const shops = report.shops.map((shop) => shop.toLowerCase());
    const known = store.fates.part(remoteId);
    if (known === undefined) {
      this.#keepEarly({ ...report, shops });
      return;
    }
    await this.#change(() => {
      const part = store.fates.part(remoteId);
      const reply = part && store.messages.get(part.message_id);
      if (part === undefined || reply === undefined || !shops.includes(reply.shop)) return;
      if (!isNews(part.state, report.state)) return;
      store.fates.setPart(remoteId, report);
      // Until all parts are accepted, the sender of the reply decides.
      if (reply.status === 'PENDING') return;
      const state = stateOfParts(store.fates.parts(reply.id).map((each) => each.state));
      if (state === undefined || store.fates.of(reply).state === state) return;
      this.#set(reply, { state, ...(state === report.state && words(report)) });
      return reply;
    });
  }

  /** Replies in the chat that a visitor has received or seen. */
  async reportReplies(
    shopId: string,
    ids: readonly string[],
    state: 'delivered' | 'read',
  ): Promise<void> {
    const { store } = this.#options;
    const shop = shopId.toLowerCase();
    const isNewsOf = (id: string): MessageRow | undefined => {
      const reply = store.messages.byId(shop, id);
      if (reply?.role !== 'agent' || reply.status === 'PENDING') return undefined;
      return isNews(store.fates.of(reply).state, state) ? reply : undefined;
    };
    // Read first, because a visitor reports again what they have at each connection.
    const changed = ids.filter((id) => isNewsOf(id) !== undefined);
    for (const id of changed) {
      await this.#change(() => {
        const reply = isNewsOf(id);
        if (reply !== undefined) this.#set(reply, { state });
        return reply;
      });
    }
  }

  /** An email that came back. Must run within a write. @returns the reply, if it was one */
  bounced(shop: string, { messageId, reason, code }: MailFailure): MessageRow | undefined {
    const { store } = this.#options;
    const reply = store.messages.reply(shop, messageId);
    if (reply === undefined || !isNews(store.fates.of(reply).state, 'failed')) return undefined;
    this.#set(reply, { state: 'failed', ...words({ code, reason }) });
    return reply;
  }

  async #change(work: () => MessageRow | undefined): Promise<void> {
    const changed = await this.#options.store.write(work);
    if (changed !== undefined) this.#options.onChanged(changed);
  }

  #set(reply: MessageRow, report: ReplyReport): void {
    const { store, now } = this.#options;
    const at = now();
    const isFailed = report.state === 'failed';
    store.fates.set(reply, report, at);
    const status = isFailed ? 'FAILED' : 'DELIVERED';
    if (reply.status !== status) {
      store.messages.settle({ id: reply.id, status, now: new Date(at).toISOString() });
    }
    // A person has to reach the customer.
    if (isFailed) store.tickets.setTurn(reply, 'WaitingUser', at);
  }

  #keepEarly(report: PartReport): void {
    const now = this.#options.now();
    const { remoteId } = report;
    const known = this.#early.get(remoteId);
    if (known !== undefined && known.until > now && !isNews(known.state, report.state)) return;
    this.#early.delete(remoteId);
    this.#early.set(remoteId, { ...report, until: now + EARLY_MS });
    for (const [id, { until }] of this.#early) {
      if (until > now && this.#early.size <= EARLY_MAX) break;
      this.#early.delete(id);
    }
  }
}

const words = ({
  code,
  reason,
}: {
  readonly code?: string | null | undefined;
  readonly reason?: string | null | undefined;
}) => ({ ...(code && { code }), ...(reason && { reason }) });
