import { type AddressMatcher, createAddressMatcher } from './address-matcher.ts';
import { canonicalDomain } from '../../domain/email-addresses.ts';
import { createFormSenders } from './known-senders.ts';
import type { RateLimits } from '../../spool/sender-rates.ts';
import type { ShopId } from '../../domain/ids.ts';
import type { SenderRules } from './authentication/verdict.ts';

/** Which form of the body goes into the content. */
export type BodyMode = 'auto' | 'html' | 'text';

export type MailClass = 'auto-reply' | 'bounce' | 'loop' | 'bulk';

/** A shop's own addresses and form senders: addresses and `*@domain`. */
export interface SenderLists {
  readonly addresses: readonly string[];
  readonly formSenders: readonly string[];
}

/** What the door needs to check senders, for a shop that refuses forged mail. */
export interface RefusesForged {
  readonly trustedArcSealers: readonly string[];
  readonly senders: SenderLists;
}

export interface EmailShop {
  readonly shopId: ShopId;
  /** `support@acme.example`, or a catch-all: `*@help.acme.example`. */
  readonly addresses: readonly string[];
  /** From addresses of contact forms and market places, whose Reply-To is the person. */
  readonly formSenders: readonly string[];
  /** One entry for a message to several of this shop's inboxes, or one each. */
  readonly severalInboxes: 'first' | 'each';
  /** The door checks the sender, and refuses a message that fails DMARC under `p=reject`. */
  readonly refusesForged?: RefusesForged;
}

/** The bearer tokens by which mail for a shop is handed in over HTTP. */
export interface TokenShop {
  readonly shopId: ShopId;
  readonly tokens: readonly string[];
}

/** How one shop wants its mail read. Plain data: it is cloned to the worker threads. */
export interface ShopMailSettings {
  readonly shopId: ShopId;
  /** Addresses and catch-alls (`*@domain`). */
  readonly addresses: readonly string[];
  /** From addresses of forms and market places: the person is in Reply-To. */
  readonly formSenders: readonly string[];
  /** Never suppressed or held as automatic mail. */
  readonly allowSenders: readonly string[];
  /** Hosts of message-ids, beside the domains of the addresses, whose mail is the platform's. */
  readonly replyDomains: readonly string[];
  readonly body: BodyMode;
  /** Everybody can read what is uploaded: the content shows images instead of naming them. */
  readonly showImages?: boolean;
  readonly quotes: 'known' | 'always' | 'never';
  readonly suppress: readonly MailClass[];
  /** What happens to mail of senders that are not verified. */
  readonly senderRules?: SenderRules;
  /** Domains of forwarders whose ARC seal vouches for the original sender. */
  readonly trustedArcSealers?: readonly string[];
  /** How much mail of one person is held as a loop. */
  readonly loop: RateLimits;
}

export interface ClassifyRules {
  readonly own: AddressMatcher;
  /** Hosts of message-ids whose mail is the platform's; the domains of our addresses among them. */
  readonly replyDomains: ReadonlySet<string>;
  readonly suppress: ReadonlySet<MailClass>;
  readonly allowSenders: AddressMatcher;
  /** Who sends in the name of others: the shop's form senders and the known services. */
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

/** @throws {TypeError} for an address that is none; the configuration refuses it */
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
