import type { Facts, ShopFacts } from '../observability/facts.ts';
import type { Reading, Verdict } from './reading.ts';

/** One reading for each breaker of each shop. */
export function breakerReadings(facts: Facts, openForMs: number): Reading[] {
  return facts.shops.flatMap((shop) =>
    shop.breakers.map(({ part, state }) => ({
      key: `breaker-open/${shop.shop}/${part}`,
      rule: 'breaker-open' as const,
      shop: shop.shop,
      verdict: state === 'closed' ? closed(shop, facts) : ('bad' as const),
      forMs: openForMs,
      severity: 'critical' as const,
      summary:
        part === 'messages'
          ? `Deliveries of ${shop.shop} are paused: its platform fails or refuses them`
          : `Attachments of ${shop.shop} wait: the platform does not take uploads`,
      todo: 'Messages are kept and sent once the platform answers again. Check that it is up, and that the key of the shop is right (sluice doctor --only platform).',
    })),
  );
}

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
