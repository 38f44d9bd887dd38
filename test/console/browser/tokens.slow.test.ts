import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { consoleClient } from '../server/console-client.ts';
import { describeConsole } from './console-visit.ts';

async function make(page: Page, name: string, scope?: string): Promise<string> {
  await page.getByRole('button', { name: 'New token' }).click();
  const dialog = page.getByRole('dialog', { name: 'New API token' });
  await dialog.getByLabel('Name').fill(name);
  if (scope !== undefined) await dialog.getByLabel('Scope').selectOption(scope);
  await dialog.getByRole('button', { name: 'Create' }).click();
  const made = page.getByRole('dialog', { name: `Token ${name}` });
  await made.getByRole('button', { name: 'Copy the token' }).click();
  await made.getByText('Copied').first().waitFor();
  // What the page has put there.
  const copied = String(await page.evaluate('navigator.clipboard.readText()'));
  await made.getByRole('button', { name: 'Done' }).click();
  await made.waitFor({ state: 'hidden' });
  return copied;
}

describeConsole('the API tokens', (test) => {
  test('are explained, made, shown once, listed and revoked', async (visit) => {
    const { page, gateway } = await visit({ path: '/configuration#tokens' });
    await page.getByText('There is none yet.').waitFor();
    await page.getByText(`curl -H "Authorization: Bearer $TOKEN" ${gateway.adminUrl}`).waitFor();
    const secret = await make(page, 'grafana');
    expect(secret).toMatch(/^sluice_[\w-]{43}$/);
    const client = consoleClient(gateway.adminUrl);
    const status = async () => {
      const headers = { authorization: `Bearer ${secret}` };
      return (await client.ask('/api/overview', { headers })).status;
    };
    expect(await status()).toBe(200);
    await page.reload();
    const line = page.getByRole('listitem').filter({ hasText: 'grafana' });
    await line.getByText(/Made by operator .* last used .* ends in 89 d/).waitFor();
    expect(await page.content()).not.toContain(secret);
    await line.getByRole('button', { name: 'Revoke grafana' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke grafana?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await status()).toBe(200);
    await line.getByRole('button', { name: 'Revoke grafana' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked grafana').waitFor();
    await page.getByText('There is none yet.').waitFor();
    expect(await status()).toBe(401);
  });

  test('have names that are checked and taken once', async (visit) => {
    const { page } = await visit({ path: '/configuration#tokens' });
    await make(page, 'ci', 'operate');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API token' });
    const create = async (name: string) => {
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByRole('button', { name: 'Create' }).click();
    };
    await create('two words');
    await dialog.getByText('name is not valid').waitFor();
    await create('ci');
    await dialog.getByText('There is a token ci: revoke it first').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('listitem').filter({ hasText: 'operate' }).waitFor();
  });

  test('fit a phone and are accessible in both schemes', async (visit) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await visit({
        path: '/configuration#tokens',
        browser: { colorScheme, viewport: { width: 360, height: 740 } },
      });
      await make(page, 'x'.repeat(48));
      await page.getByText(/never used/).waitFor();
      const isWider = 'document.documentElement.scrollWidth > innerWidth';
      expect(await page.evaluate(isWider)).toBe(false);
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'New token' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await page.evaluate(isWider)).toBe(false);
      expect(await axeFindings(page)).toEqual([]);
    }
  });
});
