import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { signIn } from './console-visit.ts';
import { describeDesk } from './desk.ts';

const MANY = 500;

describeDesk('Bulk actions', (test) => {
  test('500 held are discarded, taken back and released, with what was refused', async (desk) => {
    await desk.mail(
      ...Array.from({ length: MANY }, (_, n) => ({
        id: `held-${n}`,
        subject: `Held number ${n}`,
        from: 'Ann <ann@example.com>, Bob <bob@example.com>',
      })),
    );
    const { page, open, row, faults, context } = await desk.operator();
    await open('/messages?state=held');
    await page.getByText('500 messages', { exact: true }).waitFor();
    await row('Held number 499').getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Select all 500 that match' }).click();
    await page.getByText('All 500 that match', { exact: true }).waitFor();

    const bulk = page.getByRole('region', { name: 'Bulk action' });
    const selection = page.getByRole('region', { name: 'Selection' });
    await selection.getByRole('button', { name: 'Discard' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('They are not submitted').waitFor();
    await dialog.getByText('Applies to all messages that are held, up to now').waitFor();
    await dialog.getByRole('button', { name: 'Discard 500 messages' }).click();
    await bulk.getByText('500 messages discarded.').waitFor();
    await row('Discarded').first().waitFor();
    // The index follows the spool.
    const inAll = (state: string, wanted: number): Promise<true> =>
      waitFor(
        `${wanted} to be ${state}`,
        async () => {
          const url = `${desk.gateway.adminUrl}/api/entries?state=${state}&count=1&limit=1`;
          const answer = await context.request.get(url);
          const { total } = (await answer.json()) as { total: { count: number } };
          return total.count === wanted;
        },
        200,
      );
    await inAll('discarded', MANY);

    // Whoever loads the page again still has the way back.
    await page.reload();
    await bulk.getByText('500 messages discarded.').waitFor();
    await bulk.getByRole('button', { name: 'Undo' }).click();
    await bulk.getByText('500 messages restored.').waitFor();
    await inAll('held', MANY);
    await bulk.getByRole('button', { name: 'Dismiss' }).click();
    await page.reload();
    await page.getByText('500 messages', { exact: true }).waitFor();
    expect(await bulk.count()).toBe(0);

    // Words that begin so: 49 and 490 to 499.
    await open('/messages?state=held&state=discarded&text=number+49');
    await row('Held number 499').getByRole('checkbox').click();
    await page.keyboard.press('d');
    await page.getByText('1 message discarded.').waitFor();
    await inAll('discarded', 1);
    await row('Held number 498').getByRole('checkbox').click();
    await page.getByRole('button', { name: /^Select all 11/ }).click();
    await selection.getByRole('button', { name: 'Release' }).click();
    await dialog.getByText('submitted without applying the rules again').waitFor();
    await dialog.getByRole('button', { name: 'Release 11 messages' }).click();
    await bulk.getByText('10 messages released; 1 message unchanged.').waitFor();
    await bulk.getByText('1 message: it is discarded').waitFor();
    await inAll('delivered', 10);
    expect(desk.platform.messages).toHaveLength(10);
    expect(faults).toEqual([]);
  });

  test('goes on while its operator is signed out, and is told to the end', async (desk) => {
    await desk.mail(
      ...Array.from({ length: 40 }, (_, n) => ({
        id: `left-${n}`,
        subject: `Left alone ${n}`,
        from: 'Ann <ann@example.com>, Bob <bob@example.com>',
      })),
    );
    const { page, open, context } = await desk.operator();
    await open('/messages?text=left+alone');
    await page.getByText('40 messages', { exact: true }).waitFor();
    // Those that came to the index meanwhile are counted as new, and not loaded.
    await open('/messages?text=left+alone');
    await page.getByText('40 messages', { exact: true }).waitFor();
    // Nothing tells of its end: neither the stream nor an answer.
    await context.route('**/api/actions/*', (route) => route.abort());
    await page.getByLabel('Select all loaded messages').click();
    const selection = page.getByRole('region', { name: 'Selection' });
    await selection.getByRole('button', { name: 'Discard' }).click();
    await page.route('**/api/stream', (route) => route.abort());
    await page.getByRole('dialog').getByRole('button', { name: 'Discard 40 messages' }).click();
    const bulk = page.getByRole('region', { name: 'Bulk action' });
    await bulk.waitFor();
    const url = desk.gateway.adminUrl;
    await context.request.post(`${url}/api/logout`, {
      headers: { 'x-sluice-console': '1', origin: url },
    });
    await context.unroute('**/api/actions/*');
    await page.unroute('**/api/stream');
    await signIn(page);
    await bulk.getByText('40 messages discarded.').waitFor();
  });

  test('picked ones: the dialog says which are left alone', async (desk) => {
    await desk.mail(...[1, 2, 3].map((n) => ({ id: `plain-${n}`, subject: `Plain ${n}` })));
    await desk.mail({
      id: 'again',
      subject: 'Held again',
      from: 'Ann <ann@example.com>, Bob <bob@example.com>',
    });
    const { page, open, row } = await desk.operator();
    await open('/messages?state=held&state=delivered');
    await row('Plain 1').waitFor();
    await row('Plain 2').waitFor();
    await row('Plain 3').waitFor();
    await row('Held again').filter({ hasText: 'Several senders' }).getByRole('checkbox').click();
    await row('')
      .nth(3)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await page.getByText('4 selected').waitFor();
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Not changed: 3 messages are delivered.').waitFor();
    // The next key belongs to the list again, even one that comes before the page is painted.
    await page.evaluate(`(async () => {
      const buttons = [...document.querySelectorAll('dialog[open] button')];
      buttons.find(({ textContent }) => textContent.trim() === 'Cancel').click();
      await new Promise((resolve) => setTimeout(resolve));
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    })()`);
    await page.getByText('4 selected').waitFor({ state: 'detached' });
  });
});
