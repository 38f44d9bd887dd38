import { afterAll, describe, expect, test } from '@jest/globals';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../../src/channels/email/shop.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, shopSettings } from './jobs.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

const read = (type: string, body: string, mode: 'auto' | 'html' = 'auto') =>
  normalizeMessage(
    emailJob(
      Buffer.from(
        `From: ann@customer.example\r\nIn-Reply-To: <m1@acme.example>\r\nContent-Type: ${type}\r\n\r\n${body}`,
      ),
      scratch.path,
    ),
    {
      shop: compileShop({ ...shopSettings, body: mode }),
      maxBufferBytes: Infinity,
      isKnown: () => Promise.resolve(true),
    },
  );
const ATTRIBUTION = 'On Sun, Jan 4, 2026 at 9:30 AM Acme <support@acme.example> wrote:';

describe('what was trimmed', () => {
  test('goes beside the content', async () => {
    const { request, trimmed, findings } = await read(
      'text/plain',
      `New.\r\n-- \r\nAnn\r\n\r\n${ATTRIBUTION}\r\n> Old.\r\n`,
    );
    expect(request.message.content).toBe('New.');
    expect(trimmed).toBe(`--\nAnn\n\n${ATTRIBUTION}\n> Old.`);
    expect(findings).toMatchObject({ trimmedLines: 4 });
  });

  test('is not there when nothing was', async () => {
    expect(await read('text/plain', 'New.')).not.toHaveProperty('trimmed');
  });

  test('is cut when it is long', async () => {
    const { trimmed } = await read(
      'text/plain',
      `New.\n\n${ATTRIBUTION}\n${'> Old.\n'.repeat(9000)}`,
    );
    expect(trimmed).toHaveLength(20_000);
  });

  test('of HTML that stays HTML is what the client marked', async () => {
    const marked = await read(
      'text/html',
      '<p>New.</p><div class="yahoo_quoted">Old.</div>',
      'html',
    );
    expect(marked.request.message.content).toBe('<p>New.</p>');
    expect(marked.trimmed).toBe('Old.');

    const rest = '<p>New.</p><div id="divRplyFwdMsg">From: X</div><p>Old.</p>';
    expect((await read('text/html', rest, 'html')).request.message.content).toBe('<p>New.</p>');

    const own = '<p>It says:</p><blockquote type="cite">ERROR 17</blockquote>';
    const quoted = `${own}<blockquote type="cite">${ATTRIBUTION.replace(/[<>]/g, '')}<br>Old.</blockquote>`;
    expect((await read('text/html', quoted, 'html')).request.message.content).toBe(
      '<p>It says:</p><blockquote>ERROR 17</blockquote>',
    );

    const bare = '<p>New.</p><p>-----Original Message-----</p><p>Old.</p>';
    const unmarked = await read('text/html', bare, 'html');
    expect(unmarked.request.message.content).toBe(bare);
    expect(unmarked).not.toHaveProperty('trimmed');
    expect(unmarked.findings).not.toHaveProperty('trimmedLines');
  });
});
