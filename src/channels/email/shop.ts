import {
  type AddressMatcher,
  canonicalDomain,
  createAddressMatcher,
} from '../../domain/email-addresses.ts';
import { createForwarders, type Forwarders } from './delivering-network.ts';
import { createFormSenders } from './known-senders.ts';
import type { RateLimits } from '../../spool/sender-rates.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { SenderRules } from './authentication/verdict.ts';

/** Which form of the body is used as content. */
export type BodyMode = 'auto' | 'html' | 'text';

export type MailClass = 'auto-reply' | 'bounce' | 'complaint' | 'report' | 'loop' | 'bulk';

/** The lists by which the author of a message is found. */
export interface SenderLists {
  /** The shop's own: `support@acme.example`, or a catch-all: `*@help.acme.example`. */
  readonly addresses: readonly string[];
  /** From addresses of contact forms and marketplaces, whose Reply-To is the person. */
  readonly formSenders: readonly string[];
}

/** What the doors need to know about a shop. */
export interface EmailShop extends SenderLists {
  readonly shopId: ShopId;
  /** One entry for a message to several of this shop's inboxes, or one per inbox. */
  readonly severalInboxes: 'first' | 'each';
  /** The door checks the sender and rejects a message that fails DMARC with `p=reject`. */
  readonly refusesForged?: Pick<ShopMail, 'trustedArcSealers' | 'senders'>;
}

/** The bearer tokens for posting a shop's mail over HTTP. */
export interface TokenShop {
  readonly shopId: ShopId;
  readonly tokens: readonly string[];
}

/** How one shop wants its mail to be read. Plain data, since it is cloned to worker threads. */
export interface ShopMailSettings extends SenderLists {
  readonly shopId: ShopId;
  /** Never suppressed or held as automatic mail. */
  readonly allowSenders: readonly string[];
  /** Hosts of message-ids of the platform's mail. */
  readonly replyDomains: readonly string[];
  readonly body: BodyMode;
  /** Uploads are public, so the content shows images instead of naming them. */
  readonly showImages?: boolean;
  readonly quotes: 'known' | 'always' | 'never';
  readonly suppress: readonly MailClass[];
  /** How mail of unverified senders is handled. */
  readonly senderRules?: SenderRules;
  /** Domains of forwarders whose ARC seal confirms the original sender. */
  readonly trustedArcSealers?: readonly string[];
  /** Networks and host names from which mail to the shop is forwarded. */
  readonly forwarders: readonly string[];
  /** The limits above which mail of one person is held as a loop. */
  readonly loop: RateLimits;
}

/** Whose addresses are not the author's. */
export interface SenderMatchers {
  readonly own: AddressMatcher;
  /** Senders on behalf of others: the shop's form senders and the known services. */
  readonly formSenders: AddressMatcher;
}

export interface ClassifyRules extends SenderMatchers {
  /**
   * Hosts of message-ids of the platform's mail. The domains of our addresses are not among them unless
   * they are configured: mail of a shop system has them too.
   */
  readonly replyDomains: ReadonlySet<string>;
  readonly suppress: ReadonlySet<MailClass>;
  readonly allowSenders: AddressMatcher;
}

/** The same settings, compiled for matching. */
export interface ShopMail
  extends
    Required<Omit<ShopMailSettings, keyof SenderLists | keyof ClassifyRules | 'forwarders'>>,
    ClassifyRules {
  readonly senders: SenderLists;
  readonly forwarders: Forwarders;
}

/** @throws {TypeError} for an invalid address, which the configuration rejects */
export function compileShop({ addresses, formSenders, ...settings }: ShopMailSettings): ShopMail {
  const domains = settings.replyDomains.flatMap((domain) => canonicalDomain(domain) ?? []);
  const matchers = senderMatchers({ addresses, formSenders });
  return {
    showImages: false,
    senderRules: { dmarc: 'hold', unverified: 'deliver' },
    trustedArcSealers: [],
    ...settings,
    ...matchers,
    senders: { addresses, formSenders },
    forwarders: createForwarders(settings.forwarders),
    allowSenders: createAddressMatcher(settings.allowSenders),
    replyDomains: new Set(domains),
    suppress: new Set(settings.suppress),
  };
}

/** @throws {TypeError} for an invalid address */
export function senderMatchers({ addresses, formSenders }: SenderLists): SenderMatchers {
  return { own: createAddressMatcher(addresses), formSenders: createFormSenders(formSenders) };
}
