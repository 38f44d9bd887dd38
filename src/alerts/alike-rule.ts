import type { Facts } from '../observability/facts.ts';
import type { Reading } from './reading.ts';
import { minute, several } from './words.ts';

/** From so many times the threshold on, it is no longer a few people who get no answer. */
const URGENT = 5;

/**
 * One reading for each refusal that many messages of a shop got with the same words. When it is
 * over there is none: so ends the alert.
 */
export function alikeReadings({ shops }: Facts, threshold: number): Reading[] {
  return shops.flatMap(({ shop, refusedAlike }) =>
    refusedAlike.map(({ words, since, count }) => ({
      key: `refused-alike/${shop}/${words}`,
      rule: 'refused-alike' as const,
      shop,
      verdict: count >= threshold ? ('bad' as const) : ('between' as const),
      // Five of them within ten minutes are its duration.
      forMs: 0,
      severity: count >= URGENT * threshold ? ('critical' as const) : ('warning' as const),
      summary: `The platform has refused ${several(count, 'message')} of ${shop} in the same words since ${minute(since)}: ${words}`,
      todo: `They wait, one is tried each minute, and all are sent once it is taken. Read the platform's whole answer (console: Messages, state queued), and ask its operators what has changed; then: sluice shops try ${shop}`,
      figure: count,
    })),
  );
}
