import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { runCli } from '../../src/cli/run.ts';
import { askConditions, askGateway } from '../../src/operations/running-gateway.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { ends } from '../support/ends.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import { freePorts, ownLoopbackAddress } from '../support/gateway-config.ts';
import { startGateway, writeConfig } from '../support/running-gateway.ts';
import { ScriptedPlatform } from '../support/scripted-platform.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const parsed = (text: string): unknown => JSON.parse(text);

async function scene() {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new ScriptedPlatform();
  ends(() => platform.stop());
  const platformUrl = await platform.start();
  return { dataDir: dir.path, platform, platformUrl };
}

test('status says whether the gateway runs, what waits, and why a shop is stopped', async () => {
  const { dataDir, platform, platformUrl } = await scene();
  const gateway = await startGateway({ dataDir, platformUrl });
  ends(() => gateway.stop());
  const file = writeConfig({ dataDir, platformUrl });
  const status = (...args: string[]) => sluiceHere(['status', ...args, '--config', file]);

  const calm = await status();
  expect(calm).toMatchObject({ code: 0, stderr: '' });
  expect(calm.stdout).toMatch(
    new RegExp(`^gateway +runs \\(process ${process.pid}\\)\\nqueue +nothing waits\\nacme +`),
  );

  const words = { error: { code: 'unauthorized', message: 'The key has expired.' } };
  platform.script = () => ({ status: 401, body: words });
  for (const n of [1, 2, 3]) {
    const From = `+1202555${1000 + n}`;
    await sendSms(gateway.httpUrl, { MessageSid: sidOf(`text ${n}`), From, Body: 'Hello' });
  }
  // Also when one of them is being tried again.
  const stopped = await waitFor('the stop', async () => {
    const told = await status();
    return told.code === 1 && /^queue +3 queued/m.test(told.stdout) && told;
  });
  expect(stopped.stderr).toBe('deliveries are stopped: acme\n');
  expect(stopped.stdout).toMatch(/^queue +3 queued, the oldest for \d+s$/m);
  expect(stopped.stdout).toMatch(
    /^acme +Deliveries of acme are stopped: API key refused \(401\), since 20.* UTC(?:; next try .*)?\. Set a valid apiKey /m,
  );
  // The gateway stores the health of its shops twice a second.
  const told = await waitFor('the stored health', async () => {
    const { stdout } = await status('--json');
    return /"queued": ?3,[^]*"reasonCode"/.test(stdout) && parsed(stdout);
  });
  expect(told).toMatchObject({
    ...{ gatewayRuns: true, pid: process.pid, paused: false },
    queue: { queued: 3, dead: 0, held: 0 },
    shops: [{ shop: 'acme', messages: { reasonCode: 'platform_answered' } }],
    conditions: [{ id: 'breaker-open/acme/messages', severity: 'critical', stopsIntake: false }],
  });

  await gateway.stop();
  const ended = await status();
  expect(ended).toMatchObject({ code: 1, stderr: 'no gateway is running on this data folder\n' });
  expect(ended.stdout).toMatch(/^gateway +does not run; this is the state at the end/);
  expect(await sluiceHere(['reload', '--config', file])).toMatchObject({
    code: 1,
    stderr: 'no gateway of this machine is running on this data folder\n',
  });
});

test('while delivery is paused, status says so, and not that messages flow', async () => {
  const { dataDir, platformUrl } = await scene();
  const gateway = await startGateway({ dataDir, platformUrl, paused: true });
  ends(() => gateway.stop());
  const { stdout } = await sluiceHere([
    'status',
    '--config',
    writeConfig({ dataDir, platformUrl }),
  ]);
  expect(stdout).toMatch(/^gateway +Delivery is paused\. Messages are accepted and stay queued\./m);
  expect(stdout).not.toContain('flow');
});

test('reload says what the gateway made of its configuration', async () => {
  const { dataDir, platformUrl } = await scene();
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const configFile = writeConfig({ dataDir, platformUrl, host, ports });
  const gateway = await GatewayProcess.start({ configFile, host, ports });
  ends(() => gateway.kill());
  const reload = (...args: string[]) => sluiceHere(['reload', ...args, '--config', configFile]);
  expect(await reload()).toEqual({ code: 0, stdout: 'Reloaded: 0 changed.\n', stderr: '' });

  const text = readFileSync(configFile, 'utf8');
  // JSON, of which the last of two equal keys would count in a merge, not in a file.
  const config = parsed(text) as { readonly delivery?: object; readonly smtp?: object };
  const changed = { ...config, delivery: { ...config.delivery, concurrency: 7 } };
  writeFileSync(configFile, JSON.stringify(changed));
  expect(parsed((await reload('--json')).stdout)).toEqual({
    ...{ ok: true, outcome: '1 changed', changed: ['delivery.concurrency'], needsRestart: [] },
  });
  writeFileSync(
    configFile,
    JSON.stringify({ ...changed, smtp: { ...config.smtp, maxConnections: 7 } }),
  );
  expect((await reload()).stdout).toBe(
    'Reloaded: 0 changed.\n1 other changed setting needs a restart: smtp.maxConnections.\n',
  );
  const RESTART = '0 changed; 1 needs a restart: smtp.maxConnections';
  const audit = await sluiceHere(['audit', '--json', '--limit', '1', '--config', configFile]);
  expect(parsed(audit.stdout)).toMatchObject([
    { who: expect.stringMatching(/^terminal:./), action: 'reload', outcome: RESTART },
  ]);

  writeFileSync(configFile, JSON.stringify({ ...changed, delivery: { concurrency: 0 } }));
  const refused = await reload();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('delivery.concurrency');
  await gateway.terminate();
});

