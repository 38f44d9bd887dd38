import { describe, expect, test } from '@jest/globals';
import { parseMarkdown } from '../../src/widget/ui/rich/markdown.ts';
import { parsePlain, type RichNode } from '../../src/widget/ui/rich/plain.ts';

/** Nodes as a page would write them, to compare at a glance. */
const written = (nodes: readonly RichNode[]): string =>
  nodes
    .map((node) => {
      if (typeof node === 'string') return node;
      const { tag, children, href, start } = node;
      const attributes = `${href === undefined ? '' : ` ${href}`}${start === undefined ? '' : ` ${start}`}`;
      return tag === 'br' || tag === 'hr'
        ? `<${tag}>`
        : `<${tag}${attributes}>${written(children)}</${tag}>`;
    })
    .join('');

describe('Markdown', () => {
  const cases: readonly (readonly [label: string, markdown: string, expected: string])[] = [
    ['nothing', '', ''],
    [
      'a table',
      'Sizes:\n| Size | *Left* |\n|:-----|---:|\n| 42 | a \\| b |\n| 43 |\n\nThat is all.',
      '<p>Sizes:</p><table><tr><th>Size</th><th><i>Left</i></th></tr><tr><td>42</td><td>a | b</td></tr><tr><td>43</td></tr></table><p>That is all.</p>',
    ],
    [
      'a table without bars around it',
      'a | b\n--- | ---\n1 | 2',
      '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>',
    ],
    ['bars that are no table', 'a | b\nc | d', '<p>a | b<br>c | d</p>'],
    ['a rule below a bar', 'a | b\n\n---', '<p>a | b</p><hr>'],
    ['a paragraph', 'Hello', '<p>Hello</p>'],
    ['a line break as it is', 'one\ntwo', '<p>one<br>two</p>'],
    ['two paragraphs', 'one\n\n\ntwo', '<p>one</p><p>two</p>'],
    ['Windows line ends', 'one\r\n\r\ntwo', '<p>one</p><p>two</p>'],
    ['bold', '**a** and __b__', '<p><b>a</b> and <b>b</b></p>'],
    ['italic', '*a* and _b_', '<p><i>a</i> and <i>b</i></p>'],
    ['bold italic', '***both***', '<p><b><i>both</i></b></p>'],
    ['italic in bold', '**a *b* c**', '<p><b>a <i>b</i> c</b></p>'],
    ['strike', '~~gone~~', '<p><s>gone</s></p>'],
    ['names with underscores', 'snake_case_name', '<p>snake_case_name</p>'],
    ['a sum', '2 * 3 * 4', '<p>2 * 3 * 4</p>'],
    ['emphasis without an end', '**never closed', '<p>**never closed</p>'],
    ['emphasis that overlaps', '**a *b** c*', '<p><b>a *b</b> c*</p>'],
    ['an escaped sign', '\\*a\\*', '<p>*a*</p>'],
    ['an entity', 'a &amp; b &lt;c&gt; &unknown;', '<p>a & b <c> &unknown;</p>'],
    ['code', 'run `npm test` now', '<p>run <code>npm test</code> now</p>'],
    ['code with a backtick', '`` a ` b ``', '<p><code>a ` b</code></p>'],
    ['no emphasis in code', '`**a**`', '<p><code>**a**</code></p>'],
    ['a backtick alone', 'it` is', '<p>it` is</p>'],
    ['a link', '[a *b*](https://x.test/)', '<p><a https://x.test/>a <i>b</i></a></p>'],
    ['a link with a title', '[a](https://x.test/ "t")', '<p><a https://x.test/>a</a></p>'],
    ['a link with brackets', '[a](https://x.test/b_(c))', '<p><a https://x.test/b_(c)>a</a></p>'],
    ['a mail link', '[write](mailto:a@b.test)', '<p><a mailto:a@b.test>write</a></p>'],
    ['a telephone link', '[call](tel:+123)', '<p><a tel:+123>call</a></p>'],
    [
      'a picture as a link',
      '![cat](https://x.test/c.png)',
      '<p><a https://x.test/c.png>cat</a></p>',
    ],
    ['brackets that are no link', '[a] (b)', '<p>[a] (b)</p>'],
    ['an address', 'see https://x.test/a.', '<p>see <a https://x.test/a>https://x.test/a</a>.</p>'],
    [
      'an address in brackets',
      '(https://x.test/a)',
      '<p>(<a https://x.test/a>https://x.test/a</a>)</p>',
    ],
    ['an address in angles', '<https://x.test/>', '<p><a https://x.test/>https://x.test/</a></p>'],
    [
      'an address with emphasis signs',
      'https://x.test/a_b_c*d*',
      '<p><a https://x.test/a_b_c*d>https://x.test/a_b_c*d</a>*</p>',
    ],
    ['www', 'www.x.test', '<p><a https://www.x.test/>www.x.test</a></p>'],
    ['a mail address', 'to a.b@x.test!', '<p>to <a mailto:a.b@x.test>a.b@x.test</a>!</p>'],
    ['a heading', '## Title ##\ntext', '<h>Title</h><p>text</p>'],
    ['a hash tag', '#1 choice', '<p>#1 choice</p>'],
    ['a rule', 'a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
    ['a list', '- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['a list after a line', 'some:\n* a\n* b', '<p>some:</p><ul><li>a</li><li>b</li></ul>'],
    ['a list with air', '- a\n\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['an ordered list', '3. a\n4. b', '<ol 3><li>a</li><li>b</li></ol>'],
    ['a list in a list', '- a\n  - b\n- c', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
    ['numbers and signs apart', '1. a\n- b', '<ol 1><li>a</li></ol><ul><li>b</li></ul>'],
    ['a year that begins a line', 'in\n1986. What a year', '<p>in<br>1986. What a year</p>'],
    ['a quote', '> a\n> b\nc', '<blockquote><p>a<br>b</p></blockquote><p>c</p>'],
    ['a code block', '```js\nif (a < b) {\n  c();\n}\n```', '<pre>if (a < b) {\n  c();\n}</pre>'],
    ['a code block without an end', '```\na\nb', '<pre>a\nb</pre>'],
    ['a code block of tildes', '~~~\n```\n~~~', '<pre>```</pre>'],
    ['a code block in an item', '- a\n  ```\n  b\n  ```', '<ul><li>a<pre>b</pre></li></ul>'],
    ['a break tag', 'a<br>b<br/>c', '<p>a<br>b<br>c</p>'],
    ['other tags as text', '<b onclick=x>a</b>', '<p><b onclick=x>a</b></p>'],
  ];
  test.each(cases)('%s', (_label, markdown, expected) => {
    expect(written(parseMarkdown(markdown))).toBe(expected);
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:https://x.test/1',
    'file:///etc/passwd',
    '//x.test',
    '/path',
    '#top',
  ])('no link leads to %s', (address) => {
    for (const markdown of [`[a](${address})`, `![a](${address})`, `<${address}>`, address])
      expect(written(parseMarkdown(markdown))).not.toMatch(/<a (?!https:)/);
  });

  /** Each of these takes minutes in a parser that looks back or ahead for each sign. */
  const hostile: Readonly<Record<string, string>> = {
    'open emphasis': '**a *b _c ~~d '.repeat(20_000),
    asterisks: '*'.repeat(200_000),
    'open brackets': '['.repeat(200_000),
    'bracket pairs': '[]('.repeat(70_000),
    'links without an end': '[a](https://x.test/'.repeat(10_000),
    'titles without an end': '[a](b "'.repeat(30_000),
    backticks: Array.from({ length: 600 }, (_, i) => '`'.repeat(i)).join(' '),
    'single backticks': '` '.repeat(100_000),
    'deep quotes': `${'>'.repeat(100_000)} a`,
    'deep lists': Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i)}- a`).join('\n'),
    'one long word': 'a'.repeat(200_000),
    'mail addresses without an end': 'a@'.repeat(100_000),
    'dots and hyphens': 'a@b.'.repeat(50_000) + '-'.repeat(50_000),
    'closing brackets of an address': `https://x.test/${')'.repeat(100_000)}`,
    'addresses in a row': 'https://'.repeat(30_000),
    'angles and entities': '<br &am; <a'.repeat(20_000),
    'rules and headings': `${'- '.repeat(50_000)}x\n${'#'.repeat(50_000)} ${'#'.repeat(50_000)}x`,
    'blank lines': ' \n'.repeat(100_000),
  };
  test.each(Object.entries(hostile))('takes little time for %s', (_label, markdown) => {
    const start = performance.now();
    parseMarkdown(markdown);
    parsePlain(markdown);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe('plain text', () => {
  test.each([
    ['nothing', '', ''],
    [
      'signs as they are',
      '**a** `b` [c](https://x.test/)',
      '**a** `b` [c](<a https://x.test/>https://x.test/</a>)',
    ],
    ['lines', 'a\n\nb', 'a<br><br>b'],
    [
      'an address',
      'at https://x.test/a?b=c&d, ok',
      'at <a https://x.test/a?b=c&d>https://x.test/a?b=c&d</a>, ok',
    ],
    ['a mail address', 'a@b.test.', '<a mailto:a@b.test>a@b.test</a>.'],
    ['no address', 'a@b and javascript:alert(1)', 'a@b and javascript:alert(1)'],
  ])('%s', (_label, text, expected) => {
    expect(written(parsePlain(text))).toBe(expected);
  });
});
