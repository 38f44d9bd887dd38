import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import {
  decodeHtml,
  readBody,
} from '../../../../src/channels/email/normalize/body/body-content.ts';
import {
  type HtmlElement,
  parseHtml,
} from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { type Leaf, readParts } from '../../../../src/channels/email/normalize/parts/read-parts.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { fixtureNames } from './fixture-messages.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/email');
const scratch = tempDir();
afterAll(() => scratch.remove());

/** The addresses on the web of the links that show words. */
function visibleLinks(leaf: Leaf): readonly string[] {
  const root = parseHtml(decodeHtml(leaf).text);
  const links: string[] = [];
  const visit = (element: HtmlElement, isInLink: boolean): void => {
    const { href = '' } = element.attributes;
    const isLink = element.name === 'a' && /^https?:\/\/\S+$/i.test(href.trim());
    // What is within a link belongs to it.
    if (isLink && !isInLink && wordsOf(element) !== '') links.push(href.trim());
    for (const child of element.children) {
      if (typeof child !== 'string') visit(child, isInLink || isLink);
    }
  };
  if (root !== undefined) visit(root, false);
  return links;
}

const wordsOf = ({ children }: HtmlElement): string =>
  children
    .map((child) => (typeof child === 'string' ? child : wordsOf(child)))
    .join('')
    .trim();

/** The address as it is shown where the words of the link say it. */
const bare = (url: string) => url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '');

test('no address of a visible link of any fixture is lost', async () => {
  const lost: string[] = [];
  let links = 0;
  for (const name of fixtureNames()) {
    const bytes = readFileSync(join(FOLDER, `${name}.eml`));
    const { leaves } = await readParts(bytes, new ScratchFolder(join(scratch.path, name)));
    for (const leaf of leaves.filter(({ contentType }) => contentType === 'text/html')) {
      const { text } = readBody([{ plain: [], html: [leaf] }], {
        ...{ mode: 'auto', trim: false, hasInlineImages: false },
        inlineImage: () => undefined,
      });
      const shown = text.replaceAll('%28', '(').replaceAll('%29', ')').replaceAll('\\', '');
      for (const url of visibleLinks(leaf)) {
        links += 1;
        const isReplaced = url.includes('safelinks.protection.outlook.com');
        if (!isReplaced && !shown.includes(bare(url))) lost.push(`${name}: ${url}`);
      }
    }
  }
  expect(lost).toEqual([]);
  expect(links).toBeGreaterThan(20);
});
