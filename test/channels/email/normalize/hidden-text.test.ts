import { describe, expect, test } from '@jest/globals';
import {
  type HtmlElement,
  parseHtml,
} from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { MAILS, seenWords, UNSEEN, WAYS, WORD, wordsIn } from './hidden-ways.ts';

const treeOf = (html: string): HtmlElement => {
  const tree = parseHtml(html);
  if (tree === undefined) throw new Error('too deep');
  return tree;
};
const textOf = ({ children }: HtmlElement): string =>
  children.map((child) => (typeof child === 'string' ? child : textOf(child))).join(' ');
const read = (html: string) =>
  renderHtml(treeOf(html), { format: 'TEXT', inlineImage: () => undefined })
    .map(({ text }) => text)
    .join('\n');

describe('a hidden word goes, and one that is seen or in doubt stays', () => {
  test.each(WAYS.map(({ title, html, word }) => [title, word, html] as const))(
    '%s: %s',
    (_, word, html) => {
      expect(read(`a ${html} z`).includes(WORD) ? 'stays' : 'goes').toBe(word);
    },
  );
});

test('a table inherits the size and color of its text where the mail has a doctype', () => {
  const html = (style: string) =>
    `<!doctype html><div style="${style}"><table><tr><td>${WORD}</td></tr></table></div>`;
  expect(read(html('font-size:0'))).toBe('');
  expect(read(html('color:transparent'))).toBe('');
  expect(read(html('font-size:14px'))).toBe(WORD);
});

describe('no word of a harmless mail is lost, and its hidden words are', () => {
  test('of 50 and more, ten of them of full size', () => {
    expect(MAILS.length).toBeGreaterThanOrEqual(50);
    expect(MAILS.filter(({ html }) => html.length > 8000).length).toBeGreaterThanOrEqual(10);
  });

  test.each(MAILS)('$name', ({ html }) => {
    const words = wordsIn(textOf(treeOf(html))).filter((word) => word !== '[x]');
    expect(words).toEqual(seenWords(html));
  });

  test.each(MAILS)('$name as plain text', ({ html }) => {
    const content = wordsIn(read(html)).join('');
    let at = 0;
    const missing = seenWords(html).filter((word) => {
      const found = content.indexOf(word, at);
      if (found !== -1) at = found + word.length;
      return found === -1;
    });
    expect(missing).toEqual([]);
    expect(content).not.toContain(UNSEEN);
  });
});

const LENGTH = 200_000;
const filled = (start: string, filler: string, end = '') =>
  `${start}${filler.repeat((LENGTH - start.length - end.length) / filler.length)}${end}`;
const numbered = (item: (n: number) => string) => {
  const items: string[] = [];
  for (let length = 0; length < LENGTH; length += items.at(-1)?.length ?? 0) {
    items.push(item(items.length));
  }
  return items.join('');
};
/** A sheet and elements, half of the length each. */
const halves = (rule: (n: number) => string, element: (n: number) => string) =>
  `<style>${numbered(rule).slice(0, LENGTH / 2)}</style>${numbered(element).slice(0, LENGTH / 2)}`;

