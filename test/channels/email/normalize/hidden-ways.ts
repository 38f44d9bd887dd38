import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The word that each way hides, or shows in a way that looks like hiding. */
export const WORD = 'SECRETWORD';

export interface Way {
  readonly title: string;
  readonly html: string;
  /** What the rule says; docs/security.md names what stays although nobody sees it. */
  readonly word: 'goes' | 'stays';
  /** Whether Chromium shows the word. */
  readonly isShown: boolean;
}

/** A way by the inline style of a block. */
const styled = (style: string) => `<div style="${style}">${WORD}</div>`;
/** A way by a sheet, for a block with an id, two classes and a child. */
const ruled = (css: string, attributes = '') =>
  `<style>${css}</style><div id="i" class="b c" ${attributes}>${WORD}</div>`;

const ways = (
  word: Way['word'],
  isShown: boolean,
  table: readonly (readonly [title: string, html: string])[],
): readonly Way[] => table.map(([title, html]) => ({ title, html, word, isShown }));

/** Inline styles that hide. */
const HIDING_STYLES = [
  'display:none',
  'DISPLAY:NONE',
  'display : none ! important',
  'd\\69splay:none',
  'd\\000069 splay:n\\6f ne',
  'display:/* ; */none',
  '/* display:block */display:none',
  "font-family:'a;b';display:none",
  'background:url(a;b);display:none',
  'display:none;display:hidden',
  'display:none !important;display:block',
  'display:block;display:none',
  'display:none;--x:{display:block;}',
  'display:none;x:(;display:block;)',
  'display:none;&:hover{display:block}',
  'visibility:hidden',
  'visibility:collapse',
  'opacity:0',
  'opacity:0.01',
  'opacity:.09',
  'opacity:5%',
  'opacity:-1',
  'opacity:1e-9',
  'opacity:calc(0)',
  'opacity:0;opacity:none',
  'font-size:0',
  'font-size:0px !important',
  'font-size:0.1px',
  'font-size:3.9px',
  'font-size:2pt',
  'font-size:0em',
  'font-size:0%',
  'font-size:0.1rem',
  'font-size:0.1vw',
  'font-size:calc(1px)',
  'font-size:.5pt',
  'font-size:.01in',
  'font-size:1q',
  'font-size:\n1px',
  'font-size:1px;font-size:-5px',
  'font:0/0 a',
  'font:italic bold 1px/1 Arial,sans-serif',
  "font:0 'Arial'",
  'position:absolute;left:-9999px',
  'position:absolute;top:-9999px',
  'position:fixed;right:9999px',
  'position:relative;left:-100em',
  'position:absolute;left:-1000vw',
  'position:absolute;inset:-9999px auto auto -9999px',
  'margin-left:-9999px',
  'transform:translate3d(-9999px,0,0)',
  'transform:scale3d(0,0,0)',
  'clip-path:inset(0 0 100% 0)',
  'clip-path:ellipse(0 0 at 50% 50%)',
  'height:0;overflow-y:hidden',
  'width:0;height:0;overflow:hidden;padding:0',
  'opacity:0.099',
  'visibility:hidden!important;visibility:visible',
  'color:Transparent',
  'color:#000;background:#000',
  'color:#fff;background:#fff !important;background:#000',
  'margin:0 0 0 -9999px',
  'transform:translateX(-9999px)',
  'transform:translate(0,-9999px)',
  'translate:-9999px',
  'transform:scale(0)',
  'transform:rotate(0deg) scale(1,0)',
  'transform:scaleY(0)',
  'scale:0',
  'position:absolute;clip:rect(0,0,0,0)',
  'position:absolute;clip:rect(1px 1px 1px 1px)',
  'position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)',
  'clip-path:inset(100%)',
  'clip-path:inset(50%)',
  '-webkit-clip-path:inset(0 100% 0 0)',
  'clip-path:circle(0)',
  'clip-path:polygon(0 0,0 0,0 0)',
  'max-height:0;overflow:hidden',
  'height:0;overflow:hidden',
  'height:0px;overflow:clip',
  'width:0;overflow:hidden;white-space:nowrap',
  'max-width:0;overflow:hidden',
  'mso-hide:all;display:none',
  'color:transparent',
  'color:rgba(0,0,0,0)',
  'color:rgb(0 0 0 / 0%)',
  'color:hsla(0, 0%, 0%, 0)',
  'color:#0000',
  'color:#ffffff00',
  'color:white;background:white',
  'color:#fff;background-color:#FFFFFF',
  'color:rgb(255,255,255);background:#fff none repeat scroll 0 0',
  'color:rgb(100%,100%,100%);background:white',
  'color:hsl(0,0%,100%);background-color:rgb(255 255 255)',
  'color:#ffff;background-color:#ffffffff',
  'color:red;background:#f00',
  'position:absolute;right:9999px',
  'position:relative;right:1200px',
  'translate:-9999px 0',
  'translate:0 -9999px',
  'display:none;animation:x',
  'display:none;animation:f 1s infinite',
  'display:none;all:x',
  'display:none;display:a b',
  'display:none;display:block block',
  'display:none;display:inline-foo',
  'display:none;display:foo(1)',
  'visibility:hidden;visibility:a b',
  'opacity:0;opacity:1px',
  'opacity:0;opacity:1 1',
  'opacity:0;opacity:foo(1)',
  'font-size:0;font-size:1px 1px',
  'font-size:0;font-size:block',
  'font-size:0;font-size:1.px',
  'font-size:1px;font:12px',
  'font-size:1px;font:foo 12px Arial',
  'position:absolute;left:-9999px;position:left',
  'position:absolute;left:-9999px;left:0 0',
  'margin-left:-9999px;margin-left:1px 1px',
  'margin-left:-9999px;margin:0 0 0 0 0',
  'color:transparent;color:red red',
  'color:transparent;color:foo(1)',
  'color:#fff;background:#fff;background:red red',
  'color:#fff;background:#fff;background:',
  'display:none;display:',
  'font-size:0;font-size:length',
  'height:0;overflow:hidden;height:none',
  'transform:scale(0);transform:scale',
  'transform:scale(0);transform:foo(1)',
  'clip-path:inset(100%);clip-path:foo(1)',
  'height:0;overflow:hidden;height:a b',
  'height:0;overflow:hidden;overflow:x',
];

