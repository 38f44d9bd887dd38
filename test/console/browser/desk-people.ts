import type { Page } from 'playwright-core';
import { createTransport } from 'nodemailer';
import { ends } from '../../support/ends.ts';
import { INBOX } from '../../support/gateway-config.ts';
import { type MailRelay, startMailRelay } from '../../support/mail-relay.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';

export const DORA = { name: 'dora', password: 'of-the-support-desk', role: 'desk' };
export const BEN = { name: 'ben', password: 'of-the-other-one', role: 'desk' };
export const PEOPLE = { admin: { operators: [DORA, BEN] } };

export async function aRelay(): Promise<{ relay: MailRelay; replies: Record<string, unknown> }> {
  const relay = await startMailRelay();
  ends(() => relay.close());
  return { relay, replies: { relay: `smtp://127.0.0.1:${relay.port}`, relayTls: 'off' } };
}

export interface Written {
  readonly text: string;
  readonly messageId: string;
  readonly inReplyTo?: string;
}

/** Ann writes an email. */
export async function write({ smtpPort }: RunningGateway, mail: Written): Promise<void> {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port: smtpPort, tls: { rejectUnauthorized: false } },
  });
  ends(() => transport.close());
  const from = 'Ann <ann@customer.example>';
  await transport.sendMail({ from, to: INBOX, subject: 'A blue lamp', ...mail });
}

export const question = (gateway: RunningGateway) =>
  write(gateway, { text: 'May I speak to a human, please?', messageId: '<q1@customer.example>' });

export const answerField = (page: Page) => page.getByLabel(/^Reply .*(by|in) /);
export const turn = (page: Page, text: string | RegExp) =>
  page.locator('.turn').filter({ hasText: text });

/** From the menu to the first ticket of the queue. */
export async function openFirst(page: Page): Promise<void> {
  await page.getByRole('link', { name: /^Platform 1 waiting for a person/ }).click();
  await page.locator('.queue .wide-cell a').first().click();
  await answerField(page).waitFor();
}
