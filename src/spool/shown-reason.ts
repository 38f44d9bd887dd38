import type { Entry } from './entry.ts';

/** Why an entry waits although no attempt failed. */
export const SHOP_NOT_CONFIGURED = 'its shop is not configured';

/**
 * The reason that is shown to people. Entries of a shop that was removed from the configuration
 * have no reason in the store: they are not attempted, and delivery resumes when the shop is back.
 * @param isServed the entry's shop is configured now
 */
export function shownReason(
  { state, reason }: Pick<Entry, 'state' | 'reason'>,
  isServed: boolean,
): string | undefined {
  return state === 'queued' && !isServed ? SHOP_NOT_CONFIGURED : reason;
}
