import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { htmlOf } from '../../../src/local-platform/outbound/email.ts';
import { withoutMarkup } from '../../../src/local-platform/plain-text.ts';
import { runCount } from '../../support/run-count.ts';

const body = (markdown: string) =>
  htmlOf(markdown).replace(/^<!DOCTYPE html>\n<html><body>\n|\n?<\/body><\/html>\n$/g, '');

describe('the HTML part', () => {
  test.each<[string, string, string]>([
    [
      'paragraphs and line breaks',
      'Hello Ann,\n\none\ntwo',
      '<p>Hello Ann,</p>\n<p>one<br>\ntwo</p>',
    ],
    [
      'emphasis',
      '**both** and *one* and __two__ and _it_',
      '<p><strong>both</strong> and <em>one</em> and <strong>two</strong> and <em>it</em></p>',
    ],
    ['no emphasis within words', 'a_file_name and 2 * 3 * 4', '<p>a_file_name and 2 * 3 * 4</p>'],
    [
      'no image',
      '![pixel](https://a.example/p.png)',
      '<p>!<a href="https://a.example/p.png">pixel</a></p>',
    ],
    [
      'a link',
      '[our shop](https://acme.example/a?b=1&c=2)',
      '<p><a href="https://acme.example/a?b=1&amp;c=2">our shop</a></p>',
    ],
    [
      'a bare address at the end of a sentence',
      'See https://acme.example/a.',
      '<p>See <a href="https://acme.example/a">https://acme.example/a</a>.</p>',
    ],
    ['a script for a link', '[click](javascript:alert(1))', '<p>[click](javascript:alert(1))</p>'],
    ['a data URL for a link', '[click](data:text/html,x)', '<p>[click](data:text/html,x)</p>'],
    [
      'HTML',
      '<img src=x onerror=alert(1)><script>x</script>',
      '<p>&lt;img src=x onerror=alert(1)&gt;&lt;script&gt;x&lt;/script&gt;</p>',
    ],
    [
      'HTML in the words of a link',
      '[<b>x</b>](https://a.example)',
      '<p><a href="https://a.example">&lt;b&gt;x&lt;/b&gt;</a></p>',
    ],
    [
      'quotes in an address',
      '[x](https://a.example/"onmouseover="y)',
      '<p><a href="https://a.example/%22onmouseover=%22y">x</a></p>',
    ],
    [
      'a list',
      '- one\n- **two**\n  goes on\n\nafter',
      '<ul>\n<li>one</li>\n<li><strong>two</strong><br>\ngoes on</li>\n</ul>\n<p>after</p>',
    ],
    [
      'a list with numbers',
      '3. three\n4. four',
      '<ol start="3">\n<li>three</li>\n<li>four</li>\n</ol>',
    ],
    ['a heading', '## Returns\nWithin 30 days', '<h2>Returns</h2>\n<p>Within 30 days</p>'],
    [
      'a quote',
      '> said *so*\n> again',
      '<blockquote>\n<p>said <em>so</em><br>\nagain</p>\n</blockquote>',
    ],
    [
      'code',
      'use `a<b`:\n```\n<x> **y**\n```\nend',
      '<p>use <code>a&lt;b</code>:</p>\n<pre><code>&lt;x&gt; **y**\n</code></pre>\n<p>end</p>',
    ],
    ['code without an end', '```\nx', '<pre><code>x</code></pre>'],
    ['a rule', 'a\n\n---\nb', '<p>a</p>\n<hr>\n<p>b</p>'],
  ])('has %s', (_title, markdown, expected) => expect(body(markdown)).toBe(expected));

  test('has only allowed tags and addresses, whatever the agent writes', () => {
    const tags = /<(?!\/?(?:p|br|strong|em|code|pre|ul|ol|li|blockquote|h[1-6]|hr|s|a)\b)/;
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom(
              '<',
              '>',
              '"',
              "'",
              '[',
              '](',
              ')',
              '*',
              '_',
              '`',
              '```',
              '\n',
              '- ',
              '> ',
            ),
            fc.constantFrom('javascript:', 'https://a.example/', '<script>', 'onclick=', '&lt;'),
            fc.string({ maxLength: 5 }),
          ),
          { maxLength: 30 },
        ),
        (pieces) => {
          const html = body(pieces.join(''));
          expect(html).not.toMatch(tags);
          for (const [, attributes = ''] of html.matchAll(/<[a-z0-9]+([^>]*)>/g)) {
            expect(attributes).toMatch(
              /^(?: href="(?:(?:https?|mailto|tel):[^"<>]*)?"(?: title="[^"<>]*")?| start="\d+"| class="language-[^"<>]*")?$/,
            );
          }
        },
      ),
      // A link to nowhere is a link (CommonMark 0.31.2 §6.3).
      { numRuns: runCount(500), examples: [[['[', '](', ')']]] },
    );
  });

  test.each(['*', '[', '`', '_ ', '**a', '[a](', '- ', '> ', '<https://', '```\n'])(
    '100,000 times %j take no time',
    (piece) => expect(htmlOf(piece.repeat(100_000 / piece.length))).toContain('</html>'),
  );
});

