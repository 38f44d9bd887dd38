import { expect, test } from '@jest/globals';
import { forgetShops } from '../../src/observability/forget-shop.ts';
import { createMetrics } from '../../src/observability/metrics.ts';

test('what was counted of shops that have gone goes, all else stays', async () => {
  const metrics = createMetrics();
  for (const shop of ['acme', 'beta', 'gamma']) {
    metrics.smsReconciled.inc({ shop });
    metrics.settled.inc({ shop, channel: 'sms', outcome: 'delivered' });
  }
  metrics.accepted.inc({ channel: 'sms', duplicate: 'false' });
  await forgetShops(metrics, new Set(['beta']));
  const text = await metrics.registry.metrics();
  expect(text).not.toMatch(/acme|gamma/);
  expect(text.match(/shop="beta"/g)).toHaveLength(2);
  expect(text).toContain('sluice_accepted_total{channel="sms",duplicate="false"} 1');
});
