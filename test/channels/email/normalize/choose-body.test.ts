import { afterAll, describe, expect, test } from '@jest/globals';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop, type ShopMailSettings } from '../../../../src/channels/email/shop.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, shopSettings } from './jobs.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

async function contentOf(
  head: readonly string[],
  body: string,
  settings: Partial<ShopMailSettings>,
  known = false,
) {
  const lines = ['From: ann@customer.example', 'To: support@acme.example', ...head, '', body];
  const { request } = await normalizeMessage(
    emailJob(Buffer.from(lines.join('\r\n')), scratch.path),
    {
      shop: compileShop({ ...shopSettings, ...settings }),
      maxBufferBytes: Infinity,
      isKnown: () => Promise.resolve(known),
    },
  );
  const { content, format } = request.message;
  return { content, format };
}

/** 83 visible letters: 24 are less than 30 % of them, 25 are more. */
const HTML = `<p><b>Bold</b> ${'word '.repeat(19)}end</p>`;
const both = (plain: string, body: ShopMailSettings['body']) =>
  contentOf(
    ['Content-Type: multipart/alternative; boundary=b'],
    `--b\r\nContent-Type: text/plain\r\n\r\n${plain}\r\n--b\r\nContent-Type: text/html\r\n\r\n${HTML}\r\n--b--\r\n`,
    { body },
  );
const asMarkdown = `**Bold** ${'word '.repeat(19)}end`;
const asText = `Bold ${'word '.repeat(19)}end`;

describe('plain text is a stub, and the HTML is taken, when it', () => {
  test.each([
    ['is empty', ' '],
    ['says where to look', 'Trouble reading this? View it in your browser: https://x.example/1'],
    ['has under 30 % of the visible text', 'x'.repeat(24)],
  ])('%s', async (_, plain) => {
    expect(await both(plain, 'auto')).toEqual({ content: asMarkdown, format: 'MARKDOWN' });
    expect(await both(plain, 'text')).toEqual({ content: asText, format: 'TEXT' });
  });
});

test('plain text of 30 % or more of the visible text is what was written', async () => {
  expect(await both('x'.repeat(25), 'auto')).toEqual({ content: 'x'.repeat(25), format: 'TEXT' });
});

test('body: html takes the HTML whatever the plain text says', async () => {
  const { content, format } = await both(asText, 'html');
  expect(format).toBe('HTML');
  expect(content).toContain('<b>Bold</b>');
});

describe('quotes', () => {
  const reply = 'New.\r\n\r\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\r\n> Old.\r\n';
  const answer = 'In-Reply-To: <m1@mail.example>';
  test.each<[string, ShopMailSettings['quotes'], readonly string[], boolean, boolean]>([
    ['known: on an answer to what passed here', 'known', [answer], true, true],
    ['known: not on an answer to another system', 'known', [answer], false, false],
    ['known: not on a message that answers nothing', 'known', [], true, false],
    ['always: also on a message that answers nothing', 'always', [], false, true],
    ['never: not even on an answer to us', 'never', [answer], true, false],
    ['a forward stays whole', 'always', [answer, 'Subject: Fwd: Order'], true, false],
  ])('%s', async (_, quotes, head, known, trims) => {
    const { content } = await contentOf(head, reply, { quotes }, known);
    expect(content.includes('Old.')).toBe(!trims);
  });
});
