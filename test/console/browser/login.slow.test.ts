import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole, signIn } from './console-visit.ts';

describeConsole('signing in', (test) => {
  test('a wrong password is told in words, and a right one leads to the page that was asked for', async (visit) => {
    const { page } = await visit({ path: '/audit', signedIn: false });
    await signIn(page, 'not it');
    await page.getByText('Wrong name or password.').waitFor();
    expect(await page.getByLabel('Password').getAttribute('autocomplete')).toBe('current-password');
    expect(await page.getByLabel('Name').getAttribute('autocomplete')).toBe('username');
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
