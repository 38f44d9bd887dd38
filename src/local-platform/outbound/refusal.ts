import addressparser from 'nodemailer/lib/addressparser';
import type { Store } from '../store/store.ts';
import { isEmailAddress } from '../../platform-api/schemas.ts';
import { isMachine } from './machine-address.ts';
import { type OutgoingReply, SendFailed, unreachable } from './outbound.ts';

/**
 * Why an email must not leave: there is nobody to read it, it would go to several, a machine
 * would answer it, or it would come back to the shop and be answered again. Undefined for all others.
 */
export function emailRefusal(
  store: Store,
  { shop, from, to }: OutgoingReply,
): SendFailed | undefined {
  if (from === undefined || to === undefined) return unreachable('an address');
  if (!isOneAddress(from) || !isOneAddress(to)) {
    return new SendFailed('permanent', 'not one address', { code: 'not_one_address' });
  }
  if (isMachine(to)) return new SendFailed('permanent', 'a machine', { code: 'machine' });
  return store.conversations.isAgentContact(shop, to)
    ? new SendFailed('permanent', 'our own address', { code: 'own_address' })
    : undefined;
}

/** As the mailer reads it: nobody else is written to, in whatever a database has as an address. */
function isOneAddress(text: string): boolean {
  const [mailbox, ...others] = addressparser(text, { flatten: true });
  return mailbox?.address === text && others.length === 0 && isEmailAddress(text);
}
