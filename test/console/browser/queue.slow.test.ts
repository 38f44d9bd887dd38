import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { ChatClient } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY } from '../../support/gateway-config.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { serveMessages } from '../../support/twilio-messages.ts';
import { OUR_NUMBER, startTwilioStandIn, THEIR_NUMBER } from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole } from './console-visit.ts';
import { answerField, openFirst, PEOPLE, question, turn } from './desk-people.ts';

describeConsole('People at the desk', (test) => {
  test('answer a visitor of the chat', async (visit) => {
    const { page, gateway } = await visit({ gateway: PEOPLE });
    const visitor = await ChatClient.connect({ url: gateway.httpUrl, auth: { key: CHAT_KEY } });
    ends(() => visitor.close());
    await visitor.send('I want to talk to a human');
    await openFirst(page);
    await answerField(page).fill('Here I am: what can I do?');
    let send: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (send = resolve));
    await page.route('**/reply', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Send' }).click();
    // What was typed now would be lost with what is sent.
    await waitFor('the sending', async () => !(await answerField(page).isEditable()), 50);
    send();
    await waitFor('the reply', () => visitor.texts.includes('Here I am: what can I do?'), 100);
    await visitor.send('Do you have 41?');
    await turn(page, 'Do you have 41?').waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('n');
    await page.keyboard.type('They mean the boots.');
    await page.getByRole('button', { name: 'Add note' }).click();
    await turn(page, 'They mean the boots.').getByText('internal note').waitFor();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await answerField(page).fill('In blue');
    await page.locator('input[type=file]').setInputFiles({
      ...{ name: 'boot.txt', mimeType: 'text/plain', buffer: Buffer.from('blue') },
    });
    await page.getByText('boot.txt').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    const line = await waitFor('the file', () =>
      visitor.messages.find(({ text }) => text === 'In blue'),
    );
    expect(line.attachments).toMatchObject([{ name: 'boot.txt', size: 4 }]);
    const { pathname } = new URL(line.attachments[0]?.url ?? '');
    expect(await (await fetch(gateway.httpUrl + pathname)).text()).toBe('blue');
    // Nobody but the team reads it, and the agent is silent.
    expect(visitor.texts.join('\n')).not.toContain('boots');
    expect(visitor.texts.filter((text) => text.includes('41'))).toEqual(['Do you have 41?']);
  });

  test('are seen by a visitor of the chat to have read, once they look at the page', async (visit) => {
    const { page, gateway } = await visit({ gateway: PEOPLE });
    const visitor = await ChatClient.connect({ url: gateway.httpUrl, auth: { key: CHAT_KEY } });
    ends(() => visitor.close());
    const hasSeen = (id: string) =>
      visitor.statuses.some((status) => status.id === id && status.state === 'seen');
    const said: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/seen')) said.push(request.postData() ?? '');
    });
    const [first, second] = [randomUUID(), randomUUID()];
    await visitor.send('I want to talk to a human', { id: first });
    // Nobody has opened it in the queue.
    await page.getByRole('link', { name: /^Platform 1 waiting for a person/ }).click();
    await page.locator('.queue .wide-cell a').waitFor();
    expect(said).toEqual([]);
    await page.locator('.queue .wide-cell a').click();
    await waitFor('the first', () => hasSeen(first), 50);

    const look = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', {value: ${isHidden}, configurable: true});
        document.dispatchEvent(new Event('visibilitychange'))`);
    await look(true);
    await visitor.send('Are you there?', { id: second });
    await turn(page, 'Are you there?').waitFor();
    // What a page does once it has drawn, it has done by then.
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() =>
      requestAnimationFrame(() => setTimeout(done))))`);
    expect(said).toHaveLength(1);
    await look(false);
    await waitFor('the second', () => hasSeen(second), 50);
    // Another change of the ticket is no other message.
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('You took it').waitFor();
    expect(said).toHaveLength(2);
  });

  test('read which limit has left a ticket to them, and let the agent answer', async (visit) => {
    const texts = tempDir();
    ends(() => texts.remove());
    writeFileSync(join(texts.path, 'hours.md'), '# Hours\n\n## Opening hours\n\nFrom nine.\n');
    const { page, gateway } = await visit({
      gateway: {
        ...PEOPLE,
        localAgent: { knowledge: texts.path, answersPerHour: 1 },
        alerts: { every: '1s' },
      },
    });
    const visitors = await Promise.all(
      [1, 2].map(() => ChatClient.connect({ url: gateway.httpUrl, auth: { key: CHAT_KEY } })),
    );
    for (const visitor of visitors) ends(() => visitor.close());
    const [first, second] = visitors;
    await first?.send('Opening hours?');
    await waitFor('the answer', () => first?.texts.length === 2);
    await second?.send('Opening hours?');
    const alert = page.getByText(/In the last hour 1 message of acme got no automatic answer/);
    await alert.first().waitFor();
    await openFirst(page);
    await page.getByText("the shop's automatic answers of this hour are used up").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(second?.texts).toHaveLength(1);
    await page.getByRole('button', { name: 'Let the agent answer now' }).click();
    await turn(page, 'From nine.').waitFor();
    await waitFor('the answer', () => second?.texts.length === 2);
  });

  test('answer a text through the account that received it', async (visit) => {
    const twilio = await startTwilioStandIn();
    ends(() => twilio.close());
    const { sent } = serveMessages(twilio);
    const { page, gateway } = await visit({
      gateway: { ...PEOPLE, twilioUrl: twilio.baseUrl, replies: { sms: 'twilio' } },
    });
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('desk'), Body: 'Human please' });
    await openFirst(page);
    // No markup goes out by SMS.
    expect(await page.getByLabel('Format').count()).toBe(0);
    await answerField(page).fill('We open at nine.');
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor('the text', () => sent.length === 2);
    expect(sent[1]).toMatchObject({ from: OUR_NUMBER, to: THEIR_NUMBER, body: 'We open at nine.' });
  });

  test('are told that a number has opted out before they write, and can still add a note', async (visit) => {
    const { page, gateway } = await visit({ gateway: PEOPLE });
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('human'), Body: 'Human please' });
    await openFirst(page);
    const notice = page.getByText('This number has opted out of texts.');
    expect(await notice.count()).toBe(0);
    const stop = { Body: 'STOP', OptOutType: 'STOP' };
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('stop'), ...stop });
    await notice.waitFor();
    await answerField(page).fill('Please stay');
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Note', exact: true }).click();
    await page.getByRole('button', { name: 'Add note' }).click();
    await turn(page, 'Please stay').getByText('internal note').waitFor();
    const start = { Body: 'START', OptOutType: 'START' };
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('start'), ...start });
    await notice.waitFor({ state: 'detached' });
  });

  test('find what they wrote after a reload, and insert a text of the shop', async (visit) => {
    const knowledge = tempDir();
    ends(() => knowledge.remove());
    mkdirSync(join(knowledge.path, 'texts'));
    const text =
      '# Hours\n\n## Opening hours\n\nWe open at **nine**.\n\n## Returns\n\nFor 30 days.\n';
    writeFileSync(join(knowledge.path, 'texts', 'hours.md'), text);
    const localAgent = { knowledge: knowledge.path };
    const { page, gateway } = await visit({ gateway: { ...PEOPLE, localAgent } });
    await question(gateway);
    await openFirst(page);
    await answerField(page).fill('Dear Ann,');
    await page.getByRole('button', { name: 'Texts' }).click();
    await page.getByLabel('Words of the text').fill('opening');
    await page.getByRole('button', { name: /Returns/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Opening hours/ }).click();
    expect(await answerField(page).inputValue()).toBe('Dear Ann,\n\nWe open at **nine**.');
    await page.reload();
    await answerField(page).waitFor();
    expect(await answerField(page).inputValue()).toBe('Dear Ann,\n\nWe open at **nine**.');
    expect(await page.getByLabel('Format').inputValue()).toBe('MARKDOWN');
    await page.getByRole('button', { name: /^Sign out/ }).click();
    await page.getByLabel('Password').waitFor();
    expect(await page.evaluate('Object.keys(localStorage).join()')).not.toContain('draft');
  });

  for (const [name, browser] of [
    ['light', { colorScheme: 'light' }],
    ['on a phone', { colorScheme: 'dark', viewport: { width: 360, height: 740 }, hasTouch: true }],
  ] as const) {
    test(`axe finds nothing: ${name}`, async (visit) => {
      const localAgent = { kind: 'builtin' };
      const { page, gateway } = await visit({ browser, gateway: { ...PEOPLE, localAgent } });
      const check = async () => {
        expect([page.url(), await axeFindings(page)]).toEqual([page.url(), []]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      };
      await page.goto(`${gateway.adminUrl}/platform?view=queue`);
      await page.getByRole('heading', { name: 'Nobody waits' }).waitFor();
      await check();
      await question(gateway);
      await page.locator('.queue .wide-cell a').first().waitFor();
      await check();
      await page.locator('.queue .wide-cell a').first().click();
      await answerField(page).fill('A reply');
      await page.locator('.turn').first().waitFor();
      await check();
      await page.getByRole('button', { name: 'Note', exact: true }).click();
      await check();
      await page.getByRole('button', { name: 'Texts' }).click();
      await page.getByText('There are no texts').waitFor();
      await check();
    });
  }
});