/** Inline styles that look as if they hid, and do not. */
const SHOWING_STYLES = [
  'display:none;display:block',
  'display:none;all:initial',
  'display:block !important;display:none',
  'display:none;display:inline-block',
  'opacity:0.2',
  'opacity:100%',
  'visibility:visible',
  'font-size:4px',
  'font-size:-1px',
  'font-size:3pt',
  'font-size:0;font-size:14px',
  'font:12px/0 Arial',
  'font:400 14px Arial',
  'left:-9999px',
  'margin-left:-20px',
  'margin-bottom:-9999px;padding-bottom:9999px',
  'text-indent:2em',
  'height:0;overflow:hidden;padding-block:30px',
  'height:0;overflow:hidden;min-block-size:30px',
  'margin-left:-1000px;border-left:1000px solid red',
  'margin-left:-9999px;margin-inline-start:0',
  'position:absolute;left:-9999px;inset-inline:0',
  'position:absolute;left:-1000px;width:3000px;text-align:center',
  'position:relative;left:-1000px;padding-left:1000px',
  'position:relative;left:1000px;transform:translateX(-1000px)',
  'transform:translateX(-1000px) translateX(1000px)',
  'background:linear-gradient(90deg,red,blue) text;color:transparent',
  'transform:scale(0.9)',
  'transform:translateX(-10px)',
  'clip-path:inset(0)',
  'clip-path:circle(100%)',
  'height:0',
  'height:0;overflow:visible',
  'overflow:hidden;max-height:100px',
  'overflow:hidden;height:0;min-height:30px',
  'overflow:hidden;height:0;padding-bottom:50%;padding-top:20px',
  'color:#fff;background:#000',
  'color:#fff;background:#fff url(x.png);background:navy',
  'color:transparent;text-shadow:0 0 0 #000',
  'color:#fff;background:#fff;background:#06c',
  'mso-hide:all',
  'mso-hide:all;color:#fff;background-color:#06c',
  'background:url(display:none)',
  "content:'display:none'",
  'x-display:none',
  'display:none!ie',
  'display:none;all:unset',
  'display:none;display:inline flow-root',
  'display:none;display:-webkit-flex',
  'display:none;display:var(--x)',
  'font-size:0;font:caption',
  'font-size:0;font:inherit',
  'font:0',
  'font:0 !important',
  'font:foo 0 Arial',
  'font:0/0',
  'font:0/0 1px',
  'font-size:0.px',
  'font-size:0 0',
  'font-size:0;font-size:clamp(1px,2vw,20px)',
  'font-size:0;font-size:calc((1px + 5px) * 3)',
  'font-size:0;font:small-caps 500 expanded 1em/1.2 a b,c',
  'opacity:0;opacity:min(1,2)',
  'color:transparent;color:oklch(0.5 0.1 20)',
  'color:transparent;color:windowtext',
  'color:#000;background:#000 #000',
  'clip-path:inset(100%);clip-path:circle(100%) border-box',
  'transform:scale(0);transform:rotate(1deg) scale(1)',
  'scale:0 x',
  'translate:-9999px x',
  'left:-9999px;position:absolute x',
  'height:0;overflow:hidden;overflow:visible visible',
  'height:0;overflow:hidden;height:fit-content',
  'text-indent:-9999px;text-indent:0 hanging',
  'margin-left:-9999px;margin:0 auto',
  'position:absolute;top:1200px',
  'position:absolute;left:2000px',
  'position:absolute;left:200vw',
  'position:absolute;bottom:-9999px',
  'position:absolute;inset:1200px auto auto 50px',
  'position:relative;top:1200px',
  'margin-left:9999px',
  'margin-top:2000px',
  'text-indent:9999px',
  'transform:translateX(9999px)',
  'transform:translateY(1200px)',
  'translate:0 1200px',
];

