import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { normalizeMessage } from '../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../src/channels/email/shop.ts';
import { emailJob, shopSettings } from '../channels/email/normalize/jobs.ts';
import { tempDir } from '../support/temp-dir.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/email-reading.md'), 'utf8');
const EXAMPLE = /^```eml\n([^]*?)^```\n\n```text\n([^]*?)^```$/gm;
const scratch = tempDir();
afterAll(() => scratch.remove());

const examples = [...PAGE.matchAll(EXAMPLE)].map(
  ([, message = '', content = '']) => [message, content] as const,
);

test('every example has a message and its content', () => {
  expect(examples).toHaveLength([...PAGE.matchAll(/^```eml$/gm)].length);
});

test.each(examples)('%j', async (message, content) => {
  const lines = ['From: Ann <ann@customer.example>', 'To: support@acme.example', message];
  const bytes = Buffer.from(lines.join('\n').replaceAll('\n', '\r\n'));
  const { request } = await normalizeMessage(emailJob(bytes, scratch.path), {
    shop: compileShop(shopSettings),
    maxBufferBytes: Infinity,
    isKnown: (ids) => Promise.resolve(ids.includes('<m1@acme.example>')),
  });
  // The page cannot show the two spaces of Markdown's line break.
  expect(`${request.message.content.replaceAll(/ +$/gm, '')}\n`).toBe(content);
});