test('a gateway that does not answer is a finding, and what is stored is shown', async () => {
  const { dataDir, platformUrl } = await scene();
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const configFile = writeConfig({ dataDir, platformUrl, host, ports });
  const gateway = await GatewayProcess.start({ configFile, host, ports });
  ends(() => gateway.kill());
  gateway.signal('SIGSTOP');
  const status = (...args: string[]) => sluiceHere(['status', ...args, '--config', configFile]);
  const hung = await status();
  const finding = expect.stringMatching(
    /^process \d+ does not answer \(no answer within 3 s\): see its log/,
  );
  expect(hung).toMatchObject({ code: 1, stderr: finding });
  expect(hung.stdout).toMatch(
    /^gateway +does not answer \(process \d+\); this is what is stored\nqueue +nothing/,
  );
  expect(parsed((await status('--json')).stdout)).toMatchObject({
    gatewayRuns: true,
    answers: false,
  });
  expect(await sluiceHere(['shops', '--config', configFile])).toMatchObject({
    code: 1,
    stderr: finding,
  });
  expect((await sluiceHere(['queue', 'list', '--config', configFile])).code).toBe(0);
  gateway.signal('SIGCONT');
  await waitFor('an answer', async () => (await status()).code === 0);
  await gateway.terminate();
});

test('only who can open the data folder is taken for its user', async () => {
  const { dataDir, platformUrl } = await scene();
  const gateway = await startGateway({ dataDir, platformUrl });
  ends(() => gateway.stop());
  const socketPath = join(dataDir, 'admin.sock');
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  const overTcp = await fetch(`${gateway.adminUrl}/api/session`, {
    headers: { 'x-sluice-user': 'ann' },
  });
  expect(overTcp.status).toBe(401);
  const session = z.object({ operator: z.string() });
  for (const [user, operator] of [
    ['ann', 'terminal:ann'],
    ['a\tb', 'terminal'],
    ['a'.repeat(65), 'terminal'],
  ] as const) {
    const asked = await askGateway(dataDir, { path: '/session', answer: session, user });
    expect(asked).toEqual({ kind: 'answered', answer: { operator } });
  }
  await gateway.stop();
  expect(existsSync(socketPath)).toBe(false);
});

test.each([
  [
    'whose path is too long for a socket',
    'n'.repeat(200),
    (dir: string) => mkdirSync(dir),
    { kind: 'answered' },
  ],
  [
    'that takes no socket',
    'folder',
    (dir: string) => mkdirSync(join(dir, 'admin.sock'), { recursive: true }),
    { kind: expect.stringMatching(/absent|failed/) },
  ],
])('a data folder %s', async (_, name, prepare: (dir: string) => void, asked) => {
  const { dataDir: parent, platformUrl } = await scene();
  const dataDir = join(parent, name);
  prepare(dataDir);
  const gateway = await startGateway({ dataDir, platformUrl });
  ends(() => gateway.stop());
  expect(await askConditions(dataDir)).toMatchObject(asked);
  const status = await sluiceHere(['status', '--config', writeConfig({ dataDir, platformUrl })]);
  expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/^gateway +runs/) });
});

test('config show names the environment variable that a value comes from', async () => {
  const env = {
    SLUICE_HTTP_PORT: '9000',
    SLUICE_SHOP_NAME: 'acme',
    SLUICE_SHOP_ID: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
    SLUICE_SHOP_API_KEY: 'hunter2-of-the-platform',
    SLUICE_SHOP_EMAIL_ADDRESSES: 'support@acme.example',
  };
  const show = async (...args: string[]) => {
    const terminal = captureTerminal(env);
    const events = Object.assign(new EventEmitter(), { exit: () => undefined });
    expect(await runCli(['config', 'show', ...args], terminal, events)).toBe(0);
    return terminal.stdout();
  };
  const all = await show();
  expect(all).toMatch(/^http\.port +9000 +SLUICE_HTTP_PORT$/m);
  expect(all).toMatch(/^smtp\.port +2525 +default$/m);
  expect(all).toMatch(/^shops\[acme\]\.apiKey +•+ +SLUICE_SHOP_API_KEY$/m);
  expect(all).not.toContain('hunter2');
  expect(parsed(await show('http.port', '--json'))).toEqual([
    {
      ...{ path: 'http.port', value: '9000', secret: false, isDefault: false },
      variable: 'SLUICE_HTTP_PORT',
    },
  ]);
  expect(await show('http', '--changed')).toMatch(/^http\.port .*$/m);
});

test('config show prints effective values and no secret; help knows commands of commands', async () => {
  const { dataDir, platformUrl } = await scene();
  const file = writeConfig({ dataDir, platformUrl });
  const show = (...args: string[]) => sluiceHere(['config', 'show', ...args, '--config', file]);
  const all = await show('--json');
  expect(parsed(all.stdout)).toContainEqual({
    ...{ path: 'smtp.maxConnections', value: '1000', secret: false, isDefault: true },
  });
  expect(parsed(all.stdout)).toContainEqual(
    expect.objectContaining({ path: 'shops[acme].apiKey', value: '••••', secret: true }),
  );
  expect(all.stdout).not.toContain('key-of-acme');
  const changed = await show('--changed', 'smtp');
  expect(changed.stdout).toMatch(/^smtp\.port +0 *$/m);
  expect(changed.stdout).not.toContain('default');
  expect(await show('nowhere')).toMatchObject({
    code: 1,
    stderr: 'no value has a path that begins with nowhere\n',
  });
  const [help, option] = [
    await sluiceHere(['help', 'queue', 'list']),
    await sluiceHere(['queue', 'list', '--help']),
  ];
  expect(help).toEqual(option);
  expect(help.stdout).toContain('--before <id>');
});
