import { expect, test } from '@jest/globals';
import type { DeskQueue, DeskTicketView } from '../../../src/console/contract.ts';
import { consoleScene } from '../../console/server/console-scene.ts';
import { scene } from '../../e2e/scene.ts';
import { ACME_SHOP } from '../../support/gateway-config.ts';
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

test('a ticket that waits too long for a person is told, and its answer ends it', async () => {
  const hook = await startWebhook();
  const { gateway, operator } = await consoleScene({
    shops: [{ ...ACME_SHOP, desk: { answerWithin: '1s' } }],
    alerts: { ...QUICK, webhook: { url: hook.url } },
  });
  const { status } = await sendSms(gateway.httpUrl, {
    ...{ MessageSid: sidOf('unanswered'), Body: 'I want to talk to a human.' },
  });
  expect(status).toBe(200);
  await waitFor('the alert', () => hook.taken.length > 0, 50);
  expect(hook.taken[0]).toMatchObject({
    text: '[Sluice gw.acme.example] 1 alert: unanswered acme',
  });
  const { tickets } = (await operator.get('/api/platform/desk/queue')).body as DeskQueue;
  const path = `/api/platform/desk/acme/tickets/${tickets[0]?.id}`;
  const { version } = (await operator.get(path)).body as DeskTicketView;
  await operator.post(`${path}/reply`, { version, text: 'Here I am.' });
  await waitFor('the end', () => hook.taken.length > 1, 50);
  expect(hook.taken[1]).toMatchObject({
    text: '[Sluice gw.acme.example] 1 alert resolved: unanswered acme',
  });
  expect(JSON.stringify(hook.taken)).not.toMatch(/human|\+1415/);
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