/** Rules of a sheet that hide an element with an id and two classes. */
const HIDING_RULES = [
  '.b{display:none}',
  '#i{display:none}',
  'div{display:none}',
  'DIV{display:none}',
  'div.b{display:none}',
  'div#i{display:none}',
  'p,.b , span{display:none}',
  '*.b{display:none}',
  '.\\62{display:none}',
  '.b{/*}*/display:none}',
  '.a{content:"}/*"}.b{display:none}/* */',
  '@import url(x.css);.b{display:none}',
  '@charset "utf-8";@media print{.a{color:red}}.b{display:none}',
  '<!-- .b{display:none} -->',
  '}.a{}.b{display:none}',
  '.b{display:none',
  '.b{font-size:1px}',
  '.b{color:#fff;background:#fff}',
  '.b{color:#fff}.c{background-color:#fff}',
  '.b{overflow:hidden}#i{max-height:0}',
  '.b{position:absolute}.c{left:-9999px}',
  '.b{display:none!important}#i{display:block}',
  '#i{display:none}.b{display:block}',
  '.b{display:none}div{display:block}',
  '.c{display:block}.b{display:none}',
  'div.b{display:none}.b{display:block}',
  '.b{display:none}@media print{.b{display:block}}',
  '.b{display:none}.b{display:inline-foo}',
  '.b{display:none}.c{all:x}',
  '.b{display:none}.c{animation:x}',
  '.b{display:none}[hidden],p:hover{display:none}',
  '.b{display:none}.b::before,.b:after{display:block}',
  '.b{display:none}@media (max-width:480px){.b{display:block!important}}',
  '.b{display:none}@media (prefers-color-scheme:dark){.b{display:block}}',
  '.b{display:none}@unknown{.b{display:block}}',
  '.b{display:none}@keyframes f{to{display:block}}',
];

