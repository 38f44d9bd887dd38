import {
  type AddressMatcher,
  domainOf,
  parseAddressList,
} from '../../../../domain/email-addresses.ts';
import { hasForeignReplyTo, listPost, mailboxOf, type Sender } from '../../sender.ts';
import { type HeaderBlock, messageIdOf } from '../../header-block.ts';
import type { Verdict } from '../../../../intake/normalizer.ts';
import { hasNullSender, isBounce, type ReportSigns } from '../reports/bounce-signs.ts';
import { isComplaint, isDomainReport } from '../reports/feedback.ts';
import { reportType } from '../reports/report-parts.ts';
import { isAutoReplySubject } from './subjects.ts';
import { messageIdHost } from './header-values.ts';
import type { ClassifyRules, MailClass } from '../../shop.ts';

export interface Classified extends ReportSigns {
  readonly shop: ClassifyRules;
}

/** Headers with which some systems mark automatic answers. */
const AUTO_REPLY_HEADERS = `x-autoreply x-autorespond x-autoresponder x-autoresponse
  x-autoreply-from x-mail-autoreply`.split(/\s+/);

/**
 * Whether a message is delivered, held or suppressed: by its headers and envelope, and for reports
 * of machines by its parts.
 */
export function classify(message: Classified): Verdict {
  const { head, sender, meta, shop } = message;
  const { allowSenders, suppress } = shop;
  if (sender.kind === 'several') return { kind: 'held', reason: { code: 'several_from' } };
  if (isAllowedSender(head, sender, allowSenders)) return { kind: 'deliver' };
  const found = mailClass(message, addresses(head, 'from'));
  const isForm = isFrom(head, shop.formSenders);
  // It was sent by a machine but contains a customer's text.
  if (isForm && (found === 'auto-generated' || found === 'bulk')) return { kind: 'deliver' };
  if (found === 'auto-generated') return { kind: 'held', reason: { code: 'auto_generated' } };
  if (found !== undefined && suppress.has(found)) {
    return { kind: 'suppressed', reason: { code: found === 'auto-reply' ? 'auto_reply' : found } };
  }
  if (sender.kind === 'none' && meta.envelopeFrom === '') {
    return { kind: 'held', reason: { code: 'no_sender' } };
  }
  return { kind: 'deliver' };
}

/** Whether From, or the person it represents, is one of the shop's `allowSenders`. */
export function isAllowedSender(
  head: HeaderBlock,
  sender: Sender,
  allowSenders: AddressMatcher,
): boolean {
  const person = mailboxOf(sender);
  if (person === undefined) return false;
  return allowSenders.has(person.address) || isFrom(head, allowSenders);
}

/** Whether From contains one of these senders. */
export function isFrom(head: HeaderBlock, senders: AddressMatcher): boolean {
  if (senders.domains.length === 0) return false;
  return addresses(head, 'from').some((address) => senders.has(address));
}

/**
 * The most certain class comes first: a bounce also looks like an automatic answer, and mail of a
 * form or marketplace, which contains a customer's text, often looks like bulk mail.
 */
function mailClass(
  message: Classified,
  froms: readonly string[],
): MailClass | 'auto-generated' | undefined {
  if (isComplaint(message.head, message.parts)) return 'complaint';
  if (isBounce(message)) return 'bounce';
  if (isDomainReport(message)) return 'report';
  if (isLoop(message, froms)) return 'loop';
  if (isAutoReply(message)) return 'auto-reply';
  if (isGenerated(message.head)) return 'auto-generated';
  return isBulk(message) ? 'bulk' : undefined;
}

/** Our own mail that came back to us. An unknown Reply-To makes it a contact form instead. */
function isLoop(message: Classified, froms: readonly string[]): boolean {
  const { head, sender, shop } = message;
  const { own } = shop;
  if (isOwnMessageId(message, froms)) return true;
  if (sender.kind === 'claimed' || hasForeignReplyTo(head, own)) return false;
  // A list of our own (a support address that is a Google Group) is the Sender of forwarded mail.
  const senders = isOwnList(head, own) ? [] : addresses(head, 'sender');
  return [...froms, ...senders].some((address) => own.has(address));
}

