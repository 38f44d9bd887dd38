import { expect, test } from '@jest/globals';
import { scene } from '../../e2e/scene.ts';
import { sendEmail } from '../../support/gateway-setting.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { ends } from '../../support/ends.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startWebhook } from './webhook-stand-in.ts';

const QUICK = { every: '100ms', for: '1ms', settle: '1ms', group: '1ms' };

test('a platform that goes is told by a webhook, and its return too', async () => {
  const hook = await startWebhook();
  const { platform, gateway } = await scene({
    alerts: {
      ...QUICK,
      webhook: { url: hook.url },
      rules: { breakerOpen: '1ms', oldestQueued: '1h', held: 1000, dead: 1000 },
    },
  });
  const client = await SmtpClient.connect(gateway.smtpPort);
  ends(() => client.destroy());
  await client.reply();
  expect(await sendEmail(client, 'first', 'canary-text')).toMatch(/^250/);
  await waitFor('a delivery and a read', () =>
    ['POST /messages/', 'GET /contacts/'].every((each) =>
      platform.calls.some(
        ({ call, status }) => call === each && status !== undefined && status < 300,
      ),
    ),
  );
  // It refuses the shop, reads included: no wait for ten failures.
  platform.faults = () => ({ kind: 'status', status: 401 });
  expect(await sendEmail(client, 'second', 'canary-text')).toMatch(/^250/);
  await waitFor('the alert', () => hook.taken.length > 0, 20);
  expect(hook.taken[0]).toMatchObject({
    text: '[Sluice gw.acme.example] 1 alert: breaker-open acme',
    attachments: [{ title: 'Alert', color: '#c62828' }],
  });

  platform.faults = () => undefined;
  // A probe comes within half a minute.
  await waitFor('the end', () => hook.taken.length > 1, 50);
  expect(hook.taken[1]).toMatchObject({
    text: '[Sluice gw.acme.example] 1 alert resolved: breaker-open acme',
    attachments: [{ title: 'Resolved', color: '#2e7d32' }],
  });
  expect(platform.messages).toHaveLength(2);
  expect(JSON.stringify(hook.taken)).not.toMatch(/canary|example\.com|ann/i);
});

test('a flood of texts is held, and tells whoever is on call', async () => {
  const hook = await startWebhook();
  const { platform, gateway } = await scene({
    sms: { loop: { per10min: 30, perHour: 60, perDay: 150, sameBodyPerHour: 5 } },
    alerts: { ...QUICK, webhook: { url: hook.url } },
  });
  const Body = 'canary-text that somebody sends again and again';
  for (let n = 0; n < 6; n += 1) {
    const answer = await sendSms(gateway.httpUrl, { MessageSid: sidOf(`flood ${n}`), Body });
    expect(answer.status).toBe(200);
  }
  await waitFor('the alert', () => hook.taken.length > 0, 20);
  expect(hook.taken[0]).toMatchObject({ text: '[Sluice gw.acme.example] 1 alert: held acme' });
  await waitFor('those that pass', () => platform.messages.length === 4);
  expect(JSON.stringify(hook.taken)).not.toContain('canary');
});
