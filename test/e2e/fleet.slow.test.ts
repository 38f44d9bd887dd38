import { copyFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Overview } from '../../src/console/contract.ts';
import { consoleClient } from '../console/server/console-client.ts';
import { EventStream } from '../console/server/event-stream.ts';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { CHAT_KEY } from '../support/gateway-config.ts';
import { gatewaySetting, type GatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { startFleetNginx, whyNoNginx } from '../support/nginx-proxy.ts';
import { type Cluster, startCluster, withClient } from '../support/postgres-cluster.ts';
import { sluice } from '../support/sluice-command.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitFor } from '../support/wait-for.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const withoutNginx = whyNoNginx();
if (withoutNginx !== undefined) {
  process.stderr.write(`\n!! SKIPPED: two gateways behind a real nginx, since ${withoutNginx}\n`);
}
const testWithNginx = withoutNginx === undefined ? test : test.skip;

interface Fleet {
  readonly one: GatewaySetting;
  readonly other: GatewaySetting;
  readonly env: { readonly SLUICE_SPOOL_URL: string };
}

/** Two gateways, not started yet, with one database and one platform. */
async function fleet(): Promise<Fleet> {
  const env = { SLUICE_SPOOL_URL: await cluster.createDatabase() };
  const one = await gatewaySetting();
  const other = await gatewaySetting({ platformUrl: one.platform.url });
  return { one, other, env };
}
/** As if the time of all leases were over. */
const endLeases = (url: string) =>
  withClient(url, (client) => client.query('UPDATE lane SET due_at = 0 WHERE owned'));
const shareKeys = ({ one, other }: Fleet): void =>
  copyFileSync(join(one.dataDir, 'keys.json'), join(other.dataDir, 'keys.json'));

async function overviewOf({ host, ports }: GatewaySetting): Promise<Overview> {
  const response = await fetch(`http://${host}:${ports.admin}/api/overview`, {
    headers: { authorization: 'Bearer of-the-console' },
  });
  // The console's own type of its answer.
  return (await response.json()) as Overview;
}

describe('two gateways with one database', () => {
  test('deliver what either accepts, once and in order, also when one is killed', async () => {
    const both = await fleet();
    const { one, other, env } = both;
    const { platform } = one;
    const first = await one.start({ env });
    shareKeys(both);
    await other.start({ env });
    const visitor = await one.chat();
    platform.faults = () => ({ kind: 'status', status: 503 });
    const [smtp, smtpOfOther] = [await one.greeted(), await other.greeted()];
    for (const n of [1, 2, 3]) {
      const at = n === 2 ? other : one;
      expect(await sendEmail(n === 2 ? smtpOfOther : smtp, `mail-${n}`, `mail ${n}`)).toMatch(
        /^250/,
      );
      const text = { MessageSid: sidOf(`text ${n}`), Body: `text ${n}` };
      expect((await sendSms(at.httpUrl, text)).status).toBe(200);
      expect(await visitor.send(`chat ${n}`)).toMatchObject({ ok: true });
    }
    const large = `large\r\n${'x'.repeat(900)}\r\n`.repeat(400);
    expect(await sendEmail(smtp, 'large', large)).toMatch(/^250/);
    await first.kill();
    await endLeases(env.SLUICE_SPOOL_URL);
    // The same again, at the other one.
    expect(await sendEmail(smtpOfOther, 'mail-1', 'mail 1')).toMatch(/^250/);
    const again = { MessageSid: sidOf('text 3'), Body: 'text 3' };
    expect((await sendSms(other.httpUrl, again)).status).toBe(200);
    platform.faults = () => undefined;

    await waitFor('everything', () => platform.messages.length >= 10, 20);
    const contents = platform.messages.map(({ content }) => content.split('\n', 1)[0] ?? '');
    expect(contents).toHaveLength(10);
    for (const kind of ['mail', 'text', 'chat']) {
      expect(contents.filter((content) => content.startsWith(kind))).toEqual(
        [1, 2, 3].map((n) => `${kind} ${n}`),
      );
    }
    const tab = await ChatClient.connect({
      url: other.httpUrl,
      auth: { key: CHAT_KEY, token: visitor.session.token },
    });
    ends(() => tab.close());
    await waitFor('the record', () => tab.messages.length === 3);
    expect(tab.texts).toEqual(['chat 1', 'chat 2', 'chat 3']);
  });

  test('have their commands beside them, which name what is not theirs', async () => {
    const { one, env } = await fleet();
    await one.start({ env });
    expect(await sendEmail(await one.greeted(), 'first')).toMatch(/^250/);
    const run = (...args: string[]) =>
      sluice([...args, '--config', join(one.dataDir, 'gateway.json')], env);
    await waitFor('the delivery', () => one.platform.messages.length === 1);
    const list = await run('queue', 'list', '--state', 'delivered', '--json');
    expect(list).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"state": "delivered"'),
    });
    const backup = await run('backup', join(one.dataDir, 'copy'));
    expect(backup).toMatchObject({ code: 1, stderr: expect.stringMatching(/pgBackRest/) });
    const erase = await run('erase', '--address', 'ann@example.com', '--yes', '--json');
    expect(await run('queue', 'list', '--state', 'delivered', '--json')).toMatchObject({
      stdout: expect.not.stringContaining('"state"'),
    });
    expect(erase).toMatchObject({ code: 0, stdout: expect.stringContaining('"vacuumed"') });
    const doctor = await run('doctor', '--only', 'database');
    expect(doctor.stdout).toMatch(/PostgreSQL \d+.*\n[^]*synchronous_standby_names is empty/);
    expect(list.stdout + list.stderr + backup.stderr + doctor.stdout).not.toContain('postgres://');
  });

  test('list each other on the console, and one that stops is no longer there', async () => {
    const both = await fleet();
    const { one, other, env } = both;
    await one.start({ env });
    shareKeys(both);
    const second = await other.start({ env });
    const listed = async () => (await overviewOf(one)).instances ?? [];
    await waitFor('both', async () => (await listed()).length === 2, 250);
    expect(await listed()).toMatchObject([
      { host: hostname(), version: expect.any(String), seenAgoMs: expect.any(Number) },
      { host: hostname(), sockets: { chat: 0, smtp: 0 } },
    ]);
    expect((await listed()).map(({ isOwn }) => isOwn).toSorted()).toEqual([false, true]);
    await second.terminate();
    await waitFor('one', async () => (await listed()).length === 1, 250);
  });

  testWithNginx('behind nginx refuse no webhook while one of them is killed', async () => {
    const both = await fleet();
    const { one, other, env } = both;
    const first = await one.start({ env });
    shareKeys(both);
    await other.start({ env });
    const nginx = await startFleetNginx(
      [one, other].map(({ host, ports }) => `${host}:${ports.http}`),
    );
    ends(() => nginx.stop());
    const answers: number[] = [];
    for (let n = 0; n < 30; n += 1) {
      if (n === 10) await first.kill();
      const sent = { MessageSid: sidOf(`text ${n}`), Body: `text ${n}` };
      answers.push((await sendSms(nginx.url, sent)).status);
    }
    expect(answers).toEqual(Array(30).fill(200));
    await endLeases(env.SLUICE_SPOOL_URL);
    await waitFor('all of them', () => one.platform.messages.length >= 30, 20);
    expect(new Set(one.platform.messages.map(({ content }) => content)).size).toBe(30);
  });

  test('accept the same tokens of the admin API, until one is revoked at either', async () => {
    const both = await fleet();
    const { one, other, env } = both;
    await one.start({ env });
    shareKeys(both);
    await other.start({ env });
    const run = (...args: string[]) =>
      sluice(['token', ...args, '--config', join(one.dataDir, 'gateway.json')], env);
    const made = await run('create', 'ci');
    const authorization = `Bearer ${made.stdout.trim()}`;
    const urlOf = ({ host, ports }: GatewaySetting) => `http://${host}:${ports.admin}`;
    const statuses = () =>
      Promise.all(
        [one, other].map(async (gateway) => {
          const response = await fetch(`${urlOf(gateway)}/api/overview`, {
            headers: { authorization },
          });
          await response.body?.cancel();
          return response.status;
        }),
      );
    expect(await statuses()).toEqual([200, 200]);
    const streams = [one, other].map(
      (gateway) => new EventStream(consoleClient(urlOf(gateway)), { authorization }),
    );
    await waitFor('both streams', () => streams.every(({ events }) => events.length > 0), 50);
    expect(await run('revoke', 'ci')).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual([401, 401]);
    await waitFor('their ends', () => streams.every(({ ended }) => ended), 50);
  });

  test('need a key in common', async () => {
    const { one, other, env } = await fleet();
    await one.start({ env });
    await expect(other.start({ env })).rejects.toThrow(/other keys.*Copy keys\.json/);
  });
});
