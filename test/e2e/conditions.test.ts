import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { ends } from '../support/ends.ts';
import { ACME_SHOP, type ConfigChoices, shopNamed } from '../support/gateway-config.ts';
import { startGateway, writeConfig } from '../support/running-gateway.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectSameWords, overviewOf, platformThat, timeless } from './conditions-scene.ts';

const DAY = 86_400_000;
const NORTH = shopNamed('north', 1);

/** Files of a certificate that has expired. */
async function expiredPair(dir: string) {
  const { cert, private: key } = await generate(
    [{ name: 'commonName', value: 'mx.acme.example' }],
    {
      notBeforeDate: new Date(Date.now() - 90 * DAY),
      notAfterDate: new Date(Date.now() - DAY),
    },
  );
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return files;
}

test('what is wrong is said in the same words by the overview, alerts, status, shops and doctor', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const choices: ConfigChoices = {
    dataDir: dir.path,
    smtp: { tls: await expiredPair(dir.path) },
    shops: [
      {
        ...ACME_SHOP,
        platformUrl: await platformThat(() => ({ status: 401, body: { detail: 'Dear Ann' } })),
      },
      {
        ...NORTH,
        platformUrl: await platformThat(({ method }) =>
          method === 'POST' ? { status: 422, body: { error: 'no' } } : undefined,
        ),
      },
    ],
    alerts: {
      every: '1s',
      for: '1ms',
      rules: { diskBelow: 9e14, breakerOpen: '1s', oldestQueued: '1s' },
    },
  };
  const gateway = await startGateway(choices);
  ends(() => gateway.stop());
  const file = writeConfig(choices);
  const overview = () => overviewOf(gateway);
  const text = (name: string, more: object) =>
    sendSms(gateway.httpUrl, { MessageSid: sidOf(name), Body: 'Hello', ...more });
  for (const n of [1, 2, 3]) await text(`acme ${n}`, { From: `+1202555${1000 + n}` });
  await text('refused', { From: '+12025550100', To: NORTH.number });
  await text('a short code', { From: '12345', To: NORTH.number });

  // That messages of acme wait is no news beside its stop.
  const wrong = ['breaker-open/acme/messages', 'certificate', 'dead/north', 'disk', 'held/north'];
  const all = await waitFor('all that is wrong, and its alerts', async () => {
    const seen = await overview();
    return seen.conditions.length === wrong.length && seen.alerts.length === wrong.length && seen;
  });
  const { conditions, alerts } = all;
  expect(conditions.map(({ id }) => id).toSorted()).toEqual(wrong);
  await expectSameWords(gateway, file);
  expect(JSON.stringify(alerts)).not.toContain('Ann');

  const printed = await sluiceHere(['status', '--config', file]);
  // Its messages are refused one by one: its platform takes the others.
  expect(printed.stdout).toMatch(/^north +messages flow$/m);
  expect(printed.stdout).not.toMatch(/^acme +messages flow$/m);
  const sentenceOf = (id: string) => conditions.find((each) => each.id === id)?.sentence ?? 'none';
  const doctor = await sluiceHere(['doctor', '--only', 'disk', '--config', file]);
  expect(timeless(doctor.stdout)).toContain(timeless(sentenceOf('disk')));
  // Nothing of it keeps this gateway from taking messages.
  expect(conditions.filter(({ stopsIntake }) => stopsIntake)).toEqual([]);
  expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(200);

  writeConfig({ ...choices, paused: true });
  await gateway.reload();
  const paused = await waitFor('the pause', async () =>
    (await overview()).conditions.find(({ kind }) => kind === 'paused'),
  );
  const { stdout } = await sluiceHere(['status', '--config', file]);
  expect(stdout).toMatch(new RegExp(`^gateway +${paused.sentence}\\. ${paused.remedy}$`, 'm'));
});
