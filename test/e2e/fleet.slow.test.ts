import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Overview } from '../../src/console/contract.ts';
import { consoleClient } from '../console/server/console-client.ts';
import { EventStream } from '../console/server/event-stream.ts';
import { ends } from '../support/ends.ts';
import { type GatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { startFleetNginx, whyNoNginx } from '../support/nginx-proxy.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { sluice } from '../support/sluice-command.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitFor } from '../support/wait-for.ts';
import { endLeases, type Fleet, fleetOfTwo, shareKeys } from './fleet-of-two.ts';

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

async function overviewOf({ host, ports }: GatewaySetting): Promise<Overview> {
  const response = await fetch(`http://${host}:${ports.admin}/api/overview`, {
    headers: { authorization: 'Bearer of-the-console' },
  });
  // The console's own type of its answer.
  return (await response.json()) as Overview;
}

describe('two gateways with one database', () => {
  test('have their commands beside them, which name what is not theirs', async () => {
    const { one, env } = await fleetOfTwo(cluster);
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

  test('need a key in common, are listed on the console, and accept the same tokens', async () => {
    const both = await fleetOfTwo(cluster);
    const { one, other, env } = both;
    await one.start({ env });
    await expect(other.start({ env })).rejects.toThrow(/other keys.*Copy keys\.json/);
    shareKeys(both);
    const second = await other.start({ env });
    const listed = async () => (await overviewOf(one)).instances ?? [];
    await waitFor('both', async () => (await listed()).length === 2, 250);
    expect(await listed()).toMatchObject([
      { host: hostname(), version: expect.any(String), seenAgoMs: expect.any(Number) },
      { host: hostname(), sockets: { chat: 0, smtp: 0 } },
    ]);
    expect((await listed()).map(({ isOwn }) => isOwn).toSorted()).toEqual([false, true]);
    await acceptSameTokens(both);
    await second.terminate();
    await waitFor('one', async () => (await listed()).length === 1, 250);
  });

  testWithNginx('behind nginx refuse no webhook while one of them is killed', async () => {
    const both = await fleetOfTwo(cluster);
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
});

/** A token that is made at one of them; when it is revoked, both end its streams. */
async function acceptSameTokens({ one, other, env }: Fleet): Promise<void> {
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
}
