import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  type BodyOptions,
  decodeHtml,
  readBody,
  readHtml,
  readPlain,
} from '../../../../src/channels/email/normalize/body/body-content.ts';
import {
  type HtmlElement,
  parseHtml,
} from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { type Leaf, readParts } from '../../../../src/channels/email/normalize/parts/read-parts.ts';
import {
  bareText,
  type Line,
  textLines,
} from '../../../../src/channels/email/normalize/quotes/lines.ts';
import {
  attributionVerbs,
  dayNames,
} from '../../../../src/channels/email/normalize/quotes/markers/attributions.ts';
import {
  deviceLines,
  wholeLines,
} from '../../../../src/channels/email/normalize/quotes/markers/devices.ts';
import {
  ABOVE_THIS_LINE,
  forwardTitles,
  fromLabels,
  originalTitles,
  otherLabels,
} from '../../../../src/channels/email/normalize/quotes/markers/titles.ts';
import { folded } from '../../../../src/channels/email/normalize/quotes/words.ts';
import { mutateMail, readMailSeeds } from '../../../support/mail-mutations.ts';
import { checkMail } from '../../../support/mime/check-mail.ts';
import { runCount } from '../../../support/run-count.ts';
import { tempDir } from '../../../support/temp-dir.ts';

/** Mutations of the fixtures; the same on each run. */
const MUTANTS = runCount(2000);
const scratch = tempDir();
afterAll(() => scratch.remove());

const seeds = readMailSeeds();

