import { type CreateMessageRequest, isEmailAddress } from '../platform-api/schemas.ts';
import { ApiError } from './api-error.ts';
import { normalPhone } from './phone-number.ts';
import type { Channel } from './store/rows.ts';

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
    throw new ApiError(400, 'the request is not valid', {
      'conversation.agent_contact': 'expected an email address',
    });
  }
  return { sender: orNull(contact.email?.trim() ?? ''), agentContact: orNull(to.toLowerCase()) };
}

const orNull = (text: string) => (text === '' ? null : text);
