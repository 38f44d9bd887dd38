import { describe, expect, test } from '@jest/globals';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConfig } from '../../src/config/complete.ts';
import { configSource } from '../../src/gateway/config-source.ts';
import { LiveConfig } from '../../src/gateway/live-config.ts';
import { createReloads } from '../../src/gateway/reload.ts';
import { type LogFields, silentLogger } from '../../src/observability/logger.ts';
import type { NewAuditLine } from '../../src/spool/operator-store.ts';
import { ends } from '../support/ends.ts';
import { gatewayConfig } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

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
  let count = 0;
  const reloads = createReloads({
    ...{ live, source, logger, incidents: { reloaded: () => undefined } },
    audit: (line) => Promise.resolve(void audit.push(line)),
    onReloaded: () => (count += 1),
  });
  const { reload, stop } = reloads;
  return {
    ...{ dir: dir.path, file, first, write, live, reload, stop, lines, audit },
    reloads: () => count,
  };
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
    {
      ...{ who: 'ada', action: 'reload', target: 'configuration' },
      outcome: '1 changed: admin.password; 1 needs a restart: dns.servers',
    },
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

test('a stop waits for the reload that is under way, and lets none begin after it', async () => {
  const { dir, write, live, reload, stop } = await scene();
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const steps: string[] = [];
  live.add({
    name: 'slow',
    reads: ['log'],
    prepare: async () => {
      steps.push('preparing');
      await gate;
      return { commit: () => void steps.push('committed') };
    },
  });
  const config = gatewayConfig({ dataDir: dir });
  write({ ...config, log: { ...config.log, level: 'warn' } });
  const first = reload('ada');
  await waitFor('the reload to begin', () => steps.includes('preparing'));
  const stopped = stop().then(() => steps.push('stopped'));
  const second = reload('signal');
  go();
  expect(await first).toMatchObject({ ok: true });
  expect(await second).toEqual({ ok: false, mistakes: ['The gateway is stopping.'] });
  await stopped;
  expect(steps).toEqual(['preparing', 'committed', 'stopped']);
});

test.each([
  ['endless', (file: string) => symlinkSync('/dev/zero', file), 'a pipe or a device'],
  ['a folder', (file: string) => mkdirSync(file), 'a folder'],
  ['far too large', (file: string) => truncateSync(openFile(file), 1e10), '10000000000 bytes'],
  ['gone', () => undefined, 'no such file (ENOENT)'],
])('a file that has become %s is a mistake, and holds nothing up', async (_what, make, found) => {
  const { file, live, reload } = await scene();
  const before = live.value;
  rmSync(file);
  make(file);
  const { mistakes } = { mistakes: [], ...(await reload('signal')) };
  expect(mistakes).toEqual([expect.stringContaining(`found:    ${found}`)]);
  expect(live.value).toBe(before);
});

function openFile(file: string): string {
  writeFileSync(file, '');
  return file;
}
