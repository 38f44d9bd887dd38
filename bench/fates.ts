/**
 * npm run bench -- fates [--rounds 5]
 *
 * How soon a person at the desk sees what became of a reply: the time from the report (Twilio's callback,
 * the bounce, the visitor's tab) until the ticket's page shows it, in Chromium (its path in CHROMIUM). Prints the slowest of
 * all rounds. Exit status 1 when one takes more than two seconds.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createTransport } from 'nodemailer';
import { chromium, type Page } from 'playwright-core';
import { bounceOf } from '../test/support/bounce.ts';
import { ChatClient } from '../test/support/chat-client.ts';
import { CHAT_KEY, freePorts, gatewayConfig, INBOX } from '../test/support/gateway-config.ts';
import { GatewayProcess } from '../test/support/gateway-process.ts';
import { startMailRelay } from '../test/support/mail-relay.ts';
import { sendSms, sidOf } from '../test/support/sms-sender.ts';
import { serveMessages } from '../test/support/twilio-messages.ts';
import { startTwilioStandIn } from '../test/support/twilio-stand-in.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { type Figure, printFigures } from './support/goals.ts';
import { withWorkbench } from './support/workbench.ts';

const GOAL_MS = 2000;
/** Of the gateway's console. */
const PASSWORD = 'of-the-console';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });

const reply = (page: Page) => page.locator('.turn.team').last();

async function openNewest(page: Page, adminUrl: string): Promise<void> {
  await page.goto(`${adminUrl}/platform?view=tickets`);
  await page.locator('tbody tr a').first().click();
  await reply(page).waitFor();
}

await withWorkbench(async (bench) => {
  const twilio = await startTwilioStandIn();
  bench.onEnd('twilio', () => twilio.close());
  const { sent } = serveMessages(twilio);
  const relay = await startMailRelay();
  bench.onEnd('relay', () => relay.close());
  const dataDir = await bench.folder();
  const host = '127.0.0.1';
  const ports = await freePorts(host);
  const configFile = join(dataDir, 'gateway.json');
  const config = gatewayConfig({
    ...{ dataDir, host, ports, twilioUrl: twilio.baseUrl },
    replies: { sms: 'twilio', relay: `smtp://${host}:${relay.port}`, relayTls: 'off' },
  });
  writeFileSync(configFile, JSON.stringify(config));
  const gateway = await GatewayProcess.start({ configFile, host, ports });
  bench.onEnd('gateway', () => gateway.kill());
  const [httpUrl, adminUrl] = [`http://${host}:${ports.http}`, `http://${host}:${ports.admin}`];
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  bench.onEnd('browser', () => browser.close());
  const page = await browser.newPage();
  await page.goto(adminUrl);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content').waitFor();

  const slowest = new Map<string, number>();
  /** @param shown what the page says then, at its beginning */
  const measure = async (what: string, shown: RegExp, report: () => Promise<unknown>) => {
    const beganAt = performance.now();
    await report();
    await reply(page).getByText(shown).waitFor();
    const tookMs = performance.now() - beganAt;
    slowest.set(what, Math.max(tookMs, slowest.get(what) ?? 0));
  };
  const status = (MessageSid: string, MessageStatus: string, more = {}) =>
    sendSms(httpUrl, { MessageSid, MessageStatus, SmsStatus: MessageStatus, ...more });

  for (let round = 1; round <= Number(values.rounds); round += 1) {
    await ofTexts(round);
    await ofEmail(round);
    await ofChat();
  }

  /** Two customers: one gets the reply, the other does not. */
  async function ofTexts(round: number): Promise<void> {
    for (const isReached of [true, false]) {
      const From = `+1415555${2000 + 2 * round + (isReached ? 1 : 0)}`;
      const known = sent.length;
      await sendSms(httpUrl, { MessageSid: sidOf(From), From, Body: 'Hello' });
      const text = await waitFor('the reply', () => sent[known]);
      await openNewest(page, adminUrl);
      await measure('sent: reported by Twilio', /^sent/, () => status(text.sid, 'sent'));
      if (!isReached) {
        const words = /^The number is unknown or no longer in use \(30005\)/;
        await measure('undelivered, with its code', words, () =>
          status(text.sid, 'undelivered', { ErrorCode: '30005' }),
        );
        continue;
      }
      await measure('delivered: reported by Twilio', /^delivered/, () =>
        status(text.sid, 'delivered'),
      );
      await measure('read: reported by Twilio', /^read/, () => status(text.sid, 'read'));
    }
  }

  async function ofEmail(round: number): Promise<void> {
    const transport = createTransport({
      ...{ host: '127.0.0.1', port: ports.smtp, tls: { rejectUnauthorized: false } },
    });
    const [from, known] = [`ann${round}@customer.example`, relay.taken.length];
    const messageId = `<q${round}@customer.example>`;
    await transport.sendMail({ from, to: INBOX, subject: 'A lamp', text: 'Hello', messageId });
    const { mail } = await waitFor('the reply', () => relay.taken[known]);
    await openNewest(page, adminUrl);
    await reply(page).getByText(/^sent/).waitFor();
    await measure('bounced', /^550 5\.1\.1/, () =>
      transport.sendMail({
        envelope: { from: '', to: INBOX },
        raw: bounceOf({ messageId: mail.messageId ?? '', recipient: from, to: INBOX }),
      }),
    );
    transport.close();
  }

  async function ofChat(): Promise<void> {
    const confirms = true;
    const auth = { key: CHAT_KEY };
    const first = await ChatClient.connect({ url: httpUrl, auth });
    await first.send('Hello');
    await waitFor('the reply', () => first.messages.find(({ from }) => from === 'agent'));
    await openNewest(page, adminUrl);
    await reply(page).getByText(/^sent/).waitFor();
    const { token } = first.session;
    first.close();
    let visitor = first;
    await measure('delivered: a tab of the visitor has it', /^delivered/, async () => {
      visitor = await ChatClient.connect({
        ...{ url: httpUrl, auth: { ...auth, token }, confirms },
      });
    });
    const line = await waitFor('the reply', () =>
      visitor.messages.find(({ from }) => from === 'agent'),
    );
    await measure('read: the visitor has seen it', /^read/, () =>
      visitor.request('seen', { seq: line.seq }),
    );
    visitor.close();
  }

  const figures = [...slowest].map(([what, value]): Figure => ({
    what: `${what}, slowest in ms`,
    value,
    atMost: GOAL_MS,
  }));
  if (!printFigures(figures)) process.exitCode = 1;
});
