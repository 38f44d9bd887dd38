import { describe, expect, test } from '@jest/globals';
import { parseHtml } from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { MAILS, UNSEEN, WAYS, WORD, wordsOf } from './hidden-ways.ts';

const read = (html: string) => {
  const tree = parseHtml(html);
  if (tree === undefined) throw new Error('too deep');
  return renderHtml(tree, { format: 'TEXT', inlineImage: () => undefined })
    .map(({ text }) => text)
    .join('\n');
};

describe('a hidden word goes, and one that is seen or in doubt stays', () => {
  test.each(WAYS.map(({ title, html, word }) => [title, word, html] as const))(
    '%s: %s',
    (_, word, html) => {
      expect(read(`a ${html} z`).includes(WORD) ? 'stays' : 'goes').toBe(word);
    },
  );
});

describe('no word of a harmless mail is lost, and its hidden words are', () => {
  test('of 40 and more', () => {
    expect(MAILS.length).toBeGreaterThanOrEqual(40);
  });

  test.each(MAILS)('$name', ({ html }) => {
    const content = read(html);
    const words = wordsOf(html);
    expect(words.length).toBeGreaterThan(0);
    expect(words.filter((word) => content.includes(word) === UNSEEN.test(word))).toEqual([]);
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
    await withinProcessorTime(1000, () => parseHtml(html));
  });
});
