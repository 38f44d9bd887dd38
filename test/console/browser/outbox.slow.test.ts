import { expect } from '@jest/globals';
import { createTransport } from 'nodemailer';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { bounceOf } from '../../support/bounce.ts';
import { ChatClient } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY, INBOX } from '../../support/gateway-config.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { serveMessages } from '../../support/twilio-messages.ts';
import { startTwilioStandIn } from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole } from './console-visit.ts';

const reply = (page: Page) => page.locator('.turn.team').last();

/** From the list of tickets to the newest one. */
async function openTicket(page: Page, { adminUrl }: RunningGateway): Promise<void> {
  await page.goto(`${adminUrl}/platform?view=tickets`);
  await page.locator('tbody tr a').first().click();
  await reply(page).waitFor();
}

async function mailTo({ smtpPort }: RunningGateway, mail: object): Promise<void> {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port: smtpPort, tls: { rejectUnauthorized: false } },
  });
  ends(() => transport.close());
  await transport.sendMail(mail);
}

describeConsole('The fate of a reply', (test) => {
  test('by text is what Twilio reports; a failure is sent again', async (visit) => {
    const twilio = await startTwilioStandIn();
    ends(() => twilio.close());
    const { sent } = serveMessages(twilio);
    const { page, gateway } = await visit({
      gateway: { twilioUrl: twilio.baseUrl, replies: { sms: 'twilio' } },
    });
    const report = async (MessageSid: string | undefined, MessageStatus: string, more = {}) => {
      const answer = { MessageSid: String(MessageSid), MessageStatus, SmsStatus: MessageStatus };
      expect(await sendSms(gateway.httpUrl, { ...answer, ...more })).toMatchObject({ status: 204 });
    };
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('one'), Body: 'Hello' });
    await waitFor('a reply', () => sent.length === 1);
    await openTicket(page, gateway);
    await reply(page).getByText(/^sent/).waitFor();
    await report(sent[0]?.sid, 'delivered');
    await reply(page)
      .getByText(/^delivered/)
      .waitFor();

    await sendSms(gateway.httpUrl, { MessageSid: sidOf('two'), Body: 'And now?' });
    await waitFor('a reply', () => sent.length === 2);
    await reply(page).getByText(/^sent/).waitFor();
    await report(sent[1]?.sid, 'undelivered', { ErrorCode: '30005' });
    await reply(page).getByText('not delivered').waitFor();
    await reply(page).getByText('The number is unknown or no longer in use (30005)').waitFor();
    await page.getByRole('link', { name: 'Outbox 1' }).click();
    await page.getByText('1 reply not delivered').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('heading', { name: 'Every reply has been sent' }).waitFor();
    await waitFor('the text again', () => sent.length === 3);
    expect(sent[2]?.body).toBe(sent[1]?.body);
    await report(sent[2]?.sid, 'delivered');
    await openTicket(page, gateway);
    await reply(page)
      .getByText(/^delivered/)
      .waitFor();
    await page.getByText('You sent a reply again').waitFor();
  });

  test('is found by words, and many are sent again together', async (visit) => {
    const twilio = await startTwilioStandIn();
    ends(() => twilio.close());
    const { sent } = serveMessages(twilio);
    const { page, gateway } = await visit({
      gateway: { twilioUrl: twilio.baseUrl, replies: { sms: 'twilio' } },
    });
    for (const n of [1, 2]) {
      const text = { MessageSid: sidOf(`text ${n}`), From: `+1202555010${n}`, Body: 'Hello' };
      await sendSms(gateway.httpUrl, text);
      await waitFor('a reply', () => sent.length === n);
      const answer = { MessageSid: String(sent[n - 1]?.sid), ErrorCode: '30005' };
      const status = { MessageStatus: 'undelivered', SmsStatus: 'undelivered' };
      await sendSms(gateway.httpUrl, { ...answer, ...status });
    }
    await page.goto(`${gateway.adminUrl}/platform?view=outbox`);
    await page.getByText('2 replies not delivered').waitFor();
    const search = page.getByLabel('Search the outbox');
    await search.fill('0102');
    await page.getByText('2 replies not delivered; 1 shown').waitFor();
    await search.fill('');
    await page.getByRole('button', { name: 'Send all again' }).click();
    await page.getByRole('button', { name: 'Send 2 replies again' }).click();
    await waitFor('both replies', () => sent.length === 4);
    await page.getByText('Every reply has been sent').waitFor();
  });

  test('by email is failed once it bounces; somebody deals with it', async (visit) => {
    const relay = await startMailRelay();
    ends(() => relay.close());
    const replies = { relay: `smtp://127.0.0.1:${relay.port}`, relayTls: 'off' };
    const { page, gateway } = await visit({ gateway: { replies } });
    await mailTo(gateway, {
      ...{ from: 'Ann <ann@customer.example>', to: INBOX, subject: 'A blue lamp', text: 'Is it?' },
      messageId: '<q1@customer.example>',
    });
    const mail = await waitFor('the reply', () => relay.taken[0]?.mail);
    await openTicket(page, gateway);
    await reply(page).getByText(/^sent/).waitFor();
    await mailTo(gateway, {
      envelope: { from: '', to: INBOX },
      raw: bounceOf({
        messageId: mail.messageId ?? '',
        ...{ recipient: 'ann@customer.example', to: INBOX },
      }),
    });
    await reply(page).getByText('not delivered').waitFor();
    await reply(page).getByText('550 5.1.1 The mailbox does not exist (5.1.1)').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Outbox 1' }).click();
    await page.getByText('1 reply not delivered').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'Every reply has been sent' }).waitFor();
  });

  test('in the chat is what the visitor’s tab says', async (visit) => {
    const { page, gateway } = await visit();
    const visitor = await ChatClient.connect({
      ...{ url: gateway.httpUrl, auth: { key: CHAT_KEY }, confirms: true },
    });
    ends(() => visitor.close());
    await visitor.send('Hello');
    const line = await waitFor('the reply', () =>
      visitor.messages.find(({ from }) => from === 'agent'),
    );
    await openTicket(page, gateway);
    await reply(page)
      .getByText(/^delivered/)
      .waitFor();
    await visitor.request('seen', { seq: line.seq });
    await reply(page).getByText(/^read/).waitFor();
  });
});
