import { createAddressMatcher } from '../address-matcher.ts';
import { canonicalDomain } from '../../../domain/email-addresses.ts';
import { createFormSenders } from '../known-forms.ts';
import type { RateLimits } from '../../../spool/sender-rates.ts';
import type { ShopId } from '../../../domain/ids.ts';
import type { SenderLists } from '../authentication/claimed-sender.ts';
import type { SenderRules } from '../authentication/sender-policy.ts';
import type { BodyMode } from './body/choose-body.ts';
import type { ClassifyRules, MailClass } from './head/classify.ts';

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
  /** What becomes of senders that nothing vouches for. */
  readonly senderRules?: SenderRules;
  /** Domains of forwarders whose ARC seal vouches for the original sender. */
  readonly trustedArcSealers?: readonly string[];
  /** What of one person is held as a loop. */
  readonly loop: RateLimits;
}

/** The same, ready to ask. */
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
