import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { completeConfig } from '../../src/config/complete.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import type { ConfigurationView } from '../../src/console/contract.ts';
import { configSource } from '../../src/gateway/config-source.ts';
import { configurationView } from '../../src/gateway/configuration-view.ts';
import { LiveConfig } from '../../src/gateway/live-config.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { GatewayStatus } from '../../src/observability/status.ts';
import { ends } from '../support/ends.ts';
import { gatewayConfig } from '../support/gateway-config.ts';
import { runCount } from '../support/run-count.ts';
import { tempDir } from '../support/temp-dir.ts';

const QUIET: GatewayStatus = {
  at: 0,
  startedAt: 0,
  deliveryPaused: false,
  counts: [],
  shops: [],
  disk: { freeBytes: 1, totalBytes: 1, reserveBytes: 0 },
  badSignatures: 0,
  sockets: { chat: 0, smtp: 0 },
  waitingTickets: [],
  refusedPages: [],
};

/** The view of a configuration that is written to a file. */
async function viewOf(
  written: (dataDir: string) => object,
  later: (
    view: () => Promise<ConfigurationView>,
    write: (content: object | string) => void,
  ) => Promise<ConfigurationView> = (view) => view(),
  status: GatewayStatus = QUIET,
): Promise<ConfigurationView> {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'sluice.json');
  const write = (content: object | string) =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  write(written(dir.path));
  const source = configSource({ file, env: {} });
  const loaded = source.load();
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  const live = new LiveConfig(await completeConfig(loaded.config), silentLogger);
  const parts = { live, source, loadedAt: () => 7, status: () => Promise.resolve(status) };
  return later(() => configurationView(parts), write);
}

const valueAt = ({ values }: ConfigurationView, path: string) => {
  const { value, secret, isDefault } = values.find((each) => each.path === path) ?? {};
  return [value, secret, isDefault];
};

