import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../../src/channels/email/normalize/shop-mail.ts';
import { createMessageRequestSchema } from '../../../../src/platform-api/schemas.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, shopSettings } from './jobs.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/email');
/** `UPDATE_FIXTURES=1` writes what comes out; read the difference before it is committed. */
const updating = process.env['UPDATE_FIXTURES'] === '1';
const messages = readdirSync(FOLDER).filter((name) => name.endsWith('.eml'));
const scratch = tempDir();
afterAll(() => scratch.remove());

describe('a message as the platform gets it', () => {
  test.each(messages)('%s', async (name) => {
    const bytes = readFileSync(join(FOLDER, name));
    const { verdict, request, files, notes } = await normalizeMessage(
      emailJob(bytes, scratch.path),
      {
        shop: compileShop(shopSettings),
        maxBufferBytes: Infinity,
        // The platform has sent <m1@acme.example> and knows nothing else.
        isKnown: (ids) => Promise.resolve(ids.includes('<m1@acme.example>')),
      },
    );
    const result = {
      verdict,
      request,
      attachments: files.map(({ name, type, size, part }) => ({ name, type, size, part })),
      notes,
    };

    expect(createMessageRequestSchema.safeParse(request).error).toBeUndefined();
    const expected = join(FOLDER, name.replace('.eml', '.json'));
    if (updating) writeFileSync(expected, `${JSON.stringify(result, null, 2)}\n`);
    expect(result).toEqual(JSON.parse(readFileSync(expected, 'utf8')));
  });
});
