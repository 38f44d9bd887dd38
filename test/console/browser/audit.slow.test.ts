import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { consoleClient } from '../server/console-client.ts';
import { PASSWORD } from '../server/console-scene.ts';
import { describeConsole } from './console-visit.ts';

describeConsole('audit and doctor', (test) => {
  test('what an operator does is listed, the newest first, and links to the message', async (visit) => {
    const { page } = await visit({ path: '/configuration' });
    await page.getByRole('button', { name: 'Send a test message: SMS, acme' }).click();
    await page.getByRole('link', { name: 'Accepted. Show the message' }).waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    const rows = page.locator('.audit tbody tr');
    await rows.first().waitFor();
    expect(await rows.first().innerText()).toContain('Sent a test message');
    expect(await rows.nth(1).innerText()).toContain('Signed in');
    expect(await rows.first().innerText()).toContain('operator');
  });

  test('the list goes on as far as there is more', async (visit) => {
    const { page, gateway } = await visit();
    const client = consoleClient(gateway.adminUrl);
    // A sign-in and a sign-out are a line each.
    for (let nth = 0; nth < 75; nth += 1) {
      expect((await client.signIn(PASSWORD)).status).toBe(200);
      expect((await client.post('/api/logout')).status).toBe(204);
    }
    await page.getByRole('link', { name: 'Audit' }).click();
    const rows = page.locator('.audit tbody tr');
    await rows.first().waitFor();
    await waitFor('the end', async () => {
      await page.mouse.wheel(0, 5_000);
      return page.getByText('End of the audit log.').isVisible();
    });
    expect(await rows.count()).toBe(151);
  });

  test('is searched and exported, with the addresses of wrong passwords', async (visit) => {
    const { page, gateway } = await visit();
    await consoleClient(gateway.adminUrl).signIn('a wrong password');
    await page.getByRole('link', { name: 'Audit' }).click();
    const rows = page.locator('.audit tbody tr');
    await page.getByLabel('Action').selectOption('Sign-in refused');
    await waitFor('one line', async () => (await rows.count()) === 1);
    expect(await rows.first().innerText()).toMatch(/unknown\s+127\.0\.0\.1\s+Sign-in refused/);
    await page.getByRole('searchbox').fill('192.0.2.1');
    await page.getByRole('heading', { name: 'No such actions' }).waitFor();
    await page.getByRole('searchbox').fill('127.0.0');
    await rows.first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('sluice-audit.csv');
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toBe('no,time,operator,address,action,target,outcome');
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^\d+,[^,]+Z,unknown,127\.0\.0\.1,login_failed,console,refused$/),
    ]);
  });

  test('the doctor says of each check what it found', async (visit) => {
    const { page } = await visit({ path: '/doctor' });
    await page.locator('.doctor li').first().waitFor();
    expect(await page.locator('.doctor li').count()).toBeGreaterThan(3);
    const sum = page.locator('.doctor-sum');
    expect(await sum.textContent()).toMatch(/^(?:\d+ failed and )?\d+ warnings? in \d+ checks\.$/);
    const acme = page.getByRole('region', { name: 'acme' });
    await acme.getByText('platform', { exact: false }).first().waitFor();
    await page.getByRole('region', { name: 'Gateway' }).getByText('Data folder, lock').waitFor();
    // The record to enter at the DNS provider.
    await acme.getByText(/^\S+\. IN MX 10 \S+\.$/).waitFor();
    await acme.getByRole('button', { name: 'Copy what to enter for mx' }).waitFor();
    await page.getByRole('button', { name: 'Check again' }).waitFor();
  });
});