/** Rules after which it is seen. */
const SHOWING_RULES = [
  '.B{display:none}',
  '.bc{display:none}',
  '.a .b{display:none}',
  '.b.d{display:none}',
  '.b:hover{display:none}',
  '.b::before{display:none}',
  '@media print{.b{display:none}}',
  '@media (max-width:400px){.b{display:none}}',
  '.b{display:none}.c{display:block}',
  '.b{display:none}#i{display:block}',
  '.b{display:none}div.b{display:block}',
  'div{display:none}.b{display:block}',
  '.b{display:none}.c{display:block!important}',
  '.b{display:none}body .b{display:block}',
  '.b{display:none}div.b.c{display:block}',
  '/*.b{display:none}*/',
  '.b{opacity:0;animation:f 1ms forwards}@keyframes f{to{opacity:1}}',
  '.b{visibility:hidden;animation:f 1ms forwards}@keyframes f{to{visibility:visible}}',
  '.b{font-size:0;animation:f 1ms forwards}@keyframes f{to{font-size:20px}}',
  '.b{visibility:hidden}@supports (display:flex){.b{display:block}}.b{visibility:visible}',
  '.a{x:(}.b{display:none}',
  '.b{x:"display:none"}',
  // Rules whose elements are not known show again what another rule hides.
  '.b{display:none}[class="b c"]{display:block}',
  '.b{display:none}div[class="b c"]{display:block}',
  '.b{display:none}*[class~=c]{display:block!important}',
  '.b{display:none}body>:first-child,:is(.b){display:block}',
  '.b{display:none}.b:not(.a .d, p){display:block}',
  '.b{display:none}.x,:is(p,.b){display:block}',
  // A browser drops a rule with an invalid selector.
  '.b,.f::-ms-clear{display:none}',
  '_:-ms-lang(x), .b{display:none}',
  '.b, .y:bogus{display:none}',
  '.b,.1col{display:none}',
  '.b,#1a{display:none}',
  // Blocks that count under a condition, or within another rule.
  '.b{display:none}@media screen{.b{display:block}}',
  '.b{display:none}@media all{.b{display:block}}',
  '.b{display:none}@media (min-width:600px){.b{display:block!important}}',
  '.b{display:none}@media screen and (max-width:2000px){.b{display:block}}',
  '.b{display:none}@media screen{@media all{.b{display:block}}}',
  '.b{display:none}@supports (display:block){.b{display:block}}',
  '.b{display:none}body{.b{display:block}}',
  '.b{display:none;&.c{display:block}}',
  '@layer a{.b{display:block!important}}.b{display:none!important}',
];

/** A document type that makes a browser show a document as one without any: in quirks mode. */
const OLD = '<!doctype html public "-//w3c//dtd html 3.2//en">';
const table = (content: string) => `<table><tr><td>${content}</td></tr></table>`;

/** A browser ends a hidden element before the word, or moves the word out of it. */
const OUTSIDE: readonly (readonly [title: string, html: string])[] = [
  ...[
    'center',
    'dialog open',
    'search',
    'summary',
    'hgroup',
    'menu',
    'dir',
    'listing',
    'table',
  ].map((tag) => [`a hidden paragraph before <${tag}>`, `<p hidden>x<${tag}>${WORD}`] as const),
  ['a hidden paragraph before the rest as text', `<p hidden>x<plaintext>${WORD}`],
  ['a hidden paragraph before a cell', `<p hidden>x<table><tr><td>${WORD}</td></tr></table>`],
  ['a hidden heading before another', `<h1 hidden>x<h2>${WORD}</h2>`],
  ['a hidden link before another', `<a hidden href="/">x<a href="/">${WORD}</a></a>`],
  ['a hidden link with a paragraph', `<a hidden href="/">x<p>x</p><a href="/">${WORD}</a>`],
  ['a hidden <nobr> before another', `<nobr hidden>x<nobr>${WORD}</nobr>`],
  ['a hidden caption before a row', `<table><caption hidden>x<tr><td>${WORD}</td></tr></table>`],
  ['a hidden head before a body', `<table><thead hidden><tr><td>x<tbody><tr><td>${WORD}</table>`],
  ['text in a hidden table', `<table hidden><tr><td>x</td></tr>${WORD}</table>`],
  ['a block in a hidden table', `<table hidden><div>${WORD}</div><tr><td>x</td></tr></table>`],
  ['a block in a hidden row', `<table><tr hidden><p>${WORD}</p><td>x</td></tr></table>`],
  ...['form', 'div', 'span', 'font'].map(
    (tag) =>
      [
        `a hidden <${tag}> around a row`,
        `<table><${tag} hidden><tr><td>${WORD}</td></tr></${tag}></table>`,
      ] as const,
  ),
  ['a picture that is not ended', `<svg width=1 height=1><path d="M0 0"><p>${WORD}</p>`],
  ['a picture that is not ended in its block', `<div><svg width=1 height=1></div><p>${WORD}</p>`],
  ['a formula that is not ended', `<math><mi>x</mi><div>${WORD}</div>`],
  ['a comment with another end', `<!-- x --!>${WORD}<!-- x -->`],
  ['the head of the document', `<head hidden><div>${WORD}</div>`],
  ['a rule for the head of the document', `<head><style>head{display:none}</style><p>${WORD}`],
  ['a picture by its old name', `<image hidden>${WORD}`],
  ['a sound', `<bgsound hidden>${WORD}`],
  ...['template', 'iframe', 'noembed', 'noframes', 'textarea', 'xmp'].map(
    (tag) =>
      [
        `a sheet in <${tag}>`,
        `<${tag}><style>.b{display:none}</style></${tag}><p class="b">${WORD}</p>`,
      ] as const,
  ),
];

