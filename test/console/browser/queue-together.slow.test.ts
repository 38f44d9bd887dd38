import { expect } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import type { DeskQueue, DeskTicketView } from '../../../src/console/contract.ts';
import { ends } from '../../support/ends.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole } from './console-visit.ts';
import { answerField, BEN, DORA, openFirst, PEOPLE, question, turn } from './desk-people.ts';

/** Another browser of somebody who signs in under their name. */
async function signInAs(
  page: Page,
  { name, password }: typeof DORA,
  { adminUrl }: RunningGateway,
): Promise<void> {
  const answer = await page.context().request.post(`${adminUrl}/api/login`, {
    headers: { 'x-sluice-console': '1', origin: adminUrl },
    data: { operator: name, password },
  });
  if (!answer.ok()) throw new Error(await answer.text());
}

async function pageOf(
  context: BrowserContext,
  who: typeof DORA,
  gateway: RunningGateway,
): Promise<Page> {
  const browser = context.browser();
  if (browser === null) throw new Error('no browser');
  const other = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  ends(() => other.close());
  const page = await other.newPage();
  await signInAs(page, who, gateway);
  return page;
}

describeConsole('Several people at the desk', (test) => {
  test('see each other, and do not overwrite what the other one did', async (visit) => {
    const { page, context, gateway } = await visit({ gateway: PEOPLE });
    await question(gateway);
    await openFirst(page);
    const other = await pageOf(context, BEN, gateway);
    await other.goto(page.url());
    await answerField(other).fill('From Ben');
    await page.getByText('ben is writing…').waitFor();
    await other.getByText('operator is here').waitFor();
    // The other page does not read it before it sends.
    const id = new URL(page.url()).searchParams.get('id');
    await other.route(`**/tickets/${id}`, (route) => route.abort());
    await answerField(page).fill('From the operator');
    await page.getByRole('button', { name: 'Send' }).click();
    await turn(page, 'From the operator').waitFor();
    await other.getByRole('button', { name: 'Send' }).click();
    await other.getByText('The ticket has changed since you began.').waitFor();
    await other.getByText('operator replied: “From the operator”').waitFor();
    expect(await answerField(other).inputValue()).toBe('From Ben');
    expect(await turn(other, 'From the operator').count()).toBe(0);
    // The last change that both pages are told of.
    await turn(page, 'From the operator').filter({ hasText: /sent/ }).waitFor();
    await other.unroute(`**/tickets/${id}`);
    // Refused once more, as it is still not read; then the page has it.
    await other.getByRole('button', { name: 'Send' }).click();
    await turn(other, 'From the operator').waitFor();
    expect(await turn(page, 'From Ben').count()).toBe(0);
    await other.getByRole('button', { name: 'Send' }).click();
    await turn(page, 'From Ben').getByText('ben').first().waitFor();
  });

  test('see what has changed while the page was without a connection', async (visit) => {
    const { page, gateway } = await visit({ gateway: PEOPLE });
    await page.addInitScript(`
      const Plain = EventSource;
      EventSource = class extends Plain {
        constructor(url) {
          super(url);
          addEventListener('lose', () => this.dispatchEvent(new Event('error')));
        }
      };`);
    await question(gateway);
    await page.goto(`${gateway.adminUrl}/platform?view=queue`);
    const row = page.locator('.queue tbody tr');
    await row.filter({ hasText: 'A blue lamp' }).waitFor();
    await page.getByRole('link', { name: /^Platform 1 waiting for a person/ }).waitFor();
    await page.route('**/api/stream', (route) => route.abort());
    await page.evaluate(`void dispatchEvent(new Event('lose'))`);
    const desk = `${gateway.adminUrl}/api/platform/desk`;
    const { request } = page.context();
    const { tickets } = (await (await request.get(`${desk}/queue`)).json()) as DeskQueue;
    const path = `${desk}/acme/tickets/${tickets[0]?.id}`;
    const { version } = (await (await request.get(path)).json()) as DeskTicketView;
    const done = await request.post(`${path}/complete`, {
      headers: { 'x-sluice-console': '1', origin: gateway.adminUrl },
      data: { version },
    });
    expect(done.status()).toBe(200);
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('other'), Body: 'Human please' });
    await waitFor('the other ticket', async () => {
      const { tickets: now } = (await (await request.get(`${desk}/queue`)).json()) as DeskQueue;
      return now.length === 1;
    });
    expect(await row.filter({ hasText: 'A blue lamp' }).count()).toBe(1);
    // One waits, as before.
    await page.unroute('**/api/stream');
    await row.filter({ hasText: 'Human please' }).waitFor();
    expect(await row.count()).toBe(1);
  });

  test('of the role desk have the Platform pages only', async (visit) => {
    const { page, gateway } = await visit({ gateway: PEOPLE, signedIn: false });
    await question(gateway);
    await signInAs(page, DORA, gateway);
    await page.goto(gateway.adminUrl);
    await page.locator('.queue .wide-cell a').first().waitFor();
    const menu = page.getByRole('navigation', { name: 'Pages' });
    expect(await menu.getByRole('link').count()).toBe(1);
    await page.locator('.sidebar .status-dot.live').waitFor();
    for (const path of ['/messages', '/configuration', '/audit']) {
      await page.goto(gateway.adminUrl + path);
      await page
        .getByRole('heading', { name: /Your role, desk, has the Platform pages/ })
        .waitFor();
    }
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.locator('.queue .wide-cell a').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await answerField(page).waitFor();
    expect(await page.getByRole('link', { name: 'Show entry' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByLabel(/^Page, shop/).fill('ann@customer.example');
    await page.getByText('Find the contact ann@customer.example of acme').waitFor();
    expect(await page.getByText('Search messages for').count()).toBe(0);
  });
});
