import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole, signIn } from './console-visit.ts';

const ANN = { name: 'ann', password: 'of-ann-herself', role: 'desk' };

const focused = (page: Page): Promise<string | null> => page.locator(':focus').getAttribute('name');

describeConsole('signing in', (test) => {
  test('people with names are asked for them first', async (visit) => {
    const { page } = await visit({ gateway: { admin: { operators: [ANN] } }, signedIn: false });
    await page.getByText('Names and passwords are those of admin.operators').waitFor();
    expect(await focused(page)).toBe('operator');
    const name = page.getByLabel('Name');
    expect(await name.getAttribute('autocomplete')).toBe('username');
    await name.fill(ANN.name);
    await signIn(page, ANN.password);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await name.waitFor();
  });

  test('a wrong password is told in words, and a right one leads to the page that was asked for', async (visit) => {
    const { page } = await visit({ path: '/audit', signedIn: false });
    await page.getByText('the first start has generated one: adminPassword in keys.json').waitFor();
    expect(await focused(page)).toBe('password');
    expect(await page.getByLabel('Name').count()).toBe(0);
    await signIn(page, 'not it');
    await page.getByText('Wrong name or password.').waitFor();
    expect(await page.getByLabel('Password').getAttribute('autocomplete')).toBe('current-password');
    await signIn(page);
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/audit');
    const table = page.getByRole('table');
    await table.getByText('Signed in').waitFor();
    await table.getByText('Sign-in refused').first().waitFor();
  });

  test('too many wrong passwords bar the form for a while that counts down', async (visit) => {
    const { page, gateway } = await visit({ signedIn: false });
    for (let tries = 0; tries < 15; tries += 1) {
      await fetch(`${gateway.adminUrl}/api/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-sluice-console': '1' },
        body: JSON.stringify({ password: `guess ${tries}` }),
      });
    }
    await signIn(page, 'one more');
    await page.getByText('Too many failed attempts.').waitFor();
    const wait = page.getByText('Try again in');
    const first = await wait.textContent();
    await waitFor('a second less', async () => (await wait.textContent()) !== first, 100);
    expect(await page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true);
  });

  test('a session that ends elsewhere leads to the login, and back to the same page', async (visit) => {
    const { page, context } = await visit({ path: '/configuration' });
    await page.getByRole('heading', { name: 'Configuration', level: 1 }).waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Configuration', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/configuration');
  });
});
