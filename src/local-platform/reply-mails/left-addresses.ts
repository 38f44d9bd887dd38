import { createHmac, randomUUID } from 'node:crypto';
import { matchKey } from '../../domain/email-addresses.ts';
import type { ServedShops } from '../authenticate.ts';
import type { Logger } from '../../observability/logger.ts';
import { areEqualSecrets } from '../../runtime/equal-secrets.ts';
import { emailRefusal } from '../outbound/address-reply.ts';
import type { LeftAddressRow } from '../store/left-address-table.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/** A chat visitor asks for replies by email once they have left. */
export interface AskedReplies {
  readonly shopId: string;
  /** With it begin the remote ids of the visitor's messages, and of no one else's. */
  readonly remotePrefix: string;
  readonly email: string;
  /** Of the visitor's connection: the key of limits per address. */
  readonly network: string;
  /** BCP 47 */
  readonly language: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Anyone can type anyone's address, so the confirmation mails are few. They are counted in the
 * store: a restart gives a stranger no more of them.
 */
export const CONFIRMATIONS = {
  /** More than anybody needs who mistypes their address. To the same address it is one. */
  perVisitorADay: 3,
  /** A stranger who is a new visitor each time reaches a mailbox no more often than this. */
  perAddressADay: 3,
  /** Of one shop: so that nobody uses up the shop's. */
  perNetworkAnHour: 5,
  /** So that a shop's address does not become known as a sender of unwanted mail. */
  perShopAnHour: 30,
} as const;

/** An address that is not confirmed by then is forgotten, and its link ends. */
export const CONFIRM_WITHIN_MS = 7 * DAY_MS;

/** How long a reply in the chat waits for the visitor: a page that reloads is soon back. */
export const MAIL_AFTER_MS = 2 * 60_000;

export interface LeftAddressesParts {
  readonly store: Store;
  /** Signs the links, and is the key of the stored hashes. */
  readonly secret: Buffer;
  readonly served: Pick<ServedShops, 'has' | 'isOwnEmail'>;
  /** The address from which a shop writes to its visitors. */
  readonly addressOfShop: (shop: string) => string | undefined;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long a reply waits for the visitor. */
  readonly waitMs: number;
  /** Called once a mail may be due. */
  readonly onDue: () => void;
}

/**
 * The addresses that chat visitors have left for replies.
 *
 * | an address | |
 * | --- | --- |
 * | asked | gets one mail with a link, and nothing else; forgotten after seven days |
 * | confirmed | somebody has pressed the button behind the link: gets replies that the visitor has not received |
 * | replaced | the visitor has left another address since |
 * | stopped | is never written to again, whichever visitor of the shop asks |
 *
 * The visitor learns nothing about an address but whether it is written as one.
 */
export class LeftAddresses {
  readonly #parts: LeftAddressesParts;
  /** Shops that are known to have no address to write from. */
  readonly #withoutEmail = new Set<string>();
  /** When the limit of a shop was last logged. */
  readonly #limitedAt = new Map<string, number>();

  constructor(parts: LeftAddressesParts) {
    this.#parts = parts;
  }

