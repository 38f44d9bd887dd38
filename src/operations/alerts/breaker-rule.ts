import type { Facts, ShopFacts } from '../../observability/facts.ts';
import type { Reading, Verdict } from './reading.ts';
import { minute } from './words.ts';

/** One reading for each breaker of each shop. */
export function breakerReadings(facts: Facts, openForMs: number): Reading[] {
  return facts.shops.flatMap((shop) =>
    shop.breakers.map(({ part, state, since }) => ({
      key: `breaker-open/${shop.shop}/${part}`,
      rule: 'breaker-open' as const,
      shop: shop.shop,
      verdict: state === 'closed' ? closed(shop, facts) : ('bad' as const),
      forMs: openForMs,
      severity: 'critical' as const,
      summary:
        part === 'messages'
          ? `Deliveries of ${shop.shop} ${since === undefined ? 'are' : 'have been'} stopped${sinceWords(since)}: its platform fails or refuses them`
          : `Attachments of ${shop.shop} ${since === undefined ? 'wait' : 'have waited'}${sinceWords(since)}: the platform does not take uploads`,
      todo: `Messages are kept, one is tried every 5 to 25 seconds, and all are sent once the platform answers again. See why (sluice shops), check the platform and the key of the shop (sluice doctor --only platform), then: sluice shops try ${shop.shop}`,
    })),
  );
}

const sinceWords = (since: number | undefined): string =>
  since === undefined ? '' : ` since ${minute(since)}`;

/**
 * Breakers start closed with the process. As long as something waits and nothing has gone through
 * since, that does not say that the platform is back.
 */
function closed({ shop, lastDeliveredAt }: ShopFacts, { counts }: Facts): Verdict {
  if (lastDeliveredAt !== undefined) return 'good';
  const waits = counts.some(
    (count) => count.shop === shop && (count.state === 'queued' || count.state === 'delivering'),
  );
  return waits ? 'between' : 'good';
}
