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

  test('the doctor says of each check what it found', async (visit) => {
    const { page } = await visit({ path: '/doctor' });
    await page.locator('.doctor li').first().waitFor();
    expect(await page.locator('.doctor li').count()).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Check again' }).waitFor();
  });
});