/** Each is quadratic, or worse, in a careless reader of CSS. */
describe('a style sheet of 200 KB is read within a second', () => {
  const properties = 'opacity:1;zoom:1;clip:auto;color:red;margin:0;padding:0;overflow:visible;';
  test.each<[string, string]>([
    [
      'rules for one class, and elements of it',
      halves(
        () => '.a{color:red}',
        () => '<b class=a>x',
      ),
    ],
    [
      'rules for an element',
      halves(
        () => 'b{opacity:1}',
        () => '<b>x</b>',
      ),
    ],
    [
      'rules for every element',
      halves(
        () => '*{opacity:1}',
        () => '<b>x</b>',
      ),
    ],
    [
      'rules for other classes',
      halves(
        (n) => `.a${n}{opacity:1}`,
        (n) => `<b class=a${n}>x</b>`,
      ),
    ],
    ['one rule for many classes', `<style>${numbered((n) => `.a${n},`)}x{${properties}}</style>`],
    [
      'many classes of an element',
      `<style>.a{${properties}}</style>${filled('<b class="', 'a ', '">x')}`,
    ],
    [
      'a class of many rules and properties',
      halves(
        (n) => `.a${n % 100}{${properties}}`,
        (n) => `<b class="a${n % 100} a${(n * 7) % 100}">x</b>`,
      ),
    ],
    ['a selector of descendants', filled('<style>', 'a ', '{color:red}</style><a>x</a>')],
    ['selectors of children', filled('<style>', 'a>', '{color:red}</style><a>x</a>')],
    ['ids of a selector', filled('<style>', '#a', '{color:red}</style><a>x</a>')],
    ['blocks that never end', filled('<style>', 'a{')],
    ['brackets that never end', filled('<style>', '([')],
    ['brackets that never began', filled('<style>', ')]}')],
    ['comments that never end', filled('<style>', '/*')],
    ['strings that never end', filled('<style>', '"\\')],
    ['quotes of both kinds', filled('<style>', `"'`)],
    ['addresses that never end', filled('<style>', 'url(')],
    ['an address of spaces', filled('<style>url(', ' ')],
    ['escapes', filled('<style>', '\\')],
    ['hexadecimal escapes', filled('<style>', '\\6 ')],
    ['at-rules', filled('<style>', '@a;')],
    ['semicolons behind spaces', `<style>${' '.repeat(LENGTH / 2)}${';'.repeat(LENGTH / 2)}`],
    ['exclamation marks', filled('<p style="display:none', '!', '">x')],
    ['one long value', filled('<style>a{transform:', 'scale(1) ', '}</style><a>x</a><a>y</a>')],
    [
      'a long value of a class',
      `<style>.a{clip-path:polygon(${'0 0,'.repeat(25_000)}0 0)}</style>${'<b class=a>x</b>'.repeat(6000)}`,
    ],
    ['a number of digits', filled('<p style="opacity:', '1', 'x">x')],
    ['a number of points', filled('<p style="opacity:', '.', '">x')],
    ['calculations', filled('<p style="opacity:', 'calc(', '">x')],
    ['colors of spaces', numbered((n) => `<b style="color:rgb(${n}  ,  0${' '.repeat(30)}">x</b>`)],
    ['spaces in a value', filled('<p style="margin:1px', ' ', '1px">x')],
    ['declarations', filled('<p style="', 'font:0/0 a;', '">x')],
    ['styles that differ', numbered((n) => `<b style="font:${n}px/0 a;color:#${n}">x</b>`)],
    ['closed details', filled('', '<details><summary>x</summary>')],
    ['sheets', filled('', '<style>.a{display:none}</style>')],
    ['format characters', filled('', '\u{e0061}\u2062\u061c')],
    ['blanks of Braille', filled('', `${'\u2800'.repeat(5)}\u2801`)],
  ])('%s', async (_, html) => {
    await withinProcessorTime(3000, () => parseHtml(html));
  });
});

/** A browser moves elements, opens them again, or searches those that are open. */
describe('a document of 200 KB is parsed within three seconds, also on a busy machine', () => {
  test.each([
    ['tables', filled('', '<table>')],
    ['text in a table', filled('<table>', 'x<br>')],
    ['paragraphs in a table', filled('<table>', '<p>x')],
    ['rows in emphasis in a table', filled('<table>', '<b><tr>')],
    ['tables in moved paragraphs', filled('<table>', '<p>x<table>')],
    ['emphasis', filled('', '<b>')],
    ['emphasis and paragraphs', filled('', '<b><p>')],
    ['emphasis and misnested ends', filled('', '<a><b><i><p></a></b></i>')],
    ['emphasis that differs', numbered((n) => `<b id=${n}>`)],
    ['emphasis that differs and is opened again', numbered((n) => `<p><b id=${n}>x</p>`)],
    ['ends of emphasis below blocks', filled(`<b>${'<div>'.repeat(20_000)}`, '</b>')],
    ['ends of what is not open', filled('<span>'.repeat(15_000), '</i>')],
    ['ends of paragraphs below', filled('<span>'.repeat(15_000), '</p>')],
    ['one emphasis around many breaks', filled('<b><p>', 'x<br>', '</b>'.repeat(100))],
    ['links', filled('', '<a href=x>x')],
    ['links and blocks', numbered((n) => `<a href=${n}><div>`)],
    ['links that rows end', filled('<table>', '<a href=x><tr>')],
    ['lists', filled('', '<ul><li>')],
    ['templates', filled('', '<template>')],
    ['pictures', filled('', '<svg><foreignObject>')],
    ['pictures that paragraphs end', filled('', '<svg><p>')],
    ['attributes of the body', numbered((n) => `<body a${n}=1>`)],
    ['attributes', `<p ${numbered((n) => `a${n} `)}>`],
    ['comments', filled('', '<!-- --!>')],
  ])('%s', async (_, html) => {
    await withinProcessorTime(3000, () => parseHtml(html));
  });
});
