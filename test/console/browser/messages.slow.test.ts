import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { describeDesk } from './desk.ts';
import { stock } from './stock.ts';

describeDesk('Messages', (test) => {
  test('says what to do while there are none', async (desk) => {
    const { page, open, faults } = await desk.operator();
    await open('/messages');
    await page.getByRole('heading', { name: 'No messages yet' }).waitFor();
    await page.getByRole('link', { name: 'Send a test message' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('shows a message of each channel as it arrives, and how it goes on', async (desk) => {
    const { open, row, faults } = await desk.operator();
    await open('/messages');
    await desk.mail({ id: 'live-mail', subject: 'Where is my parcel' });
    await row('Where is my parcel').filter({ hasText: 'Delivered' }).waitFor();
    await desk.sms('live-sms', { From: '+15550107711', Body: 'Hello' });
    await row('+15550107711').filter({ hasText: 'Delivered' }).waitFor();
    const visitor = await desk.chat();
    await visitor.send('Hello from the page');
    // As the platform's contact is called.
    await row('Visitor ').filter({ hasText: 'Delivered' }).waitFor();
    expect(faults).toEqual([]);
  });

  for (const hours of [-1, 1]) {
    test(`ages are right on a machine whose clock is off by ${hours} h`, async (desk) => {
      await desk.mail({ id: `clock${hours}`, subject: `By the clock ${hours}` });
      const { page, open, row } = await desk.operator();
      await page.clock.install({ time: Date.now() + hours * 3_600_000 });
      await page.clock.resume();
      await open('/messages?time=15m');
      await row(`By the clock ${hours}`)
        .filter({ hasText: /now|\b[1-5]?\d s ago|\b\d min ago/ })
        .waitFor();
      await page.locator('.status-dot.live:visible').waitFor();
    });
  }

  test('announces new ones and moves nothing while one reads further down', async (desk) => {
    await stock(desk);
    const { page, open, row } = await desk.operator();
    await open('/messages');
    await row('Parcel number').first().waitFor();
    await page.mouse.move(600, 600);
    await page.mouse.wheel(0, 1500);
    await page.waitForFunction('scrollY >= 1499');
    const first = page.locator('.entries-body .entry').first();
    const before = await first.boundingBox();
    const id = await first.getAttribute('data-id');
    await desk.mail({ id: 'while-reading', subject: 'While you read' });
    await page.getByRole('button', { name: /^1 new$/ }).waitFor();
    expect(await page.locator(`[data-id="${id ?? ''}"]`).boundingBox()).toEqual(before);
    await page.getByRole('button', { name: /^1 new$/ }).click();
    await row('While you read').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  test('finds as one types, by subject, address, number and id', async (desk) => {
    await stock(desk);
    await desk.sms('to-be-found', { From: '+15550104242', Body: 'x' });
    const { page, open, row } = await desk.operator();
    await open('/messages');
    const search = page.getByRole('searchbox', { name: 'Search messages' });
    await page.keyboard.press('/');
    await search.pressSequentially('umbr', { delay: 20 });
    await waitFor('only that one', async () => (await row('').count()) === 1);
    await row('Umbrella in grass green').waitFor();
    await waitFor('its address', () => new URL(page.url()).search === '?text=umbr');
    for (const text of ['zoe.quill@far.example', 'Quill']) {
      await search.fill(text);
      await row('Umbrella in grass green').waitFor();
      await waitFor(`one found by ${text}`, async () => (await row('').count()) === 1);
    }
    await search.fill('+15550104242');
    await row('+15550104242').waitFor();
    await waitFor('one found by number', async () => (await row('').count()) === 1);

    const id = (await row('+15550104242').getAttribute('data-id')) ?? '';
    await search.fill('nothing has this');
    await page.getByRole('heading', { name: 'No messages found' }).waitFor();
    await search.fill(id);
    await page.waitForURL(`**/messages/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Text from +15550104242' }).waitFor();
  });

  test('keeps filters in the address: shared, and taken back by Back', async (desk) => {
    await stock(desk);
    const { page, open, row, context } = await desk.operator();
    await open('/messages');
    await row('').first().waitFor();
    await page.getByRole('button', { name: 'Delivered', exact: true }).click();
    await page.waitForURL('**/messages?state=delivered');
    await page.getByLabel('Channel').selectOption('sms');
    await page.waitForURL('**/messages?channel=sms&state=delivered');
    await waitFor('texts only', async () => (await row('support@').count()) === 0);
    await row('+15550107711').first().waitFor();

    const other = await context.newPage();
    await other.goto(page.url());
    await other.locator('.entries-body .entry').first().waitFor();
    expect(await other.getByLabel('Channel').inputValue()).toBe('sms');
    await other.close();

    await page.goBack();
    await page.waitForURL('**/messages?state=delivered');
    await waitFor('every channel', async () => {
      return (await page.getByLabel('Channel').inputValue()) === '';
    });
    await row('Umbrella in grass green').waitFor();
    await page.goBack();
    expect(new URL(page.url()).search).toBe('');
  });

  test('is found as it was left when one comes back from a message', async (desk) => {
    await stock(desk);
    const { page, open, row } = await desk.operator();
    await open('/messages?text=parcel');
    await row('Parcel number').first().waitFor();
    await page.mouse.move(600, 600);
    await page.mouse.wheel(0, 1200);
    await page.waitForFunction('scrollY > 900');
    const target = page.locator('.entries-body .entry').nth(12);
    const text = (await target.locator('.subject').textContent()) ?? '';
    await target.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: text }).waitFor();
    const left = Number(await page.evaluate('history.state === null ? 0 : 1'));
    expect(left).toBe(0);
    await page.goBack();
    await row(text).waitFor();
    await page.waitForFunction('scrollY > 900');
    await page.getByRole('searchbox').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('parcel');
  });
});
