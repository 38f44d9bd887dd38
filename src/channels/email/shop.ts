import { type AddressMatcher, createAddressMatcher } from './address-matcher.ts';
import { canonicalDomain } from '../../domain/email-addresses.ts';
import { createFormSenders } from './known-senders.ts';
import type { RateLimits } from '../../spool/sender-rates.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { SenderRules } from './authentication/verdict.ts';

/** Which form of the body is used as content. */
export type BodyMode = 'auto' | 'html' | 'text';

export type MailClass = 'auto-reply' | 'bounce' | 'loop' | 'bulk';

/** A shop's own addresses and form senders: addresses and `*@domain`. */
export interface SenderLists {
  readonly addresses: readonly string[];
  readonly formSenders: readonly string[];
}

/** The settings of a shop that rejects forged mail, for the check at the door. */
export interface RefusesForged {
  readonly trustedArcSealers: readonly string[];
  readonly senders: SenderLists;
}

export interface EmailShop {
  readonly shopId: ShopId;
  /** `support@acme.example`, or a catch-all: `*@help.acme.example`. */
  readonly addresses: readonly string[];
  /** From addresses of contact forms and marketplaces, whose Reply-To is the person. */
  readonly formSenders: readonly string[];
  /** One entry for a message to several of this shop's inboxes, or one per inbox. */
  readonly severalInboxes: 'first' | 'each';
  /** The door checks the sender and rejects a message that fails DMARC with `p=reject`. */
  readonly refusesForged?: RefusesForged;
}

/** The bearer tokens for posting a shop's mail over HTTP. */
export interface TokenShop {
  readonly shopId: ShopId;
  readonly tokens: readonly string[];
}

/** How one shop wants its mail to be read. Plain data, since it is cloned to worker threads. */
export interface ShopMailSettings {
  readonly shopId: ShopId;
  /** Addresses and catch-alls (`*@domain`). */
  readonly addresses: readonly string[];
  /** From addresses of forms and marketplaces, which put the person into Reply-To. */
  readonly formSenders: readonly string[];
  /** Never suppressed or held as automatic mail. */
  readonly allowSenders: readonly string[];
  /** Hosts of message-ids of the platform's mail, in addition to the domains of the addresses. */
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
  /** The limits above which mail of one person is held as a loop. */
  readonly loop: RateLimits;
}

export interface ClassifyRules {
  readonly own: AddressMatcher;
  /** Hosts of message-ids of the platform's mail, including the domains of our addresses. */
  readonly replyDomains: ReadonlySet<string>;
  readonly suppress: ReadonlySet<MailClass>;
  readonly allowSenders: AddressMatcher;
  /** Senders on behalf of others: the shop's form senders and the known services. */
  readonly formSenders: AddressMatcher;
}

/** The same settings, compiled for matching. */
export interface ShopMail extends ClassifyRules {
  readonly senders: SenderLists;
  readonly body: BodyMode;
  readonly showImages: boolean;
  readonly quotes: ShopMailSettings['quotes'];
  readonly senderRules: SenderRules;
  readonly trustedArcSealers: readonly string[];
  readonly loop: RateLimits;
}

/** @throws {TypeError} for an invalid address, which the configuration rejects */
export function compileShop(settings: ShopMailSettings): ShopMail {
  const own = createAddressMatcher(settings.addresses);
  const domains = settings.replyDomains.flatMap((domain) => canonicalDomain(domain) ?? []);
  return {
    own,
    formSenders: createFormSenders(settings.formSenders),
    senders: { addresses: settings.addresses, formSenders: settings.formSenders },
    allowSenders: createAddressMatcher(settings.allowSenders),
    replyDomains: new Set([...own.domains, ...domains]),
    body: settings.body,
    showImages: settings.showImages ?? false,
    quotes: settings.quotes,
    suppress: new Set(settings.suppress),
    senderRules: settings.senderRules ?? { dmarc: 'hold', unverified: 'deliver' },
    trustedArcSealers: settings.trustedArcSealers ?? [],
    loop: settings.loop,
  };
}