export const WAYS: readonly Way[] = [
  ...ways('stays', true, OUTSIDE),
  ...ways('stays', true, [
    ['text in an SVG', `<svg><text y="20">${WORD}</text></svg>`],
    ['text in a group of an SVG', `<svg><g><text y="20"><tspan>${WORD}</tspan></text></g></svg>`],
    [
      'HTML in an SVG',
      `<svg><foreignObject width="200" height="50"><p>${WORD}</p></foreignObject></svg>`,
    ],
    ['a table in a small text', `${OLD}<div style="font-size:0">${table(WORD)}</div>`],
    ['a table in a transparent text', `${OLD}<div style="color:transparent">${table(WORD)}</div>`],
    ['a table in a small cell', OLD + table(`<div style="font-size:1px">${table(WORD)}</div>`)],
    [
      'a table in a cell that a rule makes small',
      `${OLD}<style>.b{font-size:0}</style><table><tr><td class="b">${table(WORD)}</td></tr></table>`,
    ],
    ['a table in a small body', `${OLD}<body style="font-size:0">${table(WORD)}</body>`],
    ['an element of old', `<xmp>${WORD}</xmp>`],
  ]),
  // Chromium shows these, which the test does not see: it runs scripts, reads no fields, and takes a background for behind the text.
  ...ways('stays', false, [
    ['a field', `<input value="${WORD}">`],
    ['a large field', `<textarea>${WORD}</textarea>`],
    ['the choice', `<select><option>a</option><option selected>${WORD}</option></select>`],
    [
      'the first choice',
      `<select><optgroup label="x"><option>${WORD}</option></optgroup></select>`,
    ],
    ['a canvas on which nothing is drawn', `<canvas>${WORD}</canvas>`],
    [
      'a flat box of its color',
      `<div style="background:#000;color:#000;height:0"><p>${WORD}</p></div>`,
    ],
  ]),
  // Chromium shows these only in a document without a doctype, and a mail program in its own page not.
  ...ways('stays', false, [
    ['a table in a small text of a new document', `<div style="font-size:0">${table(WORD)}</div>`],
    [
      'a table in a transparent text of a new document',
      `<div style="color:transparent">${table(WORD)}</div>`,
    ],
  ]),
  ...ways('goes', false, [
    ['a small table', `${OLD}<table style="font-size:0"><tr><td>${WORD}</td></tr></table>`],
    ['a small cell', `${OLD}<table><tr><td style="font-size:0"><p>${WORD}</p></td></tr></table>`],
    ['an invisible text', `${OLD}<div style="visibility:hidden">${table(WORD)}</div>`],
    ['a hidden element that is opened again', `<p><b style="display:none">x</p><p>${WORD}</p>`],
    ['a small font that is opened again', `<p><font style="font-size:0">x</p><p>${WORD}</p>`],
    ['a hidden body within the body', `<div>x<body style="display:none">${WORD}`],
    ['a rule for a body that is not written', `<style>body{font-size:0}</style><p>${WORD}</p>`],
    ['what a plug-in is for', `<noembed>${WORD}</noembed>`],
  ]),
  ...ways(
    'goes',
    false,
    HIDING_STYLES.map((style) => [style, styled(style)]),
  ),
  ...ways(
    'stays',
    true,
    SHOWING_STYLES.map((style) => [style, styled(style)]),
  ),
  ...ways(
    'goes',
    false,
    HIDING_RULES.map((css) => [css, ruled(css)]),
  ),
  ...ways(
    'stays',
    true,
    SHOWING_RULES.map((css) => [css, ruled(css)]),
  ),
  ...ways('goes', false, [
    ['a rule below the text', `<p class="b">${WORD}</p><style>.b{display:none}</style>`],
    [
      'a sheet with a type',
      `<style type="text/css" media="screen">.b{display:none}</style><p class="b">${WORD}</p>`,
    ],
    ['a rule and an inline style', ruled('.b{display:none!important}', 'style="display:block"')],
    ['the hidden attribute', `<p hidden>${WORD}</p>`],
    ['the hidden attribute with a value', `<p hidden="until-found">${WORD}</p>`],
    ['a closed details', `<details><summary>x</summary>${WORD}</details>`],
    ['a block in a closed details', `<details><summary>x</summary><p>${WORD}</p></details>`],
    ['a second summary', `<details><summary>x</summary><summary>${WORD}</summary></details>`],
    [
      "font of the cell's color",
      `<table><tr><td><font color="#fff" style="background:#fff">${WORD}</font></td></tr></table>`,
    ],
    [
      'a cell of its color',
      `<table><tr><td bgcolor="#FFFFFF" style="color:white">${WORD}</td></tr></table>`,
    ],
    [
      'a cell of a color without #',
      `<table><tr><td bgcolor="ffffff" style="color:white">${WORD}</td></tr></table>`,
    ],
    ['a body of its color', `<body bgcolor="white" text="#ffffff">${WORD}</body>`],
    ['a style without quotes', `<p style=display:none>${WORD}</p>`],
    ['entities in the style', `<p style="display&#58;n&#x6f;ne">${WORD}</p>`],
    ['a second style', `<p style="display:none" style="display:block">${WORD}</p>`],
    ['a details without a summary', `<details>${WORD}</details>`],
    ['a hidden button', `<button hidden>${WORD}</button>`],
    ['a cell of a rule', `<style>td{display:none}</style><table><tr><td>${WORD}</td></tr></table>`],
    ['a rule for a body', `<style>body{visibility:hidden}</style><body><p>${WORD}</p></body>`],
    ['a rule for everything', `<style>*{font-size:1px}</style><p>${WORD}</p>`],
    ['inherited size', `<div style="font-size:1px"><p><b>${WORD}</b></p></div>`],
    ['inherited invisibility', `<div style="visibility:hidden"><p><b>${WORD}</b></p></div>`],
    [
      'inherited color',
      `<div style="color:transparent"><p style="background:#fff"><b>${WORD}</b></p></div>`,
    ],
    [
      'inherited by word',
      `<div style="font-size:1px"><p style="font-size:inherit">${WORD}</p></div>`,
    ],
    [
      'a child of a box without height',
      `<div style="height:0;overflow:hidden"><p style="font-size:20px">${WORD}</p></div>`,
    ],
    ['a comment', `<!-- ${WORD} -->`],
    ['a comment for Outlook', `<!--[if mso]>${WORD}<![endif]-->`],
    ['a template', `<template>${WORD}</template>`],
    ['a title', `<title>${WORD}</title>`],
    ['a hidden field', `<input type="hidden" value="${WORD}">`],
    [
      'a field in hidden text',
      `<div style="font-size:0"><input style="font-size:0" value="${WORD}"></div>`,
    ],
    ['a drawing without size', `<svg width="0" height="0"><text y="20">${WORD}</text></svg>`],
    ...['display="none"', 'visibility="hidden"', 'opacity="0"', 'font-size="1"', 'fill="none"'].map(
      (attribute) => [attribute, `<svg><text y="20" ${attribute}>${WORD}</text></svg>`] as const,
    ),
    ...['defs', 'title', 'desc', 'symbol', 'mask'].map(
      (tag) =>
        [`<${tag}> of a drawing`, `<svg><${tag}><text>${WORD}</text></${tag}></svg>`] as const,
    ),
    ['bare words of a drawing', `<svg>${WORD}<g>${WORD}</g></svg>`],
    ['a fallback of a sound', `<audio>${WORD}</audio>`],
    ['an annotation of a formula', `<math><annotation>${WORD}</annotation></math>`],
    ['a choice', `<select><option>a</option><option>${WORD}</option></select>`],
    [
      'words of a picture of one pixel',
      `<img src="http://x.example/a.png" width=1 height=1 alt="${WORD}">`,
    ],
  ]),
  ...ways('stays', true, [
    [
      'visible again',
      `<div style="visibility:hidden"><span style="visibility:visible">${WORD}</span></div>`,
    ],
    ['a size again', `<div style="font-size:0"><span style="font-size:14px">${WORD}</span></div>`],
    ['a size again by font', `<div style="font-size:0"><font size="2">${WORD}</font></div>`],
    [
      'a size again by a rule',
      `<style>b{font-size:14px}</style><div style="font-size:0"><b>${WORD}</b></div>`,
    ],
    [
      'a color again',
      `<div style="color:#fff;background:#fff"><b style="color:#000">${WORD}</b></div>`,
    ],
    [
      'another background',
      `<div style="color:#fff;background:#fff"><b style="background:#06c">${WORD}</b></div>`,
    ],
    [
      'a link in it',
      `<div style="color:#fff;background:#fff"><a href="http://x.example/">${WORD}</a></div>`,
    ],
    [
      'an indent again',
      `<div style="text-indent:-9999px"><p style="text-indent:0">${WORD}</p></div>`,
    ],
    [
      'a table in an indent',
      `<div style="text-indent:-9999px"><table><tr><td>${WORD}</td></tr></table></div>`,
    ],
    ['hidden, but with a display', `<p hidden style="display:block">${WORD}</p>`],
    ['an inline style over a rule', ruled('.b{display:none}', 'style="display:block"')],
    ['an open details', `<details open><summary>x</summary>${WORD}</details>`],
    ['a summary', `<details><summary>${WORD}</summary>x</details>`],
    ['beside it', `<div style="display:none">x</div>${WORD}`],
    ['a sheet for print', `<style media="print">.b{display:none}</style><p class="b">${WORD}</p>`],
    [
      'a sheet for some windows',
      `<style>.b{display:none}</style><style media="screen and (min-width:1px)">.b{display:block}</style><p class="b">${WORD}</p>`,
    ],
    [
      'a size again by a rule for children',
      `<style>.b{font-size:0}.b>*{font-size:16px}</style><div class="b"><p>${WORD}</p></div>`,
    ],
    [
      'shown by a class with a colon',
      `<style>.b{display:none}.s\\:b{display:block}</style><p class="b s:b">${WORD}</p>`,
    ],
    ['a sheet in a comment', `<!-- <style>.b{display:none}</style> --><p class="b">${WORD}</p>`],
    [
      'a cell that ends in an ellipsis',
      `<table width="400"><tr><td style="max-width:0;width:100%;overflow:hidden;text-overflow:ellipsis">${WORD}</td></tr></table>`,
    ],
    ['not for Outlook', `<!--[if !mso]><!-->${WORD}<!--<![endif]-->`],
    ['not for Outlook, revealed', `<![if !mso]>${WORD}<![endif]>`],
    ['no height of lines', `<div style="line-height:0">${WORD}</div>`],
    [
      'a line placed from the foot of its page',
      `<div style="position:relative;height:1300px"><p style="position:absolute;bottom:1200px">${WORD}</p></div>`,
    ],
    [
      'a column placed from the right of a wide page',
      `<div style="position:relative;width:1800px;height:50px"><p style="position:absolute;right:1600px">${WORD}</p></div>`,
    ],
    [
      'a cell without width',
      `<table><tr><td width=0 height=0 style="overflow:hidden">${WORD}</td></tr></table>`,
    ],
    ['an inline element, which has no box', `<span style="width:0;overflow:hidden">${WORD}</span>`],
    ['a clip without a position', styled('clip:rect(0,0,0,0)')],
    ['no zoom, which Chromium ignores', styled('zoom:0')],
    [
      'a row without height',
      `<table><tr style="height:0;overflow:hidden"><td>${WORD}</td></tr></table>`,
    ],
    ['a scale of an inline element', `<span style="transform:scale(0)">${WORD}</span>`],
    [
      'what grows in a row',
      `<div style="display:flex"><div style="flex:1;width:0;overflow:hidden">${WORD}</div></div>`,
    ],
    [
      'a placed box in a box without height',
      `<div style="height:0;overflow:hidden"><p style="position:absolute;top:20px">${WORD}</p></div>`,
    ],
    [
      'a placed box in one far away',
      `<div style="margin-left:-9999px"><p style="position:fixed;top:20px;left:20px">${WORD}</p></div>`,
    ],
    [
      'a box as wide as the window',
      `<div style="overflow:hidden"><p style="margin:0 -9999px;padding:4px 9999px">${WORD}</p></div>`,
    ],
    [
      'a shadow further out',
      `<div style="text-shadow:0 0 1px #000"><b style="color:transparent">${WORD}</b></div>`,
    ],
    ['hidden from readers for the blind', `<div aria-hidden="true">${WORD}</div>`],
  ]),
  // What the rule does not name stays; docs/security.md lists it.
  ...ways('stays', false, [
    ...[
      'margin:-9999px',
      'margin-top:-9999px;margin-bottom:9999px',
      'text-indent:-9999px',
      'text-indent:-999em',
      'position:relative;bottom:1200px',
      'transform:translateY(-1200px)',
      'position:absolute;top:-999px',
    ].map((style): [string, string] => [style, styled(style)]),
    ['the color of the page', styled('color:white')],
    ['the color of the page by a rule', ruled('.b{color:#fff}')],
    [
      'the color of a table around',
      `<table bgcolor="#000"><tr><td><font color="#000">${WORD}</font></td></tr></table>`,
    ],
    ['a rule in doubt that loses', ruled('.b{opacity:0}body *{opacity:1}')],
    // Chromium shows these, but its hit test and computed color do not say so.
    [
      'the outline of letters',
      styled('color:transparent;-webkit-text-stroke-width:1px;-webkit-text-stroke-color:#000'),
    ],
    ['no box', `<div style="display:contents;opacity:0;height:0;overflow:hidden">${WORD}</div>`],
    [
      'a picture below letters, further out',
      `<h1 style="background:linear-gradient(90deg,red,blue);-webkit-background-clip:text"><b style="color:transparent">${WORD}</b></h1>`,
    ],
    ['a color that is nearly the same', styled('color:#fefefe;background:#fff')],
    ['a color that is nearly transparent', styled('color:rgba(0,0,0,.01)')],
    ['a filter', styled('filter:opacity(0)')],
    ['a variable', '<style>:root{--x:none}</style>' + styled('display:var(--x)')],
    ['a media query', ruled('@media screen{.b{display:none}}')],
    ['a descendant', ruled('body .b{display:none}')],
    ['an attribute of a selector', ruled('[class]{display:none}')],
    ['two classes', ruled('.b.c{display:none}')],
    ['a scale that is nearly zero', styled('transform:scale(.01)')],
    ['an offset in percent', styled('position:absolute;left:-1000%')],
    ['a box of one pixel', styled('width:1px;height:1px;overflow:hidden')],
    ['opacities that multiply', `<div style="opacity:.2">${styled('opacity:.2')}</div>`],
    ['content-visibility', styled('content-visibility:hidden')],
    ['a marquee without width', `<marquee width=0>${WORD}</marquee>`],
    ['a choice of the least', styled('font-size:min(1px,2px)')],
    ['a sum', styled('font-size:calc(2px - 1px)')],
    ['a matrix', styled('transform:matrix(0,0,0,0,0,0)')],
    ['a closed dialog', `<dialog>${WORD}</dialog>`],
    [
      'under another element',
      `<div style="position:relative"><p>${WORD}</p><div style="position:absolute;inset:0;background:#fff">&nbsp;</div></div>`,
    ],
  ]),
  // The rule names these, or they are no text of the body, although Chromium shows them: it enlarges relative
  // sizes to 6 px.
  ...ways('goes', true, [
    ['a fifth of the size', styled('font-size:0.2em')],
    ['a percentage of the size', styled('font-size:20%')],
    [
      'sizes that multiply',
      `<div style="font-size:50%"><p style="font-size:.4em">${WORD}</p></div>`,
    ],
    ['fill-opacity="0"', `<svg><text y="20" fill-opacity="0">${WORD}</text></svg>`],
    ['what an object shows instead', `<object>${WORD}</object>`],
  ]),
];