test.each<[string, string, string]>([
  ['links', '[our shop](https://acme.example)', 'our shop (https://acme.example)'],
  ['a link that is its own words', '[https://a.example](https://a.example)', 'https://a.example'],
  ['a mail link', '[help@a.example](mailto:help@a.example)', 'help@a.example'],
  ['emphasis', '**both** and *one*, 2*3*4, a_b_c', 'both and one, 2*3*4, a_b_c'],
  ['headings', '## Returns\ntext', 'Returns\ntext'],
  ['code', 'use `npm`\n```sh\nnpm start\n```', 'use npm\nnpm start'],
  ['lists', '- one\n- two', '- one\n- two'],
  [
    'a list in a list',
    '3. a\n\n   more\n4. b\n   - c\n     d',
    '3. a\n\n   more\n4. b\n   - c\n     d',
  ],
  ['a quote', '> said *so*\n> again\n\nyes', '> said so\n> again\n\nyes'],
  ['escapes', '1\\. a \\*b\\*', '1. a *b*'],
  ['emphasis over two lines', '**bold\nover lines** and ***x***', 'bold\nover lines and x'],
  ['what is struck out', '~~old~~ new', 'old new'],
  ['a product', '2*3*4 and 2 * 3', '2*3*4 and 2 * 3'],
  ['a table', '| a | b |\n|---|---|\n| 1 | **2** |', 'a | b\n1 | 2'],
  ['an underlined heading', 'Heading\n===\n\ntext', 'Heading\n\ntext'],
  ['a link with a title', '[x](https://a.example "title")', 'x (https://a.example)'],
  [
    'a link with parentheses',
    'see [a](https://a.example/A_(b))',
    'see a (https://a.example/A_(b))',
  ],
  ['a link elsewhere', '[t][1]\n\n[1]: https://a.example', 't (https://a.example)'],
  ['an address in brackets', '<https://a.example/ü>', 'https://a.example/ü'],
  ['a picture', '![logo](https://a.example/a.png)', 'logo (https://a.example/a.png)'],
  ['entities', '&amp; &lt;b&gt; <i>', '& <b> <i>'],
  ['code with marks in it', '`` a`b `` `**c**`', 'a`b **c**'],
  ['lines that are broken', 'a  \nb\\\nc\r\nd', 'a\nb\nc\nd'],
  ['nothing', '', ''],
])('the text part shows %s as words', (_title, markdown, expected) => {
  expect(withoutMarkup(markdown)).toBe(expected);
});

test('the text part of a very long answer is whole', () => {
  const text = withoutMarkup('**word** and more\n'.repeat(20_000));
  expect(text).toMatch(/^word and more\n/);
  expect(text.match(/and more/g)).toHaveLength(20_000);
});

test.each([
  '*',
  '[',
  '![',
  '`',
  '_ ',
  '**a',
  '[a](',
  '- ',
  '> ',
  '<https://',
  '```\n',
  '*a ',
  '| a ',
])('the text part of %j over and over takes no time', (piece) => {
  const start = performance.now();
  withoutMarkup(piece.repeat(200_000 / piece.length));
  expect(performance.now() - start).toBeLessThan(10_000);
});