  /**
   * Resolves once it is durable.
   * @returns `confirms`: the address gets a mail, if no limit and no earlier answer is against it, and
   *   it is a person's; `invalid`: it is no address; undefined: the shop cannot write emails
   */
  async ask(asked: AskedReplies): Promise<'confirms' | 'invalid' | undefined> {
    const { store, served, addressOfShop, logger, onDue } = this.#parts;
    const shop = asked.shopId.toLowerCase();
    if (!served.has(shop)) return undefined;
    const from = addressOfShop(shop);
    if (from === undefined) {
      if (!this.#withoutEmail.has(shop)) logger.warn('reply.no_shop_address', { shop });
      this.#withoutEmail.add(shop);
      return undefined;
    }
    // A quoted local part spells every address in another way.
    const bare = asked.email.startsWith('"') ? undefined : matchKey(asked.email);
    const refusals = [asked.email, bare].map((to) => emailRefusal(store, { shop, from, to }));
    if (bare === undefined || refusals.some((refusal) => refusal?.code === 'not_one_address')) {
      return 'invalid';
    }
    // Neither a program's nor, with whatever `+tag`, the shop's own.
    const isPersons =
      refusals.every((refusal) => refusal === undefined) &&
      bare !== matchKey(from) &&
      ![asked.email, bare].some((email) => served.isOwnEmail(shop, email));
    await store.write(() => this.#record(shop, bare, asked, isPersons));
    onDue();
    return 'confirms';
  }

  /** Nothing is sent for a shop that is not served. */
  isServed({ shop }: LeftAddressRow): boolean {
    return this.#parts.served.has(shop);
  }

  /** The address of a link; undefined if the link is not ours or has expired, or the shop is not served. */
  ofToken(token: string): LeftAddressRow | undefined {
    const [id = '', key = ''] = token.split('.');
    const row = this.#parts.store.leftAddresses.byId(id);
    if (row === undefined || !areEqualSecrets(this.#keyOfLink(id), key)) return undefined;
    return this.isServed(row) && !this.#isExpired(row) ? row : undefined;
  }

  /** The secret part of the address's link: whoever has it reads the mails to this address. */
  tokenOf({ id }: LeftAddressRow): string {
    return `${id}.${this.#keyOfLink(id)}`;
  }

  /** From now on, the address gets replies. Without effect once it is replaced or stopped. */
  async confirm({ id }: LeftAddressRow): Promise<void> {
    const { store, now, waitMs, onDue } = this.#parts;
    await store.write(() => {
      const row = store.leftAddresses.byId(id);
      if (row === undefined || row.confirmed_at !== null || !isInUse(row)) return;
      store.leftAddresses.confirm(now(), id);
      store.leftAddresses.release(waitMs, id);
    });
    onDue();
  }

  /**
   * The visitor is known by another way from now on, as by a login: what they get is not for
   * whoever left an address before. Resolves once it is durable.
   */
  async forget({ shopId, remotePrefix }: Pick<AskedReplies, 'shopId' | 'remotePrefix'>) {
    const { store, now } = this.#parts;
    const table = store.leftAddresses;
    const find = () => table.ofRemoteId(shopId.toLowerCase(), remotePrefix);
    if (find() === undefined) return;
    await store.write(() => {
      const row = find();
      if (row === undefined) return;
      table.replace(now(), row.id);
      table.removeUnmailedOf(row.id);
    });
  }

  /** No visitor of the shop makes us write to this address again. */
  async stop({ id }: LeftAddressRow): Promise<void> {
    const { store, now } = this.#parts;
    await store.write(() => {
      const row = store.leftAddresses.byId(id);
      if (row === undefined) return;
      const { shop, address_key: key } = row;
      store.leftAddresses.addStopped({ shop, key, at: now() });
      store.leftAddresses.stop({ shop, key, at: now() });
      store.leftAddresses.removeUnmailedTo(shop, key);
    });
  }

  /**
   * Notes a reply in the chat that was sent, if the visitor whom it answers has left an address.
   * What another visitor has asked in the same conversation, such as the customer that this one has
   * logged in as, is not theirs. Must run within the write that records that it was sent.
   */
  noteSent(reply: MessageRow): void {
    const { store, now, waitMs, onDue } = this.#parts;
    if (reply.type !== 'External') return;
    const remoteId = store.messages.answeredBy(reply)?.remote_id ?? undefined;
    const row = remoteId && store.leftAddresses.ofRemoteId(reply.shop, remoteId);
    if (!row || !isInUse(row) || this.#isExpired(row)) return;
    const sentAt = now();
    store.leftAddresses.addMail({
      ...{ message_id: reply.id, address_id: row.id, sent_at: sentAt },
      due_at: row.confirmed_at === null ? null : sentAt + waitMs,
    });
    if (row.confirmed_at !== null) onDue();
  }

  /** Forgets the addresses that nobody has confirmed in time. */
  async removeExpired(): Promise<void> {
    const { store, now } = this.#parts;
    const table = store.leftAddresses;
    const expired = table.expired(now() - CONFIRM_WITHIN_MS);
    if (expired.length === 0) return;
    await store.write(() => {
      for (const id of expired) {
        if (table.byId(id)?.confirmed_at !== null) continue;
        table.removeMailsOf(id);
        table.remove(id);
      }
    });
  }

  #record(shop: string, bare: string, asked: AskedReplies, isPersons: boolean): void {
    const { store, now } = this.#parts;
    const { remotePrefix, email, language } = asked;
    const key = this.#keyOf('address', shop, withoutDots(bare));
    const network = this.#keyOf('network', shop, asked.network);
    const table = store.leftAddresses;
    const at = now();
    // With other dots it may be the correction of a mistyped address.
    const earlier = table
      .ofVisitor(shop, remotePrefix, key)
      .find(({ email }) => matchKey(email) === bare);
    const current = table.ofRemoteId(shop, remotePrefix);
    if (!isPersons || table.isStopped(shop, key)) {
      this.#takeBack(current, bare, at);
      return;
    }
    if (earlier && (earlier.confirmed_at !== null || earlier.asked_at > at - DAY_MS)) {
      if (earlier.replaced_at !== null) this.#makeCurrent(earlier, current, at);
      return;
    }
    if (this.#isOverLimit(shop, { prefix: remotePrefix, key, network }, at)) {
      this.#takeBack(current, bare, at);
      return;
    }
    const id = randomUUID();
    if (current !== undefined) table.replace(at, current.id);
    table.add({
      ...{ id, shop, remote_prefix: remotePrefix, email, language },
      ...{ address_key: key, network_key: network, asked_at: at },
    });
    // Most often the visitor has corrected the address.
    if (current !== undefined) table.moveMails(id, current.id);
  }

  /** Withdraws the visitor's address: they have left another one, which gets no mail. */
  #takeBack(current: LeftAddressRow | undefined, bare: string, at: number): void {
    if (current === undefined || matchKey(current.email) === bare) return;
    const table = this.#parts.store.leftAddresses;
    table.replace(at, current.id);
    table.removeUnmailedOf(current.id);
  }

  /**
   * The visitor has left an earlier address again. Its link works, and its mail is sent unless it was.
   */
  #makeCurrent(
    { id, confirmed_at: confirmedAt }: LeftAddressRow,
    current: LeftAddressRow | undefined,
    at: number,
  ): void {
    const table = this.#parts.store.leftAddresses;
    if (current !== undefined) table.replace(at, current.id);
    table.restore(id);
    if (current !== undefined) table.moveMails(id, current.id);
    if (confirmedAt !== null) table.release(this.#parts.waitMs, id);
  }

  #isOverLimit(
    shop: string,
    { prefix, key, network }: { prefix: string; key: string; network: string },
    at: number,
  ): boolean {
    const table = this.#parts.store.leftAddresses;
    const { perVisitorADay, perAddressADay, perNetworkAnHour, perShopAnHour } = CONFIRMATIONS;
    if (table.askedOfAddress(shop, key, at - DAY_MS) >= perAddressADay) return true;
    if (table.askedOfVisitor(shop, prefix, at - DAY_MS) >= perVisitorADay) return true;
    if (table.askedOfNetwork(shop, network, at - HOUR_MS) >= perNetworkAnHour) return true;
    if (table.askedOfShop(shop, at - HOUR_MS) < perShopAnHour) return false;
    if (at - (this.#limitedAt.get(shop) ?? -Infinity) >= HOUR_MS) {
      this.#parts.logger.warn('reply.confirmations_limited', { shop });
      this.#limitedAt.set(shop, at);
    }
    return true;
  }

  #isExpired({ confirmed_at: confirmedAt, asked_at: askedAt }: LeftAddressRow): boolean {
    return confirmedAt === null && askedAt <= this.#parts.now() - CONFIRM_WITHIN_MS;
  }

  /** A hash of something that is not to be stored in the clear. */
  #keyOf(what: 'address' | 'network', shop: string, value: string): string {
    return this.#hash(`${what}:${shop}:${value}`).toString('hex');
  }

  #keyOfLink(id: string): string {
    return this.#hash(`link:${id}`).toString('base64url');
  }

  #hash(text: string): Buffer {
    // 128 bits, which nobody guesses, keep the link short.
    return createHmac('sha256', this.#parts.secret).update(text).digest().subarray(0, 16);
  }
}

/** Whether it is the visitor's address and may be written to once it is confirmed. */
export const isInUse = ({ replaced_at: replacedAt, stopped_at: stoppedAt }: LeftAddressRow) =>
  replacedAt === null && stoppedAt === null;

/** Some providers ignore dots before the `@`. Where they count, a limit is stricter by it. */
function withoutDots(address: string): string {
  const at = address.lastIndexOf('@');
  return address.slice(0, at).replaceAll('.', '') + address.slice(at);
}
