import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConfig } from '../../src/config/complete.ts';
import { configSource } from '../../src/gateway/config-source.ts';
import { LiveConfig } from '../../src/gateway/live-config.ts';
import { createReload } from '../../src/gateway/reload.ts';
import { type LogFields, silentLogger } from '../../src/observability/logger.ts';
import type { NewAuditLine } from '../../src/spool/operator-store.ts';
import { ends } from '../support/ends.ts';
import { gatewayConfig } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A configuration in a file, and what is told about it. */
async function scene(written?: object) {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'sluice.json');
  const write = (content: object) => writeFileSync(file, JSON.stringify(content));
  const first = written ?? gatewayConfig({ dataDir: dir.path });
  write(first);
  const source = configSource({ file, env: {} });
  const loaded = source.load();
  if (!loaded.ok) throw new Error('a configuration with mistakes');
  const lines: (LogFields & { readonly event: string })[] = [];
  const told = (event: string, fields?: LogFields) => void lines.push({ event, ...fields });
  const logger = { ...silentLogger, info: told, error: told };
  const live = new LiveConfig(await completeConfig(loaded.config), logger);
  const audit: NewAuditLine[] = [];
  let reloads = 0;
  const reload = createReload({
    ...{ live, source, logger },
    audit: (line) => Promise.resolve(void audit.push(line)),
    onReloaded: () => (reloads += 1),
  });
  return { dir: dir.path, first, write, live, reload, lines, audit, reloads: () => reloads };
}

test('what changed is told by its path, never by its value, and is in the audit', async () => {
  const { dir, write, live, reload, lines, audit, reloads } = await scene();
  const config = gatewayConfig({ dataDir: dir });
  write({
    ...config,
    admin: { ...config.admin, password: 'a-new-password' },
    dns: { servers: ['192.0.2.1'] },
  });
  expect(await reload('ada')).toEqual({
    ok: true,
    changed: ['admin.password'],
    needsRestart: ['dns.servers'],
  });
  expect(live.value.admin.password.reveal()).toBe('a-new-password');
  expect(live.value.dns.servers).toEqual([]);
  expect(lines).toEqual([
    {
      event: 'config.reloaded',
      who: 'ada',
      changed: 'admin.password',
      needsRestart: 'dns.servers',
    },
  ]);
  expect(audit).toEqual([
    { who: 'ada', action: 'reload', target: 'configuration', outcome: '1 changed' },
  ]);
  expect(reloads()).toBe(1);
});

test('mistakes are told as `config check` prints them, and nothing changes', async () => {
  const { dir, write, live, reload, audit, reloads } = await scene();
  const before = live.value;
  const config = gatewayConfig({ dataDir: dir });
  write({ ...config, log: { level: 'debug' }, smtp: { ...config.smtp, prot: 25 } });
  const result = await reload('ada');
  expect(result).toEqual({
    ok: false,
    mistakes: [expect.stringMatching(/^smtp\.prot {2}\(.*sluice\.json:1:\d+\)\n {2}expected: /)],
  });
  expect(live.value).toBe(before);
  expect(audit).toMatchObject([{ outcome: 'refused' }]);
  expect(reloads()).toBe(0);
});

test('a part that fails leaves the old configuration, and says no more than that', async () => {
  const { dir, write, live, reload, lines } = await scene();
  const before = live.value;
  live.add({
    name: 'broken',
    reads: ['delivery'],
    prepare: () => {
      throw new RangeError('about key-of-acme');
    },
  });
  const config = gatewayConfig({ dataDir: dir });
  write({ ...config, delivery: { ...config.delivery, concurrency: 3 } });
  const result = await reload('signal');
  expect(result).toEqual({ ok: false, mistakes: [expect.stringContaining('RangeError')] });
  expect(live.value).toBe(before);
  expect(JSON.stringify([result, lines])).not.toContain('key-of-acme');
  // Others that come later are taken up.
  write({ ...config, log: { ...config.log, level: 'debug' } });
  expect(await reload('signal')).toMatchObject({ ok: true, changed: ['log.level'] });
});

describe('between the demo shop and shops of one’s own', () => {
  test('the first own shop takes the place of the demo shop', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const own = gatewayConfig({ dataDir: dir.path });
    const { write, live, reload } = await scene({ ...own, shops: [] });
    expect(live.value.demo).toBe(true);
    write(own);
    expect(await reload('ada')).toMatchObject({ changed: ['shops[acme]', 'shops[demo]'] });
    expect([live.value.demo, live.value.shops.map(({ name }) => name)]).toEqual([false, ['acme']]);
  });

  test('an emptied list is more likely a slip: it needs a restart', async () => {
    const { dir, write, live, reload } = await scene();
    write({ ...gatewayConfig({ dataDir: dir }), shops: [] });
    expect(await reload('ada')).toEqual({ ok: true, changed: [], needsRestart: ['shops'] });
    expect([live.value.demo, live.value.shops.map(({ name }) => name)]).toEqual([false, ['acme']]);
  });
});

test('two who ask at once are answered one after the other', async () => {
  const { dir, write, reload, live } = await scene();
  const config = gatewayConfig({ dataDir: dir });
  write({ ...config, log: { ...config.log, level: 'warn' } });
  const [one, other] = await Promise.all([reload('ada'), reload('ben')]);
  expect([one, other]).toMatchObject([{ changed: ['log.level'] }, { changed: [] }]);
  expect(live.value.log.level).toBe('warn');
});
