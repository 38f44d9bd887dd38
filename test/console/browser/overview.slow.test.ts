import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ends } from '../../support/ends.ts';
import { shopNamed } from '../../support/gateway-config.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole } from './console-visit.ts';
import { sendChat, sendEmail, sendText } from './first-messages.ts';

const rateOf = (page: Page, channel: string): Promise<string | null> =>
  page.locator(`[data-accepted="${channel}"]`).textContent();

describeConsole('the overview', (test) => {
  test('a message of each channel is seen live', async (visit) => {
    const { page, gateway } = await visit();
    await page.getByText('Ready for the first message').waitFor();
    await page.getByText('Send the first message').waitFor();
    expect(await rateOf(page, 'email')).toBe('0/ min');
    await sendEmail(gateway, 'A parcel');
    await sendText(gateway, 'one');
    await sendChat(gateway, 'Hello?');
    for (const channel of ['email', 'sms', 'web_chat']) {
      const isCounted = async () => (await rateOf(page, channel)) === '1/ min';
      await waitFor(`one of ${channel}`, isCounted, 50);
    }
    await page.getByText('All messages are being delivered').waitFor();
    await page.getByText('delivered', { exact: false }).first().waitFor();
    await page.getByRole('img', { name: /^Email over the last hour; now 1 accepted/ }).waitFor();
    expect(await page.locator('.chart canvas').count()).toBe(5);
  });

  test('a test message through each channel leads to what became of it', async (visit) => {
    const { page } = await visit();
    for (const name of ['Email', 'SMS', 'Web chat']) {
      await page.goto(new URL('/configuration', page.url()).href);
      await page.getByRole('button', { name: `Send a test message: ${name}, acme` }).click();
      const link = page.getByRole('link', { name: 'Accepted. Show the message' });
      expect([name, await link.getAttribute('href')]).toEqual([
        name,
        expect.stringMatching(/^\/messages\/[0-9a-f-]{36}$/),
      ]);
      await link.click();
      await page.locator('h1').waitFor();
    }
  });

  test('a platform that is down is the first thing to be seen, with the next try', async (visit) => {
    const platform = new ScriptedPlatform();
    platform.script = () => ({ status: 503 });
    const platformUrl = await platform.start();
    ends(() => platform.stop());
    const { page, gateway } = await visit({ gateway: { platformUrl } });
    for (let nth = 0; nth < 12; nth += 1) await sendChat(gateway, `Line ${nth}`);
    const title = page.locator('.verdict-title');
    await title
      .getByText(/^Deliveries of acme are stopped: Platform error \(503\); next try in \d+ s$/)
      .waitFor();
    await page.getByText(/Messages stopped, next attempt in \d+ s/).waitFor();
    await page.getByRole('link', { name: 'Run Doctor' }).first().waitFor();
    platform.script = () => undefined;
  });

  test('a shop that is stopped says why, as text, and can be tried now', async (visit) => {
    const platform = new ScriptedPlatform();
    const platformUrl = await platform.start();
    ends(() => platform.stop());
    const { page, gateway } = await visit({ gateway: { platformUrl } });
    await sendChat(gateway, 'Hello?');
    await waitFor('a read', () => platform.of('GET /contacts/').length > 0, 50);
    const words = 'the key has expired <img src=x onerror=alert(1)>';
    platform.script = () => ({ status: 401, body: { detail: words } });
    await sendChat(gateway, 'Anybody?');
    const verdict = page.locator('.verdict');
    await verdict
      .getByText(/^Deliveries of acme are stopped: API key refused \(401\); next try in \d+ s$/)
      .waitFor();
    // As the platform wrote it, without its JSON.
    await verdict.getByText(words, { exact: true }).waitFor();
    await verdict.getByText('Set a valid apiKey for the shop').waitFor();
    const button = page.getByRole('button', { name: 'Try now: acme' });
    // Once: beside the cause.
    await button.click();
    await verdict.getByText(/^Deliveries still fail: .* next attempt in \d+ s\.$/).waitFor();
    platform.script = () => undefined;
    await button.click();
    await page.getByText(/^acme: delivered; /).waitFor();
    await page.getByText('All messages are being delivered').waitFor();
    await button.waitFor({ state: 'detached' });
  });

  test('of three shops, the one whose key is refused is named wherever its messages are', async (visit) => {
    const [works, refuses] = [new ScriptedPlatform(), new ScriptedPlatform()];
    const message = 'The API key has expired.';
    refuses.script = () => ({ status: 401, body: { error: { code: 'unauthorized', message } } });
    const [platformUrl, refusingUrl] = [await works.start(), await refuses.start()];
    ends(() => works.stop());
    ends(() => refuses.stop());
    const shops = [
      shopNamed('north', 1),
      { ...shopNamed('initech', 2), platformUrl: refusingUrl },
      shopNamed('south', 3),
    ];
    const { page, gateway } = await visit({ gateway: { platformUrl, shops } });
    for (const { name, inbox } of shops) {
      for (const n of [1, 2, 3]) await sendEmail(gateway, `Question ${n} to ${name}`, inbox);
    }
    const cause = /^Deliveries of initech are stopped: API key refused \(401\); next try in \d+ s/;
    await page.locator('.verdict').getByText(cause).waitFor();
    await page.locator('.verdict').getByText(message, { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Messages' }).first().click();
    await page.getByText(cause).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Question 1 to initech' });
    await row.getByRole('cell', { name: 'initech', exact: true }).waitFor();
    await row.getByText('API key refused (401)').waitFor();
    await page.getByRole('button', { name: /^Queued \d+$/ }).waitFor();

    await row.getByRole('link').click();
    await page.getByText(cause).waitFor();
    await page.getByText(message, { exact: true }).first().waitFor();
    // Nothing says that it is attempted soon by itself.
    await page.getByText(/next attempt|due/).waitFor({ state: 'detached' });
    await page.getByText('The whole answer').click();
    await page.getByText('"code":"unauthorized"').waitFor();

    refuses.script = () => undefined;
    await page.getByRole('button', { name: 'Try now: initech' }).click();
    await page.getByText('The platform has accepted it.').waitFor();
    await page.getByText(cause).waitFor({ state: 'detached' });
  });

  test('what is dead is counted, and leads to the list of them', async (visit) => {
    const platform = new ScriptedPlatform();
    platform.script = ({ method, path }) =>
      method === 'POST' && path.startsWith('/messages/')
        ? { status: 422, body: { error: 'no such thing' } }
        : undefined;
    const platformUrl = await platform.start();
    ends(() => platform.stop());
    const { page, gateway } = await visit({ gateway: { platformUrl } });
    await sendEmail(gateway, 'Refused');
    await page.getByText('1 message of acme could not be delivered').waitFor();
    await page.getByRole('link', { name: 'Show dead messages' }).click();
    await page.waitForURL(/\/messages\?shop=acme&state=dead$/);
  });

  test('a gateway that does not answer is told, and tried again', async (visit) => {
    const { page, context } = await visit({ signedIn: false });
    await context.route('**/api/**', (route) => route.abort());
    await page.reload();
    await page.getByText('The gateway does not respond.').waitFor();
    await context.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });

  test('a gateway that is gone is told, with how long ago it was heard', async (visit) => {
    const { page, gateway } = await visit();
    await page.locator('.sidebar .status-dot.live').waitFor();
    await gateway.stop();
    await page.getByText('Connection to the gateway lost').waitFor();
    await page.getByText(/Last update \d+ s ago/).waitFor();
    await page.getByRole('link', { name: 'Doctor' }).click();
    await page.getByText('Connection lost.').waitFor();
  });

  test('paused delivery is told on every page', async (visit) => {
    const { page, gateway } = await visit({ gateway: { paused: true }, path: '/doctor' });
    await sendEmail(gateway, 'Waiting');
    await page.getByText('Delivery is paused.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    const verdict = page.locator('.verdict');
    await verdict.getByText('To resume, set delivery.paused: false').waitFor();
  });
});
