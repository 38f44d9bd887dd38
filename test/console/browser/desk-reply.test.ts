import { expect } from '@jest/globals';
import { INBOX } from '../../support/gateway-config.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeConsole } from './console-visit.ts';
import { answerField, aRelay, openFirst, PEOPLE, question, turn, write } from './desk-people.ts';

describeConsole('A person at the desk', (test) => {
  test('answers an email: the customer gets it in their thread, writes again, and it is completed', async (visit) => {
    const { relay, replies } = await aRelay();
    const { page, gateway } = await visit({ gateway: { replies, ...PEOPLE } });
    await page.goto(`${gateway.adminUrl}/platform?view=queue`);
    await page.getByRole('heading', { name: 'Nobody waits' }).waitFor();
    await question(gateway);
    const row = page.locator('.queue tbody tr');
    await row.filter({ hasText: 'A blue lamp' }).waitFor();
    expect(await row.textContent()).toMatch(/Ann.*Email.*nobody/s);
    await openFirst(page);
    await turn(page, 'May I speak to a human').waitFor();
    await turn(page, /passed this on to my colleagues/).waitFor();

    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('You took it').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('We have it in **blue**.');
    const marks = page.getByText('The marks of Markdown go out as they are typed');
    await marks.waitFor();
    await page.getByLabel('Format').selectOption('MARKDOWN');
    await marks.waitFor({ state: 'detached' });
    await page.locator('input[type=file]').setInputFiles({
      ...{ name: 'lamp.txt', mimeType: 'text/plain', buffer: Buffer.from('blue') },
    });
    await page.getByText('lamp.txt').waitFor();
    await answerField(page).press('Control+Enter');
    await turn(page, 'We have it in blue.').filter({ hasText: /sent/ }).waitFor();
    const sent = await waitFor('the mail', () =>
      relay.taken.find(({ mail }) => mail.text?.includes('blue')),
    );
    expect(sent.to).toEqual(['ann@customer.example']);
    expect(sent.from).toBe(INBOX);
    expect(sent.mail).toMatchObject({
      inReplyTo: '<q1@customer.example>',
      html: expect.stringContaining('<strong>blue</strong>'),
      attachments: [{ filename: 'lamp.txt', content: Buffer.from('blue') }],
    });
    await page.getByText('Waiting for customer').waitFor();
    expect(await answerField(page).inputValue()).toBe('');

    await write(gateway, {
      ...{ text: 'I take it!', messageId: '<q2@customer.example>' },
      inReplyTo: sent.mail.messageId ?? '',
    });
    await turn(page, 'I take it!').waitFor();
    await page.getByText('Waiting for team').waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('e');
    await page.getByText('You completed it').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Nobody waits' }).waitFor();
    // The agent said nothing besides.
    expect(relay.taken).toHaveLength(2);
  });
});
