import { EventEmitter, once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { runCli } from '../../src/cli/run.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { DnsServer } from '../support/dns-server.ts';
import { ends } from '../support/ends.ts';
import { ACME, gatewayConfig, PUBLIC_URL } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';
import { serveTwilioNumbers, type TwilioNumbers } from '../support/twilio-numbers.ts';
import {
  AUTH_TOKEN,
  OUR_NUMBER,
  startTwilioStandIn,
  type TwilioStandIn,
} from '../support/twilio-stand-in.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });
const WANTED = `${PUBLIC_URL}/sms/twilio#rc=5&rp=all`;

let dir: string;
let standIn: TwilioStandIn;
let account: TwilioNumbers;
beforeEach(async () => {
  const made = tempDir();
  ends(made.remove);
  dir = made.path;
  standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  account = serveTwilioNumbers(standIn);
});

/** The gateway's public port and its platform, as far as these checks see them. */
async function serveOutside(key: string): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/sms/twilio') {
      response.writeHead(405, { allow: 'POST' }).end();
    } else {
      const accepted = request.headers.authorization === `Bearer ${key}`;
      response
        .writeHead(accepted ? 200 : 401, { 'content-type': 'application/json' })
        .end('{"results": []}');
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A listening TCP server has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function configFile(changes: object = {}, platformUrl?: string): string {
  const file = join(dir, 'sluice.json');
  const config = gatewayConfig({
    dataDir: join(dir, 'data'),
    twilioUrl: standIn.baseUrl,
    ...(platformUrl !== undefined && { platformUrl }),
  });
  writeFileSync(file, JSON.stringify({ ...config, ...changes }));
  return file;
}

async function doctor(...args: string[]) {
  const terminal = captureTerminal({ SLUICE_DATA_DIR: join(dir, 'data') });
  const code = await runCli(['doctor', ...args], terminal, events);
  const stdout = terminal.stdout();
  for (const secret of [AUTH_TOKEN, ACME.apiKey]) expect(stdout).not.toContain(secret);
  return { code, stdout, stderr: terminal.stderr() };
}

const twilioAlone = (...args: string[]) =>
  doctor('--config', configFile(), '--only', 'twilio', ...args);

/** The result lines, without their details. */
const heads = (stdout: string): string[] =>
  stdout.split('\n').filter((line) => /^(ok|warning|failed|skipped) /.test(line));

test('every check has its line; warnings alone end in 0', async () => {
  const outside = await serveOutside(ACME.apiKey);
  const dns = await DnsServer.start({ 'acme.example MX': ['10 mx.acme.example'] });
  ends(() => dns.stop());
  const url = `${outside}/sms/twilio#rc=5&rp=all`;
  account.addNumber(OUR_NUMBER, { sms_url: url, sms_fallback_url: url });
  const file = configFile(
    {
      http: { host: '127.0.0.1', port: 0, publicUrl: outside },
      dns: { servers: [dns.address] },
    },
    outside,
  );
  const { code, stdout, stderr } = await doctor('--config', file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(heads(stdout).map((line) => line.split(/ +/).slice(0, 2))).toEqual([
    ['warning', 'public-url'],
    ['ok', 'twilio.credentials'],
    ['ok', 'twilio.number'],
    ['ok', 'twilio.webhook'],
    ['ok', 'twilio.fallback'],
    ['ok', 'reach'],
    ['ok', 'platform'],
    ['ok', 'clock'],
    ['ok', 'disk'],
    ['ok', 'mx'],
    ['skipped', 'certificate'],
    ['skipped', 'data-folder'],
    ['warning', 'alerts'],
  ]);
  expect(stdout).toContain('9 ok, 2 warning, 0 failed, 2 skipped\n');
  expect(stdout).toContain(
    `Webhook URL to set at Twilio for every number, with method POST: ${url}\n`,
  );
});

describe('a webhook that is not set', () => {
  beforeEach(() => void account.addNumber(OUR_NUMBER, { sms_url: 'https://old.example/in' }));

  test('fails, with what was expected, what was found and what to do', async () => {
    const { code, stdout, stderr } = await twilioAlone();
    expect(code).toBe(1);
    expect(stderr).toBe('2 of 4 checks failed\n');
    expect(stdout).toContain(
      `failed   twilio.webhook      acme ${OUR_NUMBER}: POST https://old.example/in ` +
        `(another host, another path, without #rc=5&rp=all)\n` +
        `         expected: POST ${WANTED}\n` +
        `         to do: set it in Twilio's console, or run sluice doctor --fix\n`,
    );
    expect(account.updates).toEqual([]);
  });

  test('--fix sets it and says what it was; the next run is all ok', async () => {
    const fixed = await twilioAlone('--fix');
    expect(fixed).toMatchObject({ code: 0, stderr: '' });
    expect(fixed.stdout).toContain(
      `         changed SmsUrl: https://old.example/in -> ${WANTED}\n`,
    );
    expect(fixed.stdout).toContain(`         changed SmsFallbackUrl: (nothing) -> ${WANTED}\n`);
    const again = await twilioAlone();
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('4 ok, 0 warning, 0 failed, 0 skipped\n');
    expect(again.stdout).not.toContain('changed');
    expect(account.updates).toHaveLength(1);
  });

  test('--json is one object, and the exit code stays', async () => {
    const { code, stdout } = await twilioAlone('--json');
    expect(code).toBe(1);
    const report: unknown = JSON.parse(stdout);
    expect(report).toMatchObject({ ok: false, webhookUrl: WANTED });
    expect(report).toHaveProperty('checks.2', {
      check: 'twilio.webhook',
      subject: `acme ${OUR_NUMBER}`,
      shops: ['acme'],
      status: 'failed',
      expected: `POST ${WANTED}`,
      found: expect.stringContaining('old.example'),
      todo: expect.stringContaining('--fix'),
      copy: WANTED,
    });
  });
});

test('--only looks at nothing else', async () => {
  const { code, stdout } = await doctor('--config', configFile(), '--only', 'disk', 'certificate');
  expect(code).toBe(0);
  expect(heads(stdout)).toHaveLength(2);
  expect(standIn.requests).toEqual([]);
});

test('says so when nothing was checked', async () => {
  const { code, stdout } = await doctor('--config', configFile(), '--only', 'data-folder');
  expect(code).toBe(0);
  expect(stdout).toContain('Nothing was checked: ');
  expect(stdout).not.toContain('0 ok');
});

test('before the first start, without a configuration, nothing fails and nothing is made', async () => {
  const { code, stdout } = await doctor();
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^skipped {2}twilio .*not configured for any shop \(except the fictitious one of the demo shop\)$/m,
  );
  expect(readdirSync(dir)).toEqual([]);
});

test('mistakes end in 2', async () => {
  const unknown = await doctor('--only', 'twillio');
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/Allowed choices/) });
  const wrong = await doctor('--config', configFile({ spool: { url: 'postgres://db' } }));
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
});