/** Words of a mail that nobody sees begin so. */
export const UNSEEN = 'Unseen';

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['nbsp', ' '],
  ['lrm', ''],
  ['rlm', ''],
  ['zwnj', ''],
]);

const FOLDER = fileURLToPath(new URL('../../../fixtures/html-mails/', import.meta.url));

/** Mails and newsletters as the usual programs write them. */
export const MAILS: readonly { readonly name: string; readonly html: string }[] = readdirSync(
  FOLDER,
).map((file) => ({
  name: file.replace('.html', ''),
  html: readFileSync(join(FOLDER, file), 'utf8'),
}));

/** The words of the texts that people see, in their order. */
export function seenWords(html: string): readonly string[] {
  const texts = html
    .replace(/<!--[^]*?-->|<style[^]*?<\/style>|<title[^]*?<\/title>|<[^>]*>/gi, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&([\w#]+);/g, (_, name: string) => {
      const character = CHARACTERS.get(name);
      if (character === undefined) throw new Error(`&${name};`);
      return character;
    });
  return wordsIn(texts).filter((word) => !word.startsWith(UNSEEN));
}

/** Words with a letter, a digit or a picture, without what is invisible. */
export function wordsIn(text: string): readonly string[] {
  return text
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .split(/[\s\u2800]+/u)
    .filter((word) => /\p{L}|\p{N}|\p{Emoji_Presentation}/u.test(word));
}
