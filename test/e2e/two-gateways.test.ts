import { expect, test } from '@jest/globals';
import { ChatClient } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { CHAT_KEY } from '../support/gateway-config.ts';
import { sendEmail } from '../support/gateway-setting.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitFor } from '../support/wait-for.ts';
import { endLeases, fleetOfTwo, shareKeys } from './fleet-of-two.ts';

test('two gateways with one database deliver what either accepts, once and in order, also when one is killed', async () => {
  const cluster = await startCluster();
  ends(() => cluster.stop());
  const both = await fleetOfTwo(cluster);
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
    expect(await sendEmail(n === 2 ? smtpOfOther : smtp, `mail-${n}`, `mail ${n}`)).toMatch(/^250/);
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