interface Mail {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Every fixture as it is, and mutations of them. */
function* corpus(): Iterable<Mail> {
  for (const { name, text } of seeds) yield { name, bytes: Buffer.from(text, 'latin1') };
  for (let seed = 1; seed <= MUTANTS; seed += 1) {
    const { recipe, bytes } = mutateMail(seeds, seed);
    yield { name: `${seed}: ${recipe}`, bytes };
  }
}

async function textLeaves({ bytes }: Mail): Promise<readonly Leaf[]> {
  const { leaves } = await readParts(bytes, new ScratchFolder(join(scratch.path, 'parts')));
  return leaves.filter(({ contentType }) => /^text\/(?:plain|html)$/.test(contentType));
}

const options = (trim: boolean): BodyOptions => ({
  mode: 'auto',
  trim,
  hasInlineImages: false,
  inlineImage: () => undefined,
});

function contentOf(leaf: Leaf, trim: boolean): string {
  const isHtml = leaf.contentType === 'text/html';
  const forms = { plain: isHtml ? [] : [leaf], html: isHtml ? [leaf] : [] };
  return readBody([forms], options(trim)).text;
}

describe('the new text of a message', () => {
  function linesOf(leaf: Leaf): readonly Line[] {
    if (leaf.contentType === 'text/plain') return textLines(readPlain(leaf).text);
    const { tree } = readHtml(decodeHtml(leaf));
    return renderHtml(tree, { format: 'MARKDOWN', inlineImage: () => undefined });
  }

  /**
   * The paragraphs before the first one with a line that the tables of markers know: a much wider net
   * than the rules that cut.
   */
  function newText(lines: readonly Line[]): string {
    const first = lines.findIndex(mayBeMarker);
    let end = first === -1 ? lines.length : first;
    while (first !== -1 && end > 0 && lines[end]?.text.trim() !== '') end -= 1;
    return lines
      .slice(0, end)
      .map(({ text }) => text)
      .join('\n');
  }

  function mayBeMarker(line: Line): boolean {
    if (line.mark !== undefined) return true;
    const text = bareText(line);
    const said = folded(text);
    if (/^\W{0,3}>|^--?$|^[-_=*~—–]{2}/.test(text) || isWholeLine(said)) return true;
    const words = said.split(/[^\p{L}\p{M}\p{N}'()/-]+/u);
    const label = /^[^\p{L}\p{N}]{0,10}([^:：]{1,30}?)\s?[:：]/u.exec(said)?.[1];
    return (
      (label !== undefined && (fromLabels.has(label) || otherLabels.has(label))) ||
      (dayNames.has(words[0] ?? '') && /\d/.test(said)) ||
      /^\d{4}[-/.]\d/.test(said) ||
      (/\d[:.]\d\d|[:：]$/.test(said) && attributionVerbs.some((verb) => said.includes(verb))) ||
      /\S@\S/.test(said) ||
      [...originalTitles, ...forwardTitles, ...ABOVE_THIS_LINE].some((title) =>
        said.includes(title),
      ) ||
      deviceLines.some(({ before, after }) => said.includes(before) && said.includes(after))
    );
  }

  const isWholeLine = (said: string) => wholeLines.has(said.replaceAll(/^[<([]+|[>)\]]+$/g, ''));

  const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]{3,}/gu) ?? [];

  test('is never cut, of any fixture or mutation', async () => {
    const cut: string[] = [];
    let checked = 0;
    for (const mail of corpus()) {
      for (const leaf of await textLeaves(mail)) {
        const words = wordsOf(newText(linesOf(leaf)));
        const kept = new Set(wordsOf(contentOf(leaf, true)));
        const missing = words.filter((word) => !kept.has(word));
        if (missing.length > 0) cut.push(`${mail.name}: ${missing.slice(0, 10).join(' ')}`);
        checked += words.length;
      }
    }
    expect(cut).toEqual([]);
    expect(checked).toBeGreaterThan(10 * seeds.length);
  });
});

describe('the address of a link', () => {
  /** The addresses on the web of the links that show words. */
  function visibleLinks(leaf: Leaf): readonly string[] {
    const root = parseHtml(decodeHtml(leaf).text);
    const links: string[] = [];
    const visit = (element: HtmlElement, isInLink: boolean): void => {
      const { href = '' } = element.attributes;
      const isLink = element.name === 'a' && /^https?:\/\/\S+$/i.test(href.trim());
      // What is within a link belongs to it.
      if (isLink && !isInLink && said(element) !== '') links.push(href.trim());
      for (const child of element.children) {
        if (typeof child !== 'string') visit(child, isInLink || isLink);
      }
    };
    if (root !== undefined) visit(root, false);
    return links;
  }

  const said = ({ children }: HtmlElement): string =>
    children
      .map((child) => (typeof child === 'string' ? child : said(child)))
      .join('')
      .trim();

  /** The address as it is shown where the words of the link say it, without what nobody sees. */
  const bare = (url: string) =>
    visible(url)
      .replace(/^https?:\/\/(?:www\.)?/i, '')
      .replace(/\/$/, '');
  const visible = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '');

  test('is never lost, of any fixture or mutation', async () => {
    const lost: string[] = [];
    let links = 0;
    for (const mail of corpus()) {
      for (const leaf of await textLeaves(mail)) {
        if (leaf.contentType !== 'text/html') continue;
        const shown = visible(contentOf(leaf, false))
          .replaceAll('%28', '(')
          .replaceAll('%29', ')')
          .replaceAll('\\', '');
        for (const url of visibleLinks(leaf)) {
          links += 1;
          const isReplaced = url.includes('safelinks.protection.outlook.com');
          if (!isReplaced && !shown.includes(bare(url))) lost.push(`${mail.name}: ${url}`);
        }
      }
    }
    expect(lost).toEqual([]);
    expect(links).toBeGreaterThan(30);
  });
});

test('each leaf that another parser finds in a fixture is in the payload or in the notes', async () => {
  const lost: string[] = [];
  for (const { name, text } of seeds) {
    const bytes = Buffer.from(text, 'latin1');
    const check = await checkMail({ bytes }, scratch.path, 'memory');
    const found = [...check.lost, ...check.unexplained];
    if (found.length > 0) lost.push(`${name}: ${found.join('\n')}`);
  }
  expect(lost).toEqual([]);
});