test('shows what runs: with units, masked, and what is as usual', async () => {
  const view = await viewOf((dataDir) => ({
    ...gatewayConfig({ dataDir }),
    localPlatform: {
      agent: { kind: 'off' },
      replies: { relay: 'smtp://ada:pass-of-relay@mail.example:587' },
    },
  }));
  expect(valueAt(view, 'spool.retain.raw')).toEqual(['7d', false, true]);
  expect(valueAt(view, 'delivery.requestTimeout')).toEqual(['10s', false, false]);
  expect(valueAt(view, 'smtp.trustedRelays')).toEqual(['127.0.0.0/8, ::1/128', false, true]);
  expect(valueAt(view, 'localPlatform.replies.relay')).toEqual(['••••', true, false]);
  expect(valueAt(view, 'shops[acme].apiKey')).toEqual(['••••', true, false]);
  expect(valueAt(view, 'shops[acme].email.body')).toEqual(['auto', false, true]);
  expect(valueAt(view, 'shops[acme].chat.identitySecrets')).toEqual(['', true, true]);
  expect(valueAt(view, 'shops[acme].chat.limits.messagesPer10s')).toEqual(['10000', false, false]);
  expect(view.values.map(({ path }) => path.split(/[.[]/)[0])).not.toContain('chatTokenKeys');
  expect(view).toMatchObject({ loadedAt: 7, pending: [], warnings: [] });
});

test('has for each shop what to set elsewhere', async () => {
  const view = await viewOf((dataDir) => gatewayConfig({ dataDir }));
  expect(view.shops).toEqual([
    {
      shop: 'acme',
      platform: 'local',
      email: { addresses: ['support@acme.example'], smtp: 'mx.acme.example:0' },
      sms: {
        numbers: ['+15550001111'],
        webhook: 'https://gw.acme.example/sms/twilio#rc=5&rp=all',
      },
      chat: {
        key: 'acme',
        origins: [],
        snippet: '<script async src="https://gw.acme.example/widget.js" data-key="acme"></script>',
      },
    },
  ]);
});

test('tells what of the file as it is now has not been taken up, without taking it up', async () => {
  const view = await viewOf(
    (dataDir) => gatewayConfig({ dataDir }),
    async (view, write) => {
      const { values } = await view();
      const dataDir = values.find(({ path }) => path === 'dataDir')?.value ?? '';
      const config = gatewayConfig({ dataDir });
      write({ ...config, smtp: { ...config.smtp, port: 2526 }, log: { level: 'warn' } });
      return view();
    },
  );
  expect(view.pending).toEqual([
    { path: 'log.level', needsRestart: false },
    { path: 'log.format', needsRestart: true },
    { path: 'smtp.port', needsRestart: true },
  ]);
  expect(valueAt(view, 'log.level')).toEqual(['info', false, true]);
});

test('a file that cannot be read has nothing to tell', async () => {
  const view = await viewOf(
    (dataDir) => gatewayConfig({ dataDir }),
    (view, write) => {
      write('{');
      return view();
    },
  );
  expect(view.pending).toBeNull();
});

test('damaged keys keep nobody from seeing what runs', async () => {
  const view = await viewOf(
    (dataDir) => gatewayConfig({ dataDir }),
    async (view) => {
      const dataDir = (await view()).values.find(({ path }) => path === 'dataDir')?.value ?? '';
      writeFileSync(join(dataDir, 'keys.json'), '{');
      return view();
    },
  );
  expect([view.pending, view.shops.length]).toEqual([null, 1]);
});

test('warns of entries that wait for a shop that is not there', async () => {
  const stranger = {
    shop: 'a-shop-id',
    channel: 'email',
    state: 'queued',
    count: 3,
    oldestAt: 0,
  } as const;
  const status = { ...QUIET, counts: [stranger, { ...stranger, state: 'dead' }] };
  const view = await viewOf((dataDir) => gatewayConfig({ dataDir }), undefined, status);
  expect(view.warnings).toEqual([expect.stringMatching(/^3 queued for the shop a-shop-id,/)]);
});

/** Unlike any word of a configuration, and where a URL needs it, as a part of one. */
const canary = fc
  .string({
    unit: fc.constantFrom('K', 'X', 'Z', '2', '5', '7'),
    minLength: 34,
    maxLength: 48,
  })
  .map((text) => `Q${text}Q`);
const canaries = fc.record({
  apiKey: canary,
  password: canary,
  operator: canary,
  relay: canary,
  alertRelay: canary,
  webhook: canary,
  model: canary,
  tokens: fc.array(canary, { minLength: 1, maxLength: 3 }),
  authTokens: fc.array(canary, { minLength: 1, maxLength: 3 }),
  apiKeySecret: canary,
  identity: fc.array(canary, { maxLength: 3 }),
});

test('whatever the configuration, no secret is in its view', async () => {
  await fc.assert(
    fc.asyncProperty(canaries, async (made) => {
      const written = (dataDir: string) => {
        const config = gatewayConfig({ dataDir });
        const [acme] = config.shops;
        return {
          ...config,
          admin: {
            ...config.admin,
            password: made.password,
            operators: [{ name: 'ada', password: made.operator }],
          },
          localPlatform: {
            replies: { relay: `smtp://user:${made.relay}@mail.example` },
            agent: { kind: 'openai', model: 'm', apiKey: made.model },
          },
          alerts: {
            webhook: { url: `https://hooks.example/services/${made.webhook}` },
            email: {
              relay: `smtps://user:${made.alertRelay}@mail.example`,
              from: 'a@x.example',
              to: ['b@x.example'],
            },
          },
          shops: [
            {
              ...acme,
              apiKey: made.apiKey,
              email: { ...acme?.email, inboundTokens: made.tokens },
              sms: {
                ...acme?.sms,
                twilio: {
                  ...acme?.sms.twilio,
                  authTokens: made.authTokens,
                  apiKeySid: `SK${'0'.repeat(32)}`,
                  apiKeySecret: made.apiKeySecret,
                },
              },
              chat: { ...acme?.chat, identitySecrets: made.identity },
            },
          ],
        };
      };
      const shown = JSON.stringify(await viewOf(written));
      for (const secret of Object.values(made).flat()) expect(shown).not.toContain(secret);
    }),
    { numRuns: runCount(40) },
  );
});
