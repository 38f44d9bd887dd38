import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ends } from '../../support/ends.ts';
import { shopNamed } from '../../support/gateway-config.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole, signIn } from './console-visit.ts';
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
    await title.getByText(/^acme: Platform error \(503\) since .*; next try in \d+ s$/).waitFor();
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
    const shops = page.locator('.shop-trouble');
    await shops.getByText(/^API key refused \(401\) since /).waitFor();
    // As the platform wrote it, without its JSON.
    await shops.getByText(words, { exact: true }).waitFor();
    const verdict = page.locator('.verdict');
    await verdict
      .getByText(/^acme: API key refused \(401\) since .*; next try in \d+ s$/)
      .waitFor();
    await verdict.getByText(words, { exact: true }).waitFor();
    await verdict.getByText('Set a valid apiKey for the shop').waitFor();
    const button = shops.getByRole('button', { name: 'Try now: acme' });
    await button.click();
    await shops.getByText(/^Deliveries still fail: .* next attempt in \d+ s\.$/).waitFor();
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
    const cause = /^initech: API key refused \(401\) since .*; next try in \d+ s/;
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

  test('texts of one person in a row are a group, with their beginnings if that is configured', async (visit) => {
    const { page, gateway } = await visit({
      gateway: { admin: { snippets: true } },
      path: '/messages',
    });
    for (const Body of ['Where is my order?', 'It is number 42']) {
      const answer = await sendSms(gateway.httpUrl, { MessageSid: sidOf(Body), Body });
      expect(answer.status).toBe(200);
    }
    const rows = page.locator('.entries-body .entry');
    const [newest, older] = [rows.nth(0), rows.nth(1)];
    await newest.getByText('It is number 42').waitFor();
    await older.getByText('Where is my order?').waitFor();
    expect(await newest.getAttribute('class')).not.toContain('of-same');
    expect(await older.getAttribute('class')).toContain('of-same');
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
    await page.getByText('1 dead message').waitFor();
    await page.getByRole('link', { name: 'Show dead messages' }).click();
    await page.waitForURL(/\/messages\?state=dead$/);
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
    await page.getByText(/1 message queued/).waitFor();
  });

  test('the palette finds a page, a shop and a person, and switches to UTC', async (visit) => {
    const { page } = await visit({ browser: { timezoneId: 'Pacific/Kiritimati' }, path: '/audit' });
    const time = page.locator('.audit time').first();
    await time.waitFor();
    expect(await time.getAttribute('title')).toMatch(/GMT\+14$/);
    const palette = page.getByRole('dialog', { name: 'Go to' });
    const run = async (text: string) => {
      await page.keyboard.press('Control+k');
      await palette.getByRole('combobox').fill(text);
      await palette.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
      await palette.waitFor({ state: 'hidden' });
    };
    await run('utc');
    await page.waitForFunction('document.querySelector(".audit time").title.endsWith("UTC")');
    await page.reload();
    await time.waitFor();
    expect(await time.getAttribute('title')).toMatch(/UTC$/);
    await run('tickets acme');
    await page.waitForURL(/\/platform\?shop=acme&view=tickets$/);
    await run('ann@example.com');
    await page.waitForURL(/\/messages\?text=ann%40example.com$/);
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill('no such page');
    await palette.getByRole('option', { name: 'Search messages for “no such page”' }).waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden' });
  });

  test('an incident is listed from its beginning to its end, and marked in the charts', async (visit) => {
    const { page, gateway, dataDir } = await visit({ path: '/incidents' });
    await page.getByText('The gateway started').waitFor();
    await gateway.reload();
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByText(/The configuration was reloaded: 0 changed/).waitFor();
    expect(readFileSync(join(dataDir, 'incidents.json'), 'utf8')).toContain('"kind":"reload"');
    await page.getByRole('link', { name: 'Overview' }).click();
    const ranges = page.getByRole('group', { name: 'Time range of the charts' });
    await ranges.getByRole('button', { name: '24 h' }).click();
    await page.getByRole('img', { name: /^Queued messages over the last day/ }).waitFor();
    await ranges.getByRole('button', { name: '15 min' }).click();
    await page.getByRole('img', { name: /^Queued messages over the last 15 minutes/ }).waitFor();
  });

  test('the keyboard goes from page to page, and shows its keys', async (visit) => {
    const { page } = await visit();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    for (const [key, title] of [
      ['c', 'Configuration'],
      ['i', 'Incidents'],
      ['a', 'Audit'],
      ['d', 'Doctor'],
      ['m', 'Messages'],
      ['p', 'Platform'],
      ['o', 'Overview'],
    ] as const) {
      const heading = page.locator('h1:focus', { hasText: title });
      // Both within the time of a chord: on a machine that is busy, not at the first go.
      const isThere = async () => {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        return (await heading.count()) === 1;
      };
      await waitFor(title, isThere, 300);
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Configuration' }).click();
    await page.getByRole('tab', { name: 'Effective values' }).click();
    await page.getByRole('searchbox', { name: 'Search the configuration' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('publicUrl');
    expect(await page.getByRole('searchbox').inputValue()).toBe('publicUrl');
  });

  test('the colours that were chosen are kept', async (visit) => {
    const { page } = await visit({ browser: { colorScheme: 'light' } });
    const scheme = () => page.locator('html').getAttribute('data-scheme');
    expect(await scheme()).toBe('light');
    await page.getByRole('button', { name: 'Dark' }).click();
    expect(await scheme()).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(await scheme()).toBe('dark');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page);
    expect(await scheme()).toBe('dark');
  });
});
