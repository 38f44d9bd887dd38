import { expect, test } from '@jest/globals';
import { INBOX } from '../support/gateway-config.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { scene } from './scene.ts';

/** The client of these tests sends a byte for each character. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

test('RFC 6531: a message whose addresses, headers and body are in UTF-8', async () => {
  const { gateway, platform } = await scene();
  const client = await SmtpClient.connect(gateway.smtpPort);
  try {
    await client.reply();
    expect(await client.say('EHLO client.example')).toContain('SMTPUTF8');
    const from = utf8('MAIL FROM:<андрей@почта.example> SMTPUTF8 BODY=8BITMIME');
    expect(await client.say(from)).toMatch(/^250 /);
    expect(await client.say(`RCPT TO:<${INBOX}>`)).toMatch(/^250 /);
    await client.say('DATA');
    client.send(
      utf8(
        [
          'From: Андрей Петров <андрей@почта.example>',
          `To: ${INBOX}, 用户@例子.example`,
          'Message-ID: <утф8@почта.example>',
          'Subject: Где мой заказ? 📦',
          'Content-Type: text/plain; charset=utf-8',
          '',
          'Заказ 1001 не пришёл.',
        ].join('\r\n'),
      ),
    );
    expect(await client.say('\r\n.')).toMatch(/^250 /);
  } finally {
    client.destroy();
  }
  await waitFor('the message', () => platform.messages.length === 1);
  expect(platform.payloads[0]).toMatchObject({
    contact: { email: 'андрей@xn--80a1acny.example', name: 'Андрей Петров' },
    message: {
      content: 'Заказ 1001 не пришёл.',
      remote_id: '<утф8@почта.example>',
      email: {
        subject: 'Где мой заказ? 📦',
        cc: [{ email: '用户@xn--fsqu00a.example' }],
      },
    },
  });
});
