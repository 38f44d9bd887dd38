import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runCli } from '../../../src/cli/run.ts';
import { captureTerminal } from '../../support/capture-terminal.ts';
import { ends } from '../../support/ends.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { startWebhook, TOKEN } from './webhook-stand-in.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });

async function alertsTest(alerts: Readonly<Record<string, unknown>>, more = {}, ...args: string[]) {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'sluice.json');
  writeFileSync(file, JSON.stringify({ dataDir: join(dir.path, 'data'), alerts, ...more }));
  const terminal = captureTerminal();
  const code = await runCli(['alerts', 'test', '--config', file, ...args], terminal, events);
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() };
}

test('sends to each target and tells what came', async () => {
  const hook = await startWebhook();
  const relay = await startMailRelay();
  ends(() => relay.close());
  const email = {
    ...{ to: ['oncall@ops.example'], from: 'sluice@acme.example' },
    relay: `smtp://127.0.0.1:${relay.port}`,
  };
  const { code, stdout } = await alertsTest({ webhook: { url: hook.url }, email });
  expect({ code, lines: stdout.replace(/\d+ ms/g, 'n ms') }).toEqual({
    code: 0,
    lines:
      'ok      webhook: accepted the test alert in n ms\nok      email: accepted the test alert in n ms\n',
  });
  expect(hook.taken[0]?.text).toMatch(/Test alert$/);
  expect(relay.taken[0]?.mail.subject).toMatch(/Test alert$/);
});

test('a target that refuses is named with its cure, without its token, and the exit code is 1', async () => {
  const hook = await startWebhook();
  hook.answerNext(403);
  const { code, stdout, stderr } = await alertsTest({ webhook: { url: hook.url } });
  expect(code).toBe(1);
  expect(stdout).toBe('failed  webhook: refused it (403): check its URL, token or password\n');
  expect(stdout + stderr).not.toContain(TOKEN);
});

test('a target that is busy is told at once: who asks waits at a terminal', async () => {
  const hook = await startWebhook();
  hook.answerNext(429);
  const { code, stdout } = await alertsTest({ webhook: { url: hook.url } });
  expect([code, stdout]).toEqual([1, 'failed  webhook: cannot accept it now (429)\n']);
});

test('for programs, an array of the results', async () => {
  const hook = await startWebhook();
  hook.answerNext(429);
  const { code, stdout } = await alertsTest({ webhook: { url: hook.url } }, {}, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual([
    { target: 'webhook', ok: false, result: 'cannot accept it now (429)' },
  ]);
});

test('without a target it says which keys to set', async () => {
  const { code, stderr } = await alertsTest({});
  expect(code).toBe(1);
  expect(stderr).toContain('alerts.webhook.url');
});

const acme = {
  ...{ name: 'acme', shopId: '3c1f8a1e-52b7-4a0e-9f52-6b7d1f0a9c01', apiKey: 'k' },
  email: { addresses: ['support@acme.example', '*@help.acme.example'] },
};

test.each([['Support+x@ACME.example'], ['anyone@help.acme.example']])(
  'alerts to %s, which a shop takes, are a mistake of the configuration',
  async (address) => {
    const email = {
      ...{ to: [address], from: 'sluice@ops.example' },
      relay: 'smtp://127.0.0.1:2',
    };
    const { code, stderr } = await alertsTest({ email }, { shops: [acme] });
    expect(code).toBe(2);
    expect(stderr).toContain('alerts.email.to[0]');
    expect(stderr).toContain('does not belong to a shop');
  },
);

test('addresses without a sender and a relay are two mistakes, a webhook that is none never shown', async () => {
  const { code, stderr } = await alertsTest({
    webhook: { url: `ftp://hooks.example/${TOKEN}` },
    email: { to: ['oncall@ops.example'] },
  });
  expect(code).toBe(2);
  for (const path of ['alerts.email.from', 'alerts.email.relay', 'alerts.webhook.url']) {
    expect(stderr).toContain(path);
  }
  expect(stderr).not.toContain(TOKEN);
});
