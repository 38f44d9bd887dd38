import type { Entry } from './entry.ts';

/** Why an entry waits when nothing ever refused it. */
export const SHOP_NOT_CONFIGURED = 'its shop is not configured';

/**
 * The reason that people are told. What waits for a shop that was taken out of the configuration has
 * none in the store: nobody tries it, and it goes on untouched when the shop is back.
 * @param isServed the entry's shop is configured now
 */
export function shownReason(
  { state, reason }: Pick<Entry, 'state' | 'reason'>,
  isServed: boolean,
): string | undefined {
  return state === 'queued' && !isServed ? SHOP_NOT_CONFIGURED : reason;
}
