import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import {
  parseHtml,
  stripTags,
  textUpperBound,
  visibleLength,
} from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { joinLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { cleanHtml } from '../../../../src/channels/email/normalize/html/serialize-html.ts';
import { runCount } from '../../../support/run-count.ts';

const images = new Map([
  ['a@x', { name: 'lamp.png' }],
  ['shown@x', { name: 'la]mp_1.png', shownAs: 'https://base.invalid/0/' }],
]);
const inlineImage = (id: string) => images.get(id);
const render = (html: string, format: 'TEXT' | 'MARKDOWN' = 'MARKDOWN') => {
  const tree = parseHtml(html);
  if (tree === undefined) throw new Error('too deep');
  return joinLines(renderHtml(tree, { format, inlineImage }), format);
};

describe('what a person would not see is not there', () => {
  test.each([
    ['display:none', '<p>a</p><p style="display:none">b</p>', 'a'],
    [
      'display: NONE !important',
      '<p>a</p><p style="color:red; Display : NONE !important">b</p>',
      'a',
    ],
    ['visibility:hidden', '<p>a<span style="visibility:hidden">b</span></p>', 'a'],
    [
      'visible again inside',
      '<p style="visibility:hidden">a<span style="visibility:visible">b</span></p>',
      'b',
    ],
    ['opacity:0', '<p>a<span style="opacity:0.0">b</span></p>', 'a'],
    ['opacity:0.5 stays', '<p>a<span style="opacity:0.5">b</span></p>', 'ab'],
    ['font-size:0', '<p>a<span style="font-size:0px">b</span></p>', 'a'],
    [
      'font-size:0 with a size inside',
      '<td style="font-size:0"><span style="font-size:14px">b</span></td>',
      'b',
    ],
    [
      'font-size:0 with a relative size inside',
      '<table><td style="font-size:0"><span style="font-size:2em">b</span>c</td></table>d',
      'd',
    ],
    ['the hidden attribute', '<p>a</p><p hidden>b</p>', 'a'],
    ['no height', '<p>a</p><div style="max-height:0;overflow:hidden">b</div>', 'a'],
    [
      'but not what only Outlook hides, whose button is in a comment',
      '<p>a</p><div style="mso-hide:all">b</div>',
      'a\n\nb',
    ],
    ['a comment in the style', '<p>a<span style="display:/* x */none">b</span></p>', 'a'],
    ['an escape in the style', '<p>a<span style="d\\69splay:n\\6f ne">b</span></p>', 'a'],
    [
      'far back in a long style',
      `<p>a<span style="${'color:red;'.repeat(2000)}display:none">b</span></p>`,
      'a',
    ],
    ['a size of nothing in the font', '<p>a<span style="font:0/0 a">b</span></p>', 'a'],
    ['white on white is seen by whoever marks it', '<p style="color:#fff">a</p>', 'a'],
    ['comments', '<p>a<!-- b --></p><!--[if mso]><p>c</p><![endif]-->', 'a'],
    ['style, script, title', '<title>t</title><style>p{}</style><script>b</script><p>a</p>', 'a'],
    ['zero-width characters', '<p>a&#8203;b&zwnj;&#x2060;c</p>', 'abc'],
    ['tag characters', '<p>a&#xE0069;&#xE0067;b</p>', 'ab'],
    [
      'a style that only mentions it',
      '<p title="display:none" style="background:url(display-none.png)">a</p>',
      'a',
    ],
  ])('%s', (_, html, expected) => {
    expect(render(html)).toBe(expected);
  });
});

describe('HTML as Markdown', () => {
  test.each([
    ['paragraphs', '<p>a</p><p>b</p>', 'a\n\nb'],
    ['lines', 'a<br>b<div>c</div>', 'a  \nb  \nc'],
    ['an empty line of a space', '<div>a</div><div>&nbsp;</div><div>b</div>', 'a\n\nb'],
    ['a label and its value', '<table><tr><td>Order:</td><td>A_1</td></tr></table>', 'Order: A_1'],
    ['a picture of one pixel', 'a<img src="cid:a@x" width="1" height="1">', 'a'],
    ['an address in brackets', '<a href="mailto:a@b.c">&lt;a@b.c&gt;</a>', '\\<a@b.c>'],
    ['an empty line', '<div>a</div><div><br></div><div>b</div>', 'a\n\nb'],
    ['emphasis', '<b>bold </b>and <i>slanted</i>', '**bold** and *slanted*'],
    ['emphasis in emphasis', '<b>a<strong>b</strong></b>', '**ab**'],
    ['emphasis around blocks is dropped', '<b><div>a</div><div>b</div></b>', 'a  \nb'],
    ['headings', '<h2>Title</h2>text', '## Title\n\ntext'],
    ['a list', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>', '- a\n- b\n  - c'],
    ['a numbered list', '<ol start="3"><li>a</li><li>b</li></ol>', '3. a\n4. b'],
    ['a quote', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    [
      'a link',
      '<a href="https://x.example/a?b=1&amp;c=2">text</a>',
      '[text](https://x.example/a?b=1&c=2)',
    ],
    [
      'a link that says itself',
      '<a href="https://x.example/">x.example</a> <a href="mailto:a@b.c">a@b.c</a>',
      'x.example a@b.c',
    ],
    ['a link to a script', '<a href="javascript:alert(1)">text</a>', 'text'],
    [
      'a link that Outlook replaced',
      '<a href="https://eur02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fx.example%2Fa&amp;data=1">text</a>',
      '[text](https://x.example/a)',
    ],
    [
      'a script in a link that Outlook replaced',
      '<a href="https://eur02.safelinks.protection.outlook.com/?url=javascript%3Aalert(1)">text</a>',
      '[text](https://eur02.safelinks.protection.outlook.com/?url=javascript%3Aalert%281%29)',
    ],
    [
      'brackets in a link',
      '<a href="https://x.example/(a)">text</a>',
      '[text](https://x.example/%28a%29)',
    ],
    ['an inline image', 'see <img src="cid:a@x"> there', 'see [image: lamp.png] there'],
    [
      'an inline image that is shown',
      'see <img src="cid:shown@x"> there',
      'see ![la\\]mp_1.png](https://base.invalid/0/) there',
    ],
    [
      'a remote image',
      '<img src="https://x.example/t.gif"><img src="x" alt="Sale">',
      '[image: Sale]',
    ],
    ['a row of data', '<table><tr><td>a</td><td><p>b</p></td></tr></table>', 'a | b'],
    [
      'a layout table',
      '<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>',
      'a\n\nb\n\nc',
    ],
    ['a rule', 'a<hr>b', 'a\n\n---\n\nb'],
    [
      'markup in text',
      '*a* _b_ a_b `c` &lt;script&gt; [x](y) &amp;lt;',
      '\\*a\\* \\_b\\_ a_b \\`c\\` \\<script> [x\\](y) \\&lt;',
    ],
    [
      'markup at the start of a line',
      '<p># a</p><p>1. b</p><p>- c</p><p>&gt; d</p>',
      '\\# a\n\n1\\. b\n\n\\- c\n\n\\> d',
    ],
    [
      'boxes of a form',
      '<p><input type=checkbox checked>Gift wrap<br><input type=RADIO> Card</p>',
      '[x] Gift wrap  \n[ ] Card',
    ],
    [
      'fields of a form',
      '<p>Size<input value="42 *">, sent<input type=hidden value=x><input type=password value=y></p>',
      'Size 42 \\* , sent',
    ],
    [
      'a large field',
      '<p>Notes:</p><textarea>\nRing\n  <b>twice</b></textarea>',
      'Notes:\n\nRing  \n  \\<b>twice\\</b>',
    ],
    [
      'choices',
      '<p><select><option>S<option selected>M</select>, <select multiple><option selected>a<option label=b selected>c<option>d</select></p>',
      'M , a, b',
    ],
    [
      'texts of a drawing',
      '<p><svg><title>x</title>y<text y="20">Order</text><g><text y="20">47<tspan>11</tspan></text></g></svg></p>',
      'Order  \n4711',
    ],
    [
      'texts of a drawing that something around or in them places',
      '<svg><text><tspan y="20">a</tspan></text><g transform="translate(0,9)"><text>b</text></g></svg>',
      'a  \nb',
    ],
    ['text of a drawing above its edge', '<p>x<svg><text>a</text></svg></p>', 'x'],
    ['an element of the name of a drawing’s', '<p><text>a</text></p>', 'a'],
    ['white space', '<p>  a \n b&nbsp;&nbsp;c </p>', 'a b c'],
    ['tags that nobody closed', '<p>a<p>b<ul><li>c<li>d', 'a\n\nb\n\n- c\n- d'],
  ])('%s', (_, html, expected) => {
    expect(render(html)).toBe(expected);
  });

  test('as plain text there is no markup', () => {
    const html = '<h1>T</h1><p><b>a</b>_b <a href="https://x.example/y">text</a></p>';
    expect(render(html, 'TEXT')).toBe('T\n\na_b text (https://x.example/y)');
  });
});

describe('HTML as HTML', () => {
  const clean = (html: string) => {
    const tree = parseHtml(html);
    return tree === undefined ? undefined : cleanHtml(tree, { removed: new Set(), inlineImage });
  };
  test.each([
    ['scripts', '<p>a</p><script>b</script>', '<p>a</p>'],
    ['handlers and styles', '<p onclick="x" style="color:red">a</p>', '<p>a</p>'],
    ['forms', '<form action="x"><input name="y">a</form>', 'a'],
    [
      'what forms show',
      '<input type=checkbox checked> a<textarea>b\n<i></textarea><select><option>c</select>',
      '[x]  a<pre>b\n&lt;i&gt;</pre> c',
    ],
    [
      'texts of drawings',
      '<svg onload=x><text y="20">a</text><script>b</script></svg>',
      '<div>a</div>',
    ],
    ['remote images', '<img src="https://x.example/t.gif">a', 'a'],
    ['inline images', '<img src="cid:a@x">', '[image: lamp.png]'],
    [
      'inline images that are shown',
      '<img src="cid:shown@x" onerror="x">',
      '<img src="https://base.invalid/0/" alt="la]mp_1.png" />',
    ],
    [
      'the address of a link around a picture',
      '<a href="https://x.example/"><img src="https://x.example/a.gif"></a>',
      '<a href="https://x.example/">[image]</a>',
    ],
    ['links to scripts', '<a href="javascript:x">a</a>', '<a>a</a>'],
    ['hidden text', '<p>a</p><p style="display:none">b</p>', '<p>a</p>'],
    ['entities', '<p>&lt;b&gt; &amp;</p>', '<p>&lt;b&gt; &amp;</p>'],
  ])('%s', (_, html, expected) => {
    expect(clean(html)).toBe(expected);
  });
});

test('of HTML that is not parsed only the text between the tags is left, a line for each block', () => {
  const html = '<div>a<!-- b --><style>c{}</style><script>d</script>&amp;&nbsp;e</div><p>f<b>g</b>';
  expect(stripTags(html)).toBe('a& e\nfg');
  expect(stripTags('a<!-- b --!>c &lt;d&gt;<!-->e<!-- f -->')).toBe('ac <d>e');
  expect(textUpperBound('<!-- b --!>c<!-- d -->')).toBe(1);
});

test('few tags that make many elements are given up', () => {
  const html = Array.from({ length: 400 }, (_, n) => `<p><font size=${n}>x</p>`).join('');
  expect(parseHtml(html)).toBeUndefined();
});

describe('nesting', () => {
  test('beyond what is walked keeps entities, line breaks, links, and hides what is hidden', () => {
    const inner =
      'a &amp; b<p>c</p><div>d</div>e<br>f <a href="https://x.example/deep"><div>g</div></a>' +
      '<p style="display:none">h</p>';
    const html = `${'<div>'.repeat(1000)}${inner}${'</div>'.repeat(1000)}i`;
    expect(render(html)).toBe('a & b  \nc  \nd  \ne  \nf  \n[g](https://x.example/deep)\n\ni');
  });

  test('beyond what is parsed is given up', () => {
    expect(parseHtml('<div>'.repeat(100_000))).toBeUndefined();
    expect(parseHtml(`<p hidden>${'<b>'.repeat(100_000)}`)).toBeUndefined();
  });
});

describe('the address of a link', () => {
  const address = 'https://x.example/order/17';
  test.each([
    ['around a line break', 'Track<br>order', `[Track](${address})  \norder`],
    ['around a break and then words', '<br>Track', `[Track](${address})`],
    ['around a block', '<div>Track</div>', `[Track](${address})`],
    ['around paragraphs', '<p>Track</p><p>order</p>', `[Track](${address})\n\norder`],
    ['around a table cell', '<table><tr><td>Track</td></tr></table>', `[Track](${address})`],
    [
      'around a row',
      '<table><tr><td>Track</td><td>order</td></tr></table>',
      `[Track | order](${address})`,
    ],
    ['around a heading', '<h2>Track</h2>', `## [Track](${address})`],
    ['around a list', '<ul><li>Track</li></ul>', `- [Track](${address})`],
    ['around emphasis of two lines', '<b>Track<br>order</b>', `[Track](${address})  \norder`],
    [
      'around a picture without words',
      '<img src="https://x.example/a.gif">',
      `[image](${address})`,
    ],
    ['around a decoration', '<img src="https://x.example/a.gif" alt="">', `[image](${address})`],
    ['around a picture with words', '<img src="x" alt="View">', `[image: View](${address})`],
    [
      'around a picture and words',
      '<img src="https://x.example/a.png"> View',
      `[View](${address})`,
    ],
    ['around an inline picture', '<img src="cid:a@x">', `[image: lamp.png](${address})`],
    ['around nothing', '', ''],
    ['around a spacer', '<img src="https://x.example/a.gif" style="width: 1px">', ''],
  ])('%s', (_, inner, expected) => {
    expect(render(`<a href="${address}">${inner}</a>`)).toBe(expected);
  });

  test.each([
    [
      'a row',
      '<table><a href="?"><tr><td>Track</td><td>order</td></tr></a></table>',
      '[Track | order](?)',
    ],
    ['a cell', '<table><tr><a href="?"><td>Track</td></a></tr></table>', '[Track](?)'],
    ['rows', '<table><a href="?">\n<tbody><tr><td>Track</tr></a></table>', '[Track](?)'],
    ['an unclosed row', '<table><a href="?"><tr><td>Track</table>', '[Track](?)'],
    [
      'a table in a paragraph',
      '<p>a <a href="?"><table><tr><td>Track</table></a>',
      'a\n\n[Track](?)',
    ],
    [
      'a block in a font',
      '<p><a href="?"><font><div><table><tr><td>Track</table></a>',
      '[Track](?)',
    ],
    ['a cell before', '<table><tr><td><a href="?">Track<td>order</table>', '[Track](?) | order'],
  ])('around %s, which ends it in a browser', (_, html, expected) => {
    expect(render(html.replace('?', address))).toBe(expected.replace('?', address));
  });

  test('an image map, a missing scheme and a very long one', () => {
    expect(render(`<map><area href="${address}" alt="Shop"></map>`)).toBe(
      `[image: Shop](${address})`,
    );
    expect(render('<a href="//x.example/a">b</a> <a href="www.x.example">c</a>')).toBe(
      '[b](https://x.example/a) [c](http://www.x.example)',
    );
    const long = `${address}?${'t'.repeat(7000)}`;
    expect(render(`<a href="${long}">b</a>`)).toBe(`[b](${long})`);
  });

  /** What a link is wrapped around: each holds a word or a picture somewhere. */
  const { inner } = fc.letrec((tie) => ({
    inner: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('word', '<img src="https://x.example/p.png">', '<img src="a" alt="word">'),
      fc
        .tuple(
          fc.constantFrom(
            ...['div', 'p', 'h1', 'h3', 'b', 'i', 'span', 'center', 'font', 'ul', 'li', 'del'],
            ...['blockquote', 'pre', 'table', 'table><tr><td', 'ol><li', 'sup'],
          ),
          tie('inner'),
          fc.boolean(),
        )
        .map(
          ([tags, held, isClosed]) => `<${tags}>${String(held)}${isClosed ? closing(tags) : ''}`,
        ),
      fc.array(tie('inner'), { minLength: 2, maxLength: 3 }).map((held) => held.join('')),
      fc
        .tuple(tie('inner'), fc.constantFrom('<br>', '<hr>', ' ', '<br><br>', '&nbsp;', '<wbr>'))
        .map(([held, gap]) => `${gap}${String(held)}${gap}`),
    ),
  }));
  const closing = (tags: string) =>
    tags
      .split('><')
      .reverse()
      .map((tag) => `</${tag}>`)
      .join('');
  const around = fc.constantFrom(
    ...['', '<b>', '<li>', '<td>', '<table><tr><td>a<td>', '<blockquote>', '<h2>', '<p>x '],
    ...['<div style="font-size:0"><div style="font-size:12px">', '<s>', '<center><b><i>'],
  );

  test.each([
    ['<p>x ', '<table><table><tr><td>word'],
    ['<p>x ', '<table><table><table><tr><td>word'],
  ])('moves with %s<a>%s', (before, held) => {
    expect(render(`${before}<a href="${address}">${held}</a> after`)).toContain(address);
  });

  test('is never lost', () => {
    fc.assert(
      fc.property(around, inner, fc.constantFrom('MARKDOWN', 'TEXT'), (before, held, format) => {
        const html = `${before}<a href="${address}">${held}</a> after`;
        expect(render(html, format)).toContain(address);
      }),
      { numRuns: runCount(2000) },
    );
  });
});

describe('what changes the meaning of words', () => {
  test.each([
    ['a power', '10<sup>2</sup> m<sup>2</sup>', '10^2 m^2'],
    ['a longer power', 'x<sup>n + 1</sup>', 'x^(n + 1)'],
    ['an index', 'H<sub>2</sub>O', 'H_2O'],
    ['an ordinal', 'the 1<sup>st</sup>, le 2<sup>e</sup>', 'the 1st, le 2e'],
    ['cents', '$19<sup>99</sup>', '$19.99'],
    ['a mark', 'Acme<sup>TM</sup>', 'AcmeTM'],
    ['a footnote', '<sup>1</sup> plus tax', '1 plus tax'],
    ['deleted words', 'I want <del>two</del> three', 'I want ~~two~~ three'],
    [
      'a price struck out by style',
      '<span style="text-decoration:line-through">$20</span> $15',
      '~~$20~~ $15',
    ],
    ['deleted lines', '<s>two<br>of them</s><br>none', '~~two~~  \n~~of them~~  \nnone'],
    ['a rule of a form', 'Name: ______ <p>___</p>', 'Name: ______\n\n___'],
    ['two tildes', 'a ~~b~~', 'a \\~~b\\~~'],
  ])('%s', (_, html, expected) => {
    expect(render(html)).toBe(expected);
  });

  test('a picture on the web leaves its place, unless it is decoration', () => {
    const image = (rest: string) => render(`a<img ${rest}>b`);
    expect(image('src="https://x.example/photo.jpg?w=600"')).toBe('a[image]b');
    expect(image('src="https://x.example/i?id=1" width="600" height="400"')).toBe('a[image]b');
    expect(image('src="https://x.example/i?id=1"')).toBe('ab');
    expect(image('src="https://x.example/icon.png" width="16" height="16"')).toBe('ab');
    expect(image('src="https://x.example/photo.jpg" alt=""')).toBe('ab');
  });
});

test('the quick bound is never below what is visible', () => {
  const html = '<style>p{}</style><p>a b</p><!-- x --><p style="display:none">cd</p>';
  const tree = parseHtml(html);
  expect(tree === undefined ? 0 : visibleLength(tree)).toBe(2);
  expect(textUpperBound(html)).toBe(4);
});

describe('the delimiters of Markdown', () => {
  const parser = new MarkdownIt();
  /** The words that a parser of Markdown shows, and those that it shows as struck out. */
  const parsed = (markdown: string) => {
    const html = parser.render(markdown);
    const struck = [...html.matchAll(/<s>(.*?)<\/s>/g)].map(([, text = '']) => text);
    return { words: plain(html), struck: plain(struck.join('')) };
  };
  const plain = (html: string) =>
    html
      .replace(/<[^>]*>|\s+/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');

  test.each([
    ['between letters', 'a<b>b</b>c', 'a**b**c'],
    ['a sign before them', 'for<b>$12</b>', 'for$12'],
    ['a stop within them', '<b>Note.</b>Next', 'Note.Next'],
    ['of two neighbours', '<b>a</b><b>b</b> <i>c</i><b>d</b>', '**ab** *c*d'],
    ['both at once', '<b>a<i>b</i></b>c', '**ab**c'],
    ['brackets that are struck out', 'a<s>(b)</s>c', 'a ~~(b)~~ c'],
    ['a tilde beside them', '~<s>20</s>', '\\~~~20~~'],
    ['what they leave at the start of a line', '1<i>.</i> a', '1\\. a'],
    [
      'in a link that says itself',
      '<a href="https://x.example"><b>x.example</b></a>',
      '**x.example**',
    ],
    [
      'a line of dashes below text',
      'Total<br>-----<br>=<p>---</p>',
      'Total  \n\\-----  \n\\=\n\n---',
    ],
    ['before a power', '<b>10</b><sup>2</sup>', '**10**^2'],
  ])('%s', (_, html, expected) => {
    expect(render(html)).toBe(expected);
  });

  const { inline } = fc.letrec((tie) => ({
    inline: fc
      .array(
        fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom(
            ...['a', 'b', '1', '$', '.', '*', '~', '_', '(', ' ', '😀', 'é', '„', '字', '#', '+'],
          ),
          fc
            .tuple(fc.constantFrom('b', 'i', 's'), tie('inline'))
            .map(([tag, held]) => `<${tag}>${String(held)}</${tag}>`),
        ),
        { maxLength: 5 },
      )
      .map((held) => held.join('')),
  }));

  test('are read as such', () => {
    fc.assert(
      fc.property(inline, (html) => {
        // A line of nothing but underscores is a rule in Markdown as it is in the mail.
        fc.pre(!/^_{3,}$/.test(plain(html)));
        const struck = [...html.matchAll(/<s>/g)].length === 1 ? /<s>(.*)<\/s>/.exec(html) : null;
        const said = parsed(render(html));
        expect(said.words).toBe(plain(html));
        if (struck !== null) expect(said.struck).toBe(plain(struck[1] ?? ''));
      }),
      { numRuns: runCount(5000) },
    );
  });
});
