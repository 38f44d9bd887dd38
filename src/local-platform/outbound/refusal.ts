import type { Store } from '../store/store.ts';
import { isMachine } from './machine-address.ts';
import { type OutgoingReply, SendFailed, unreachable } from './outbound.ts';

/**
 * Why an email must not leave: there is nobody to read it, a machine would answer it, or it would
 * come back to the shop and be answered again. Undefined for all others.
 */
export function emailRefusal(
  store: Store,
  { shop, from, to }: OutgoingReply,
): SendFailed | undefined {
  if (from === undefined || to === undefined) return unreachable('an address');
  if (isMachine(to)) return new SendFailed('permanent', 'a machine', { code: 'machine' });
  return store.conversations.isAgentContact(shop, to)
    ? new SendFailed('permanent', 'our own address', { code: 'own_address' })
    : undefined;
}