/** Version 4 in lower case, as in the ids of the platform's replies. */
const RANDOM_UUID = /^<[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}@/;

/**
 * An id of the platform: at a host that is configured as the platform's; or at a domain of our
 * addresses, in the platform's format, on a mail whose From is elsewhere. Mail of colleagues and of
 * forms on our web site has ids at these domains too.
 */
function isOwnMessageId({ head, shop }: Classified, froms: readonly string[]): boolean {
  const { own, replyDomains } = shop;
  const id = messageIdOf(head);
  if (id === undefined) return false;
  if (!own.domains.includes(messageIdHost(id))) return replyDomains.has(messageIdHost(id));
  return RANDOM_UUID.test(id) && !froms.some((from) => own.domains.includes(domainOf(from)));
}

/** RFC 3834 §5, RFC 8098 (read receipts), and the forms of systems that implement neither. */
function isAutoReply(message: Classified): boolean {
  const { head } = message;
  if (/^auto-replied\b/i.test(value(head, 'auto-submitted'))) return true;
  if (AUTO_REPLY_HEADERS.some((name) => /^(?!no$|false$).+/i.test(value(head, name)))) return true;
  if (precedences(head).includes('auto_reply')) return true;
  if (/^reply\b/i.test(value(head, 'x-autogenerated'))) return true;
  if (reportType(head) === 'disposition-notification') return true;
  // Each of these alone also occurs on mail that people write.
  const subject = isAutoReplySubject(message.subject ?? '');
  const nullSender = hasNullSender(message);
  const signs = [
    nullSender,
    subject,
    /\b(?:all|oof|autoreply)\b/i.test(value(head, 'x-auto-response-suppress')),
    // On a person's reply, possibly sent through Exchange, it is not significant.
    (subject || nullSender) && head.count('in-reply-to') > 0,
  ];
  return signs.filter(Boolean).length >= 2;
}

/** RFC 2919, RFC 2369, RFC 2076 §3.9. Not if the list is one of our own addresses. */
function isBulk({ head, shop }: Classified): boolean {
  if (isOwnList(head, shop.own)) return false;
  if (head.count('list-id') > 0) return true;
  if (precedences(head).some((each) => ['bulk', 'list', 'junk'].includes(each))) return true;
  return head.count('list-unsubscribe') > 0 && head.count('in-reply-to') === 0;
}

function isOwnList(head: HeaderBlock, own: AddressMatcher): boolean {
  const post = listPost(head);
  if (post !== undefined && own.has(post)) return true;
  // RFC 2919 §2: the list first.support@acme.example has the id <first.support.acme.example>.
  const id = /<([^<>\s]{1,255})>/.exec(value(head, 'list-id'))?.[1];
  if (id === undefined) return false;
  const dots = [...id.matchAll(/\./g)].map(({ index }) => index);
  return dots.some((dot) => own.has(`${id.slice(0, dot)}@${id.slice(dot + 1)}`));
}

/** Written by a machine, often with a customer's text in it (voicemail, marketplaces, forms). */
function isGenerated(head: HeaderBlock): boolean {
  return /^auto-(?!replied\b)[a-z]/i.test(value(head, 'auto-submitted'));
}

function precedences(head: HeaderBlock): readonly string[] {
  return ['precedence', 'x-precedence'].map((name) => value(head, name).toLowerCase());
}

function addresses(head: HeaderBlock, name: string): readonly string[] {
  return head
    .all(name)
    .flatMap((raw) => parseAddressList(raw, 8 * 1024).map(({ address }) => address));
}

function value(head: HeaderBlock, name: string): string {
  const raw = head.first(name);
  return raw === undefined ? '' : raw.slice(0, 2000).trim();
}
