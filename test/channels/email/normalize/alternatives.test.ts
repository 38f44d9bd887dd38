import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readBody } from '../../../../src/channels/email/normalize/body/body-content.ts';
import { sortParts } from '../../../../src/channels/email/normalize/parts/body-parts.ts';
import { readParts } from '../../../../src/channels/email/normalize/parts/read-parts.ts';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { fixtureNames } from './fixture-messages.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/email');
/** Their two forms do not say the same; of a reaction only the emoji is read. */
const DIFFERENT = new Set([
  ...['newsletter-stub-plain', 'outlook-plain-cid', 'zendesk-agent-reply'],
  ...['reaction-gmail', 'reaction-outlook-picture'],
]);
const scratch = tempDir();
afterAll(() => scratch.remove());

const bytesOf = (name: string) => readFileSync(join(FOLDER, `${name}.eml`));
const replies = fixtureNames().filter(
  (name) => !DIFFERENT.has(name) && /^in-reply-to:/im.test(bytesOf(name).toString('latin1')),
);

/** Without markup and white space. */
const words = (text: string) => text.replace(/[\s*\\]+/g, ' ').trim();

describe('the HTML form of a reply comes to what its plain form comes to', () => {
  test.each(replies)('%s', async (name) => {
    const { root, leaves } = await readParts(
      bytesOf(name),
      new ScratchFolder(join(scratch.path, name)),
    );
    const { alternatives } = sortParts(root, leaves);
    const inlineImage = () => undefined;
    const read = (parts: typeof alternatives) =>
      words(
        readBody(parts, { mode: 'auto', trim: true, inlineImage, hasInlineImages: false }).text,
      );

    const onlyHtml = alternatives.map(({ plain, html }) =>
      html.length > 0 ? { plain: [], html } : { plain, html },
    );
    expect(read(onlyHtml)).toBe(read(alternatives));
  });
});
