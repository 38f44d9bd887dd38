import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createMetrics, forgetShops } from '../../src/observability/metrics.ts';
import { DAY, NOW, openShop, someStatus } from '../operations/alerts/some-status.ts';

const PAGE = fileURLToPath(new URL('../../docs/metrics.md', import.meta.url));

interface Listed {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly unit: string;
  readonly meaning: string;
}

function listed(): Listed[] {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `(sluice_\w+)` +\|(.*)\|$/gm);
  return [...rows].map(([, name = '', cells = '']) => {
    const [type = '', labels = '', unit = '', ...meaning] = cells.split('|').map((c) => c.trim());
    return {
      ...{ name, type, unit, meaning: meaning.join('|') },
      labels: labels === '' ? [] : labels.split(', ').map((label) => label.replaceAll('`', '')),
    };
  });
}

async function exposed() {
  const { registry } = createMetrics();
  const all = await registry.getMetricsAsJSON();
  return all.filter(({ name }) => name.startsWith('sluice_'));
}

test('docs/metrics.md lists every metric with its type and help, and no other', async () => {
  const metrics = (await exposed()).map(({ name, type, help }) => ({ name, type, help }));
  const rows = listed().map(({ name, type, meaning }) => ({ name, type, help: meaning }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(rows.toSorted(byName)).toEqual(metrics.toSorted(byName));
});

test('names follow the conventions of Prometheus', async () => {
  for (const { name, type, help } of await exposed()) {
    expect(name).toMatch(/^sluice_[a-z0-9_]+$/);
    expect(name.endsWith('_total')).toBe(String(type) === 'counter');
    expect(name).not.toMatch(/_(?:ms|millis|milliseconds|kb|mb|minutes|percent)(?:_|$)/);
    expect(help.length).toBeGreaterThan(15);
    expect(help).not.toMatch(/\.$/);
  }
  for (const { name, unit } of listed()) {
    if (name.endsWith('_seconds')) expect(unit).toBe('seconds');
    if (name.endsWith('_bytes')) expect(unit).toBe('bytes');
  }
});

test('gauges of the status are read at the scrape', async () => {
  const metrics = createMetrics();
  const waitingTickets = [{ shop: 'acme', waiting: 2, oldestAt: NOW - 5000 }];
  const status = someStatus({ shops: [openShop], waitingTickets });
  metrics.readFrom({
    status: () => Promise.resolve(status),
    searchBacklog: () => Promise.resolve(7),
  });
  const text = await metrics.registry.metrics();
  for (const line of [
    'sluice_disk_free_bytes 50000000000',
    'sluice_disk_reserve_bytes 55000000',
    `sluice_smtp_certificate_expiry_timestamp_seconds{self_signed="false"} ${(NOW + 90 * DAY) / 1000}`,
    'sluice_breaker_open{shop="acme",part="messages"} 1',
    'sluice_breaker_open{shop="acme",part="media"} 0',
    'sluice_waiting_tickets{shop="acme"} 2',
    'sluice_oldest_waiting_ticket_seconds{shop="acme"} 5',
    'sluice_search_backlog_entries 7',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

test('a scrape works when the status cannot be collected', async () => {
  const metrics = createMetrics();
  const broken = () => Promise.reject(new Error('the store is gone'));
  metrics.readFrom({ status: broken, searchBacklog: broken });
  expect(await metrics.registry.metrics()).toContain('sluice_accepted_total');
});

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
