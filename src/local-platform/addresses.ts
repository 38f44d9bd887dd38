import { domainToASCII } from 'node:url';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { type CreateMessageRequest, isEmailAddress } from '../platform-api/schemas.ts';
import { invalidRequest } from './api-error.ts';
import type { Channel } from './store/rows.ts';

/**
 * An email address or a number in the one form that two are compared in: whoever writes from it or
 * to it, `Support@BÜCHER.example` is `support@xn--bcher-kva.example`.
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
 * A telephone number in E.164 ("+1 (555) 000-2222" is "+15550002222"), so that one person is found
 * however his number is written. What cannot be told to be one, such as a short code or a number
 * without its country, stays as it is.
 */
export function normalPhone(text: string): string {
  const trimmed = text.trim();
  const number = parsePhoneNumberFromString(trimmed, { extract: false });
  return number?.isPossible() && !number.ext ? number.number : trimmed;
}

/** Where a message came from and where it went to, on the channel that it took. */
export interface Ends {
  /** The customer's address or number; null in web chat, or when he left none. */
  readonly sender: string | null;
  /** The shop's, in lower case; null in web chat, or when the message does not say. */
  readonly agentContact: string | null;
}

/** @throws {ApiError} 400 for an `agent_contact` that no reply could come from */
export function endsOf(type: Channel, { contact, conversation }: CreateMessageRequest): Ends {
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

/** The local parts of addresses that nobody reads, or that a mail server or a list reads. */
const MACHINES = [
  '(?:.*[-._+])?(?:no|not|do-?not|never)[-._]?(?:reply|answer|responda)\\d*(?:[-._+].*)?',
  '(?:.*-)?bounces?(?:[-+=].*)?',
  '(?:mailer-daemon|postmaster|nobody|notifications?|listserv|majordomo)(?:[-+].*)?',
  '(?:owner|bounce)-.+',
  '.+-(?:owner|request)(?:[+=].*)?',
];
const MACHINE = new RegExp(`^(?:${MACHINES.join('|')})$`, 'i');
const ADDRESS_MAX = 320;

/**
 * Whether an answer to this address would reach a machine: a null reverse-path, no-reply, the
 * mailer daemon, a list's own addresses (RFC 3834 §2, RFC 5230 §4.6). One machine that answers
 * another makes a loop.
 */
export function isMachine(address: string): boolean {
  const bare = address.trim().replace(/^<|>$/g, '').slice(0, ADDRESS_MAX);
  const at = bare.lastIndexOf('@');
  return bare === '' || MACHINE.test(at < 0 ? bare : bare.slice(0, at));
}
