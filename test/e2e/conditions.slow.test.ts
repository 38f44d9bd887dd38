import { spawnSync } from 'node:child_process';
import { statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import {
  ACME_SHOP,
  type ConfigChoices,
  type ShopChoices,
  shopNamed,
} from '../support/gateway-config.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { startGateway, writeConfig } from '../support/running-gateway.ts';
import { startS3 } from '../support/s3-server.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectSameWords, overviewOf, platformThat } from './conditions-scene.ts';

const disk = tempDir();
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=700', 'tmpfs', disk.path]).status === 0;
if (!mounted) console.error('!! SKIPPED: a full disk: this user may not mount one');
afterAll(() => {
  if (mounted) spawnSync('umount', [disk.path]);
  disk.remove();
});

const QUICK = { every: '1s', for: '1ms' };

(mounted ? test : test.skip)(
  'what is wrong with platforms, tickets and the disk is said in the same words',
  async () => {
    const [alike, busy, shut, gone] = ['alike', 'busy', 'shut', 'gone'].map(shopNamed);
    if (!alike || !busy || !shut || !gone) throw new Error('four shops');
    const filesAre = (status: number) =>
      platformThat(({ path }) => (path.startsWith('/media/') ? { status } : undefined));
    const choices: ConfigChoices = {
      dataDir: disk.path,
      maxMessageBytes: 10_000_000,
      localAgent: { answersPerHour: 1 },
      shops: [
        { ...ACME_SHOP, desk: { answerWithin: '1s' } },
        {
          ...alike,
          platformUrl: await platformThat(({ method }) =>
            method === 'POST' ? { status: 422, body: { error: 'no such inbox' } } : undefined,
          ),
        },
        { ...busy, platformUrl: await filesAre(503) },
        { ...shut, platformUrl: await filesAre(401) },
        { ...gone, platformUrl: await platformThat(() => ({ status: 503 })) },
      ],
      alerts: { ...QUICK, rules: { refusedAlike: 5, breakerOpen: '1s', diskBelow: 1 } },
    };
    const gateway = await startGateway(choices);
    ends(() => gateway.stop());
    const text = (To: string, n: number) =>
      sendSms(gateway.httpUrl, {
        ...{ MessageSid: sidOf(`${To} ${n}`), From: `+1202555${1000 + n}`, To, Body: 'Hello' },
      });
    const email = async ({ inbox, inboundToken }: ShopChoices, n: number) => {
      const raw = [
        ...[`From: ann${n}@example.com`, `To: ${inbox}`, 'Subject: Lamp'],
        ...[`Message-ID: <${n}@example.com>`, 'MIME-Version: 1.0'],
        ...['Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'Hello', '--b'],
        ...['Content-Type: image/png', 'Content-Disposition: attachment; filename=lamp.png'],
        ...['Content-Transfer-Encoding: base64', '', 'iVBORw0KGgoAAAANSUhEUg==', '--b--', ''],
      ].join('\r\n');
      const query = `from=ann${n}@example.com&to=${inbox}`;
      const answer = await fetch(`${gateway.httpUrl}/email/inbound?${query}`, {
        ...{ method: 'POST', body: raw },
        headers: {
          ...{ authorization: `Bearer ${inboundToken}`, 'content-type': 'message/rfc822' },
        },
      });
      expect(answer.ok).toBe(true);
    };
    for (const n of [1, 2, 3, 4, 5, 6]) await text(alike.number, n);
    for (let n = 0; n < 4; n += 1) await email(busy, n);
    for (let n = 0; n < 12; n += 1) await email(shut, n);
    await text(gone.number, 1);
    for (let visitors = 0; visitors < 2; visitors += 1) {
      const visitor = await ChatClient.connect({
        ...{ url: gateway.httpUrl, auth: { key: ACME_SHOP.chatKey } },
      });
      ends(() => visitor.close());
      await visitor.send('I want to talk to a human.');
    }

    const shops = (choices.shops ?? []).filter(({ name }) => name !== 'gone');
    const file = writeConfig({
      ...{ ...choices, shops },
      alerts: { ...QUICK, rules: { ...Object(choices.alerts?.['rules']), oldestQueued: '2s' } },
    });
    await gateway.reload();
    const wanted = [
      ...['answers acme', 'unanswered acme', 'refused-alike alike', 'breaker-open shut'],
      ...['some-fail busy', `oldest-queued ${gone.shopId}`],
    ];
    await waitFor(
      'all that is wrong',
      async () => {
        const { conditions } = await overviewOf(gateway);
        const ids = conditions.map(({ kind, shop }) => `${kind} ${shop}`);
        return wanted.every((each) => ids.includes(each));
      },
      500,
    );
    await expectSameWords(gateway, file);
    expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(200);

    const { bavail, bsize } = await statfs(disk.path);
    await writeFile(join(disk.path, 'rest'), Buffer.alloc(bavail * bsize - 5_000_000));
    const full = await waitFor('the full disk', async () => {
      const seen = await overviewOf(gateway);
      return seen.conditions.some(({ kind }) => kind === 'disk') && seen;
    });
    await expectSameWords(gateway, file);
    expect(full.conditions.filter(({ stopsIntake }) => stopsIntake)).toMatchObject([
      { id: 'disk', severity: 'critical' },
    ]);
    await waitFor(
      'readiness to say so',
      async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 503,
    );
    const doctor = await sluiceHere(['doctor', '--only', 'disk', '--config', file]);
    expect(doctor.stdout).toContain('The disk of the data folder is full');
    expect((await sluiceHere(['status', '--config', file])).stdout).not.toContain('flow');
  },
);

test('what is wrong with the database and the bucket is said in the same words', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const cluster = await startCluster({ settings: ['fsync = off'] });
  ends(() => cluster.stop());
  const s3 = await startS3();
  const choices: ConfigChoices = {
    dataDir: dir.path,
    spoolUrl: await cluster.createDatabase(),
    spoolBlobs: s3.blobsUrl(),
    alerts: QUICK,
  };
  const gateway = await startGateway(choices);
  ends(() => gateway.stop());
  const file = writeConfig(choices);
  await s3.stop();
  await waitFor('what is wrong', async () => {
    const all = await overviewOf(gateway);
    const ids = all.conditions.map(({ id }) => id);
    return ids.includes('blobs') && ids.includes('database.durability');
  });
  await expectSameWords(gateway, file);
  const doctor = await sluiceHere(['doctor', '--only', 'database', '--config', file]);
  expect(doctor.stdout).toContain('fsync off: acknowledged messages can be lost in a crash');

  await cluster.stop();
  await waitFor(
    'readiness to say so',
    async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 503,
  );
  const status = await sluiceHere(['status', '--config', file]);
  expect(status).toMatchObject({ code: 1, stderr: expect.stringMatching(/database/i) });
});
