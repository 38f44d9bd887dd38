import { domainToASCII } from 'node:url';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { type CreateMessageRequest, isEmailAddress } from '../platform-api/schemas.ts';
import { invalidRequest } from './api-error.ts';
import type { Channel } from './store/rows.ts';

/**
 * The canonical form of an email address or a phone number, for comparisons:
 * `Support@BÜCHER.example` becomes `support@xn--bcher-kva.example`.
 */
export function normalAddress(text: string): string {
  const trimmed = text.trim();
  return (trimmed.includes('@') ? asciiDomain(trimmed) : normalPhone(trimmed)).toLowerCase();
}

function asciiDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}

/**
 * A phone number in E.164: "+1 (555) 000-2222" becomes "+15550002222". Text that is not a possible
 * number, such as a short code or a number without a country code, is returned as it is.
 */
export function normalPhone(text: string): string {
  const trimmed = text.trim();
  const number = parsePhoneNumberFromString(trimmed, { extract: false });
  return number?.isPossible() && !number.ext ? number.number : trimmed;
}

/** The addresses or numbers of a message on its channel. */
export interface MessageAddresses {
  /** The customer's; null in web chat, or when the request has none. */
  readonly sender: string | null;
  /** The shop's, in lower case; null in web chat, or when the request has none. */
  readonly agentContact: string | null;
}

/** @throws {ApiError} 400 for an `agent_contact` from which no reply could be sent */
export function addressesOf(
  type: Channel,
  { contact, conversation }: CreateMessageRequest,
): MessageAddresses {
  if (type === 'web_chat') return { sender: null, agentContact: null };
  const to = conversation.agent_contact?.trim() ?? '';
  if (type === 'sms') {
    const from = normalPhone(contact.phone ?? '');
    return { sender: orNull(from), agentContact: orNull(normalPhone(to).toLowerCase()) };
  }
  if (to !== '' && !isEmailAddress(to)) {
    throw invalidRequest({
      'conversation.agent_contact': 'expected an email address',
    });
  }
  return { sender: orNull(contact.email?.trim() ?? ''), agentContact: orNull(to.toLowerCase()) };
}

const orNull = (text: string) => (text === '' ? null : text);

/** Local parts of addresses that a mail server, a mailing list or nobody reads. */
const AUTOMATED = [
  '(?:.*[-._+])?(?:no|not|do-?not|never)[-._]?(?:reply|answer|responda)\\d*(?:[-._+].*)?',
  '(?:.*-)?bounces?(?:[-+=].*)?',
  '(?:mailer-daemon|postmaster|nobody|notifications?|listserv|majordomo)(?:[-+].*)?',
  '(?:owner|bounce)-.+',
  '.+-(?:owner|request)(?:[+=].*)?',
];
const AUTOMATED_LOCAL_PART = new RegExp(`^(?:${AUTOMATED.join('|')})$`, 'i');
const ADDRESS_MAX = 320;

/**
 * Whether a reply to this address would reach a program: a null reverse-path, no-reply, the mailer
 * daemon, a mailing list's own addresses (RFC 3834 §2, RFC 5230 §4.6). Replies between programs can
 * loop.
 */
export function isAutomatedAddress(address: string): boolean {
  const bare = address.trim().replace(/^<|>$/g, '').slice(0, ADDRESS_MAX);
  const at = bare.lastIndexOf('@');
  return bare === '' || AUTOMATED_LOCAL_PART.test(at < 0 ? bare : bare.slice(0, at));
}
