import { expect, test } from '@jest/globals';
import { forgetShop } from '../../src/observability/forget-shop.ts';
import { createMetrics } from '../../src/observability/metrics.ts';

test('the series of one shop go, all others stay', async () => {
  const metrics = createMetrics();
  for (const shop of ['acme', 'beta']) {
    metrics.breakerOpen.set({ shop, part: 'messages' }, 1);
    metrics.breakerOpen.set({ shop, part: 'media' }, 0);
    metrics.entries.set({ shop, channel: 'sms', state: 'dead' }, 3);
    metrics.settled.inc({ shop, channel: 'sms', outcome: 'delivered' });
  }
  metrics.accepted.inc({ channel: 'sms', duplicate: 'false' });
  await forgetShop(metrics, 'acme');
  const text = await metrics.registry.metrics();
  expect(text).not.toContain('acme');
  expect(text.match(/shop="beta"/g)).toHaveLength(4);
  expect(text).toContain('sluice_accepted_total{channel="sms",duplicate="false"} 1');
});
