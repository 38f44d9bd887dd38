import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole, signIn } from './console-visit.ts';

describeConsole('every page', (test) => {
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
    await page.getByText(/The configuration was reloaded by \S+: 0 changed/).waitFor();
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
      ['e', 'A person’s data'],
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
