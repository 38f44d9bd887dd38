import { expect } from '@jest/globals';
import { type Desk, describeDesk } from './desk.ts';

/** The platform refuses every message, in words of its own for each. */
function breakPlatform({ platform }: Desk): void {
  let refused = 0;
  platform.gate = (call, response) => {
    if (call !== 'POST /messages/') return undefined;
    refused += 1;
    response.writeHead(422, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ detail: `rule ${refused} says no` }));
    return Promise.resolve('taken');
  };
}
function repairPlatform({ platform }: Desk): void {
  platform.gate = () => undefined;
}

describeDesk('A failed message', (test) => {
  test('a dead one is understood, put right and retried until it is delivered', async (desk) => {
    breakPlatform(desk);
    await desk.mail({ id: 'dead', subject: 'A message that dies' });
    const { page, open, row, faults } = await desk.operator();
    await open('/messages?state=dead');
    await row('A message that dies').getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'A message that dies' }).waitFor();
    const state = page.getByRole('region', { name: 'State' });
    await state.getByText('The platform refused every form of this message').waitFor();
    await state.getByText(/^rule \d says no$/).waitFor();
    await state.getByText('The whole answer').click();
    await state.getByText(/the platform answered 422 .* says no/).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Attempt 1', { exact: true }).waitFor();
    await timeline.getByText(/the platform answered 422 \(validation failed\)/).waitFor();

    repairPlatform(desk);
    await state.getByRole('button', { name: 'Retry' }).click();
    await state.getByText('Delivered', { exact: true }).waitFor();
    await timeline.getByText('by operator').waitFor();
    await timeline.getByText('Attempt 2', { exact: true }).waitFor();
    await timeline.getByText('the platform answered 201 (created)').waitFor();
    expect(desk.platform.messages.map(({ content }) => content)).toEqual(['This is dead.']);
    expect(faults).toEqual([]);

    const id = page.url().split('/').at(-1) ?? '';
    await page.getByText(`sluice queue show ${id}`).waitFor();
    const facts = page.getByRole('region', { name: 'Details' });
    await facts.getByRole('link').first().click();
    await page.getByText('This is dead.').waitFor();
    await page.getByRole('link', { name: 'Show entry' }).click();
    await page.waitForURL(`**/messages/${id}`);
  });
});
