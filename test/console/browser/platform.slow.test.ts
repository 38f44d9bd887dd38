import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Desk, describeDesk } from './desk.ts';

/** One ticket of Ann's; what is there already is taken as the same once more. */
async function ticketOfAnn(desk: Desk): Promise<void> {
  await desk.mail({ id: 'ticket', subject: 'A lamp that flickers', body: 'It flickers at night.' });
  await hasTexts(desk, 'It flickers', 1);
}

const hasTexts = (desk: Desk, beginning: string, wanted: number): Promise<true> =>
  waitFor(
    `${wanted} messages at the platform`,
    () => {
      const found = desk.platform.messages.filter(({ content }) => content.startsWith(beginning));
      return found.length >= wanted;
    },
    50,
  );

describeDesk('Platform', (test) => {
  test('says so while there is nothing', async (desk) => {
    const { page, open } = await desk.operator();
    await open('/platform');
    await page.getByRole('heading', { name: 'No tickets yet' }).waitFor();
    await page.getByRole('link', { name: 'Contacts' }).click();
    await page.getByRole('heading', { name: 'No contacts yet' }).waitFor();
  });

  test('leads from a ticket to its conversation, its messages and back to the entry', async (desk) => {
    await ticketOfAnn(desk);
    const { page, open, faults } = await desk.operator();
    await open('/platform');
    await page.getByRole('link', { name: /lamp that flickers/ }).click();
    await page.locator('.turn').getByText('It flickers at night.').waitFor();
    await page.getByText('Customer', { exact: true }).waitFor();
    const ticket = page.getByRole('region', { name: /^Ticket \d+/ });
    await ticket.getByRole('link').first().click();
    await page.getByText('ann@example.com').first().waitFor();
    await page.getByRole('link', { name: 'Messages from this contact' }).click();
    await page
      .locator('.entries-body .entry')
      .filter({ hasText: 'A lamp that flickers' })
      .waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('link', { name: 'Show entry' }).click();
    await page.getByRole('heading', { level: 1, name: 'A lamp that flickers' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('finds tickets and conversations of a person', async (desk) => {
    await ticketOfAnn(desk);
    await desk.sms('person', { From: '+15550106262', Body: 'Hello of somebody else' });
    await hasTexts(desk, 'Hello of somebody else', 1);
    const { page, open, faults } = await desk.operator();
    await open('/platform?view=tickets&person=ann@example.com');
    await page.getByRole('link', { name: /lamp that flickers/ }).waitFor();
    expect(await page.locator('.table-frame tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByLabel('Email address, phone number or conversation id').fill('+15550106262');
    await page.keyboard.press('Enter');
    await waitFor('one conversation', async () => {
      return (await page.locator('.table-frame tbody tr').count()) === 1;
    });
    await page.getByText('SMS, started by the customer').waitFor();
    await open('/platform?view=conversations&person=nobody@example.com');
    await page.getByRole('heading', { name: 'No conversation found' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('finds a contact by address and by number', async (desk) => {
    await desk.sms('contact', { From: '+15550106161', Body: 'Hello from a phone' });
    await hasTexts(desk, 'Hello from a phone', 1);
    await ticketOfAnn(desk);
    const { page, open } = await desk.operator();
    await open('/platform?view=contacts');
    const search = page.getByLabel('Email address or phone number');
    await search.fill('+1 555 010 6161');
    await search.press('Enter');
    await page.waitForURL('**/platform?**phone=**');
    // The list of all is shown until this one has come.
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '+15550106161' }).last().waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await search.fill('Ann@Example.com');
    await search.press('Enter');
    await page.getByRole('cell', { name: 'ann@example.com' }).waitFor();
    await search.fill('nobody@example.com');
    await search.press('Enter');
    await page.getByRole('heading', { name: 'No contact found' }).waitFor();
  });

  test('pages through many tickets', async (desk) => {
    await desk.mail(
      ...Array.from({ length: 60 }, (_, n) => ({
        id: `page-${n}`,
        subject: `Ticket of page ${n}`,
        from: `Person <person${n}@example.com>`,
      })),
    );
    await hasTexts(desk, 'This is page-', 60);
    const { page, open } = await desk.operator();
    await open('/platform');
    await page.locator('tbody tr').nth(49).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.locator('tbody tr').nth(59).waitFor();
    await page.getByLabel('Created').selectOption('relative:-1d,');
    await page.waitForURL('**created_at__range**');
    await page.locator('tbody tr').nth(49).waitFor();
    await page.getByLabel('Find by').selectOption('conversation_id');
    await page.getByLabel('Conversation id').fill('00000000-0000-4000-8000-000000000000');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: 'No tickets found' }).waitFor();
  });

  test('a platform that does not answer is told from an empty one', async (desk) => {
    await ticketOfAnn(desk);
    desk.platform.faults = () => ({ kind: 'status', status: 500 });
    const { page, open } = await desk.operator();
    await open('/platform');
    await page.getByRole('heading', { name: 'Loading failed' }).waitFor();
    await page.getByText(/Platform error: .*500/).waitFor();
    await page.getByText('New messages are still accepted and stay queued').waitFor();
    desk.platform.faults = () => undefined;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('tbody tr').first().waitFor();
  });

  test('a connection that breaks once is not shown', async (desk) => {
    await ticketOfAnn(desk);
    let broken = 0;
    desk.platform.gate = (call, response) => {
      if (call !== 'GET /tickets/' || broken > 0) return;
      broken += 1;
      response.socket?.resetAndDestroy();
      return Promise.resolve('taken');
    };
    const { page, open } = await desk.operator();
    await open('/platform');
    await page.locator('tbody tr').first().waitFor();
    expect(broken).toBe(1);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing (${colorScheme})`, async (desk) => {
      await ticketOfAnn(desk);
      const { page, open } = await desk.operator({ colorScheme });
      await open('/platform');
      await page.locator('tbody tr').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.locator('.wide-cell a').first().click();
      await page.locator('.turn').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await open('/platform?view=conversations');
      await page.locator('.wide-cell a').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await open('/platform?view=contacts');
      await page.locator('.wide-cell a').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      for (const view of ['tickets', 'conversations', 'contacts']) {
        await open(`/platform?view=${view}`);
        await page.locator('.wide-cell a').first().waitFor();
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          360,
        );
        expect(await axeFindings(page)).toEqual([]);
      }
    });
  }
});
