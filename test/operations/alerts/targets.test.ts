import { expect, test } from '@jest/globals';
import type { Alert } from '../../../src/operations/alerts/alert.ts';
import { createEmailTarget } from '../../../src/operations/alerts/email-target.ts';
import type { Notice } from '../../../src/operations/alerts/notice.ts';
import { sendNotice, type Target } from '../../../src/operations/alerts/target.ts';
import { createWebhookTarget } from '../../../src/operations/alerts/webhook-target.ts';
import { ends } from '../../support/ends.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { HOUR, NOW } from './some-status.ts';
import { startWebhook } from './webhook-stand-in.ts';

const dead: Alert = {
  ...{ rule: 'dead', severity: 'critical', shop: 'a<b>&c', since: NOW - HOUR },
  ...{ summary: '3 messages of a<b>&c could not be delivered', todo: 'Retry them.' },
};
const held: Alert = {
  ...{ rule: 'held', severity: 'warning', shop: 'acme', since: NOW - HOUR },
  ...{ summary: '1 message of acme waits', todo: 'Release it.' },
};
const notice: Notice = {
  ...{ source: 'gw.acme.example', at: NOW, isTest: false },
  ...{ fired: [dead], worse: [], resolved: [held], still: [] },
};
const FAST = { times: 2, firstAfterMs: 1 };

const send = (target: Target, what: Notice = notice): Promise<void> =>
  sendNotice(target, what, new AbortController().signal, FAST);

test('the webhook gets text and an attachment for each kind, escaped as Slack wants it', async () => {
  const hook = await startWebhook();
  await send(createWebhookTarget({ url: hook.url, timeoutMs: 10_000 }));
  expect(hook.taken).toEqual([
    {
      text: '[Sluice gw.acme.example] 1 alert: dead a&lt;b&gt;&amp;c; 1 alert resolved: held acme',
      attachments: [
        expect.objectContaining({
          title: 'Alert',
          color: '#c62828',
          text: '*3 messages of a&lt;b&gt;&amp;c could not be delivered* (critical, for 1 hour)\nRetry them.',
        }),
        expect.objectContaining({
          title: 'Resolved',
          color: '#2e7d32',
          text: '*1 message of acme waits* (held, after 1 hour)',
        }),
      ],
    },
  ]);
});

test('what may pass is tried again; what is refused is not', async () => {
  const hook = await startWebhook();
  const target = createWebhookTarget({ url: hook.url, timeoutMs: 10_000 });
  hook.answerNext(500, 503);
  await send(target);
  expect({ requests: hook.requests, taken: hook.taken.length }).toEqual({ requests: 3, taken: 1 });
  hook.answerNext(404);
  await expect(send(target)).rejects.toMatchObject({ kind: 'refused', code: '404' });
  hook.answerNext(302);
  await expect(send(target)).rejects.toMatchObject({ kind: 'refused', code: '302' });
  expect(hook.requests).toBe(5);
});

test('after the last try nobody waits for the time that the webhook names', async () => {
  const hook = await startWebhook();
  hook.answerNext(429);
  const target = createWebhookTarget({ url: hook.url, timeoutMs: 10_000 });
  const once = { times: 0, firstAfterMs: 1 };
  await expect(sendNotice(target, notice, AbortSignal.timeout(50_000), once)).rejects.toMatchObject(
    { kind: 'busy', code: '429', retryAfterMs: 60_000 },
  );
});

test('a webhook that does not answer, or is not there, fails by kind and tells no URL', async () => {
  const hook = await startWebhook();
  hook.answerNext('hang', 'hang', 'hang');
  const silent = send(createWebhookTarget({ url: hook.url, timeoutMs: 30 }));
  await expect(silent).rejects.toMatchObject({ kind: 'timeout', message: 'timeout (30)' });
  const nobody = send(createWebhookTarget({ url: 'http://127.0.0.1:9/secret', timeoutMs: 10_000 }));
  await expect(nobody).rejects.toMatchObject({ kind: 'unreachable' });
  await expect(nobody).rejects.not.toThrow(/secret/);
});

test('one message lists at most twenty of a kind, and stays within what Slack takes', async () => {
  const hook = await startWebhook();
  const many = Array.from({ length: 500 }, () => ({ ...dead, summary: 'x'.repeat(300) }));
  await send(createWebhookTarget({ url: hook.url, timeoutMs: 10_000 }), {
    ...notice,
    fired: many,
  });
  expect(hook.taken[0]?.attachments[0]?.text.length).toBeLessThan(3000);
});

test('an email to all, marked as automatic, in plain text', async () => {
  const relay = await startMailRelay();
  ends(() => relay.close());
  const target = createEmailTarget({
    to: ['ann@ops.example', 'bob@ops.example'],
    from: 'sluice@acme.example',
    relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'auto' },
  });
  ends(() => target.close());
  await send(target);
  const [mail] = relay.taken;
  expect(mail?.to).toEqual(['ann@ops.example', 'bob@ops.example']);
  expect(mail?.from).toBe('sluice@acme.example');
  expect(mail?.mail.subject).toBe(
    '[Sluice gw.acme.example] 1 alert: dead a<b>&c; 1 alert resolved: held acme',
  );
  expect(mail?.mail.headers.get('auto-submitted')).toBe('auto-generated');
  expect(mail?.mail.text).toBe(
    [
      'Alert:',
      '- 3 messages of a<b>&c could not be delivered (critical, for 1 hour)',
      '  Retry them.',
      '',
      'Resolved:',
      '- 1 message of acme waits (held, after 1 hour)',
      '',
      'Sluice on gw.acme.example, 2026-11-22T12:00:00.000Z',
      '',
    ].join('\n'),
  );
});

test('a relay that is busy is asked again, one that refuses is not, and its words are not told', async () => {
  const relay = await startMailRelay();
  ends(() => relay.close());
  const target = createEmailTarget({
    to: ['ann@ops.example'],
    from: 'sluice@acme.example',
    relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'auto' },
  });
  ends(() => target.close());
  relay.answerNext('data', 451);
  await send(target);
  expect(relay.taken).toHaveLength(1);
  relay.answerNext('rcpt', 550);
  const refused = send(target);
  await expect(refused).rejects.toMatchObject({ kind: 'refused', code: '550' });
  await expect(refused).rejects.not.toThrow(/ann@/);
  expect(relay.connections).toBe(3);
});
