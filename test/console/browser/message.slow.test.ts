import { expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeDesk } from './desk.ts';

describeDesk('One message', (test) => {
  test('keys move between messages, and discard and restore one', async (desk) => {
    const held = (id: string) => ({
      id,
      subject: id,
      from: 'Ann <a@example.com>, Bob <b@example.com>',
    });
    await desk.mail(held('First of two'), held('Second of two'));
    const { page, open, row } = await desk.operator();
    await open('/messages?state=held');
    await row('Second of two').getByRole('link').click();
    const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
    await title('Second of two');
    await page.keyboard.press('j');
    await title('First of two');
    await page.keyboard.press('k');
    await title('Second of two');
    const state = page.getByRole('region', { name: 'State' });
    await page.keyboard.press('d');
    await state.getByText('Discarded', { exact: true }).waitFor();
    // The state may be shown before the answer that says how to undo it.
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.keyboard.press('u');
    await state.getByText('Held', { exact: true }).waitFor();
    // Not allowed for a held one.
    await page.keyboard.press('r');
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/messages\?state=held$/);
  });

  test('a bounce names the address that was not reached', async (desk) => {
    await desk.mail({
      id: 'bounce',
      subject: 'Undelivered Mail Returned to Sender',
      from: 'MAILER-DAEMON@mx.example.net',
      headers: [
        'MIME-Version: 1.0',
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      ],
      body: [
        '--b',
        'Content-Type: text/plain',
        '',
        'I could not deliver your message.',
        '--b',
        'Content-Type: message/delivery-status',
        '',
        'Reporting-MTA: dns; mx.example.net',
        '',
        'Final-Recipient: rfc822; gone@customer.example',
        'Action: failed',
        'Status: 5.1.1',
        '',
        '--b--',
      ].join('\r\n'),
    });
    const { page, open, row } = await desk.operator();
    await open('/messages?state=suppressed');
    await row('Undelivered Mail').getByRole('link').click();
    await page.getByText('Not reached', { exact: true }).waitFor();
    await page.getByText('gone@customer.example').first().waitFor();
    await open('/messages?text=gone@customer.example');
    await row('Email not delivered').waitFor();
  });

  test('a held one is discarded, and taken back by the toast', async (desk) => {
    await desk.mail({
      id: 'held',
      subject: 'Two authors',
      from: 'Ann <ann@example.com>, Bob <bob@example.com>',
    });
    const { page, open, row } = await desk.operator();
    await open('/messages?state=held');
    await row('Two authors').filter({ hasText: 'Several senders' }).getByRole('link').click();
    const state = page.getByRole('region', { name: 'State' });
    await state.getByText('A rule requires your decision').waitFor();
    await state.getByRole('button', { name: 'Discard' }).click();
    await state.getByText('Discarded', { exact: true }).waitFor();
    await state.getByText(/It can be restored until .*20\d\d/).waitFor();
    await state.getByRole('button', { name: 'Restore' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await state.getByText('Held', { exact: true }).waitFor();
    // A release may be followed by an attempt at once, so it asks.
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The AI agent will answer it.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await state.getByText('Held', { exact: true }).waitFor();
    await state.getByRole('button', { name: 'Release' }).click();
    await dialog.getByRole('button', { name: 'Release 1 message' }).click();
    await state.getByText('Delivered', { exact: true }).waitFor();
  });

  test('its content is hidden until it is asked for, and that is audited', async (desk) => {
    await desk.mail({ id: 'earlier', subject: 'Earlier' });
    await desk.mail({
      id: 'private',
      subject: 'Private matters',
      headers: [
        'In-Reply-To: <earlier@example.com>',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=b',
      ],
      body: [
        '--b',
        'Content-Type: text/plain; charset=utf-8',
        '',
        'My secret is a blue umbrella.',
        '',
        'On Mon, 4 May 2026 at 10:00, Support <support@acme.example> wrote:',
        '> This is an older answer.',
        '--b',
        'Content-Type: text/plain; name="notes.txt"',
        'Content-Disposition: attachment; filename="notes.txt"',
        '',
        'the notes',
        '--b--',
      ].join('\r\n'),
    });
    const { page, open, row, context } = await desk.operator();
    await open('/messages?text=private');
    await row('Delivered').getByRole('link').click();
    const content = page.getByRole('region', { name: 'Content' });
    await content.getByText('Opening it is recorded in the audit log').waitFor();
    expect(await page.getByText('blue umbrella').count()).toBe(0);
    await content.getByRole('button', { name: 'Show content' }).click();

    const received = content.getByRole('region', { name: 'Received' });
    const submitted = content.getByRole('region', { name: 'Submitted' });
    await received.getByText('blue umbrella').waitFor();
    await submitted.getByText('blue umbrella').waitFor();
    expect(await submitted.getByText('This is an older answer').count()).toBe(0);
    await content
      .getByRole('region', { name: 'Trimmed' })
      .getByText('This is an older answer')
      .waitFor();
    await received.getByRole('tab', { name: 'Raw' }).click();
    await received.getByText('Message-ID: <private@example.com>').waitFor();
    await submitted.getByRole('tab', { name: 'Fields' }).click();
    await submitted.getByText('message.remote_id').waitFor();
    await submitted.getByRole('tab', { name: 'JSON' }).click();
    await submitted.getByText('"direction": "inbound"').waitFor();

    const reading = content.getByRole('region', { name: 'How it is read' });
    await reading.getByRole('button', { name: 'Explain' }).click();
    await reading.getByText('the line before it says who wrote the quoted message').waitFor();
    await reading.getByText('notes.txt').waitFor();

    const downloading = page.waitForEvent('download');
    await content.getByRole('link', { name: 'Download notes.txt' }).click();
    expect((await downloading).suggestedFilename()).toBe('notes.txt');
    const original = page.waitForEvent('download');
    await content.getByRole('link', { name: /^Original/ }).click();
    expect((await original).suggestedFilename()).toMatch(/\.eml$/);

    const url = desk.gateway.adminUrl;
    const audit = await (await context.request.get(`${url}/api/audit?limit=10`)).text();
    expect(audit).toContain('"open"');
    expect(audit).toContain('"download"');
    expect(audit).not.toContain('umbrella');
  });

  test('tells what a rule decided and what was found out about the sender', async (desk) => {
    await desk.mail({
      id: 'auto',
      subject: 'Out of office',
      headers: ['Auto-Submitted: auto-replied'],
    });
    const { page, open, row } = await desk.operator();
    await open('/messages?text=office');
    await row('Automatic reply').getByRole('link').click();
    const state = page.getByRole('region', { name: 'State' });
    await state.getByText('An answer could start a mail loop').waitFor();
    await state.getByRole('button', { name: 'Submit anyway' }).waitFor();
    await page.getByRole('region', { name: 'Classification' }).getByText('Not submitted').waitFor();
    await page.getByRole('region', { name: 'Sender authentication' }).waitFor();
  });

  test('one that waits for its shop says so, and can be tried at once', async (desk) => {
    desk.platform.faults = ({ method, path }) =>
      method === 'POST' && path.endsWith('/messages/')
        ? { kind: 'status', status: 503, headers: { 'Retry-After': '600' } }
        : undefined;
    await desk.mail({ id: 'later', subject: 'A message for later' });
    const { page, open, row } = await desk.operator();
    await open('/messages?text=later');
    await row('Platform error (503)').getByRole('link').click();
    const state = page.getByRole('region', { name: 'State' });
    await state.getByText('Deliveries of its shop are stopped').waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('Queued for a retry').waitFor();
    desk.platform.faults = () => undefined;
    await state.getByRole('button', { name: 'Try now' }).click();
    await state.getByText('Delivered', { exact: true }).waitFor();
  });

  test('says so when there is no such message', async (desk) => {
    const { page, open } = await desk.operator();
    await open('/messages/01936f0a-7c1e-7d3a-9b52-000000000000');
    await page.getByRole('heading', { name: 'Message not found' }).waitFor();
    await page.getByRole('link', { name: 'All messages' }).click();
    await page.waitForURL('**/messages');
  });

  test('stands a hundred recipients, an endless subject, no subject and right to left', async (desk) => {
    const crowd = Array.from({ length: 100 }, (_, n) => `person${n}@crowd.example.com`).join(
      ',\r\n ',
    );
    await desk.mail(
      { id: 'crowd', subject: `Crowd ${'very long '.repeat(90)}`, headers: [`Cc: ${crowd}`] },
      { id: 'bare', subject: '', from: 'Bare <bare@example.com>', body: '' },
      {
        id: 'rtl',
        subject: `=?utf-8?B?${Buffer.from('أين طردي؟').toString('base64')}?=`,
        headers: ['Content-Type: text/plain; charset=utf-8'],
        body: 'مرحبا، أين طردي؟',
      },
    );
    for (const width of [360, 640, 1280]) {
      const { page, open, row, faults } = await desk.operator({ viewport: { width, height: 740 } });
      for (const text of ['crowd', 'bare', 'أين']) {
        await open(`/messages?text=${encodeURIComponent(text)}`);
        await row('Delivered').first().getByRole('link').click();
        await page
          .getByRole('region', { name: 'State' })
          .getByText('The platform has accepted it')
          .waitFor();
        await page.getByRole('button', { name: 'Show content' }).click();
        await page.getByRole('region', { name: 'Submitted' }).waitFor();
        const overflow = Number(
          await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
        );
        expect({ width, text, overflow: Math.max(0, overflow) }).toEqual({
          width,
          text,
          overflow: 0,
        });
      }
      expect(faults).toEqual([]);
    }
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing in a message (${colorScheme})`, async (desk) => {
      const { page, open, row, faults } = await desk.operator({ colorScheme });
      const id = `axe-${colorScheme}`;
      await desk.mail(
        { id, subject: `Plainly ${id}` },
        { id: `${id}-auto`, subject: `Away ${id}`, headers: ['Auto-Submitted: auto-replied'] },
        { id: `${id}-held`, subject: `Held ${id}`, from: 'a@x.example, b@x.example' },
      );
      for (const text of [`plainly`, `away`, `held`]) {
        await open(`/messages?text=${text}`);
        await row(colorScheme).first().getByRole('link').click();
        await page.getByRole('button', { name: 'Show content' }).click();
        await page.getByRole('region', { name: 'Received' }).getByRole('tab').first().waitFor();
        expect(await axeFindings(page)).toEqual([]);
      }
      await waitFor('no faults', () => faults.length === 0);
    });
  }
});
