import { htmlOf } from './shapes.ts';

/**
 * How a person marks a quotation of their own, as the buttons of the programs write it. Written from
 * public mails and from the programs' sources, apart from the product's own tables:
 * - qemu-devel and amd-gfx, whose archives keep the HTML as it was sent; named by Message-ID
 * - issues in which people show the HTML that they sent
 */
export interface QuotationShape {
  readonly name: string;
  /** The programs (of html-clients.ts) with this button; undefined for what is pasted anywhere. */
  readonly clients?: readonly string[];
  /** Programs also mark the answered mail by it, so that a long one at the end may be that mail. */
  readonly marksMail?: true;
  html(lines: readonly string[]): string;
}

const divs = (lines: readonly string[]) =>
  lines.map((line) => `<div>${htmlOf(line)}</div>`).join('');
const breaks = (lines: readonly string[]) => lines.map(htmlOf).join('<br>\n');
const words = (lines: readonly string[], style: string) =>
  lines
    .map((line) => `<p class="MsoNormal" style="${style}">${htmlOf(line)}<o:p></o:p></p>`)
    .join('\n');

const OUTLOOK_WEB = ['outlook on the web', 'outlook for mobile'];
const OUTLOOK_WORD = ['outlook', 'outlook, old'];
const GMAIL_BORDER =
  'margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex';

export const QUOTATION_SHAPES: readonly QuotationShape[] = [
  {
    // Gmail's quote button. https://github.com/mailgun/talon/issues/20: a blockquote of this class in
    // text that a person typed; the style is that of <CAAeLtUCy+Yib4D9-WMDRvTqVH-dP+sJT=
    // h1pa1eYKEaYuNZrtg@mail.gmail.com>.
    name: "gmail's quote button",
    clients: ['gmail', 'superhuman'],
    marksMail: true,
    html: (lines) =>
      `<blockquote class="gmail_quote" style="${GMAIL_BORDER}">${divs(lines)}</blockquote>`,
  },
  {
    // Gmail's indent button, in the same mail of qemu-devel: Gmail repeats the class of the element
    // in which the person types, so each of their own lines is in a gmail_quote.
    name: "gmail's indent button",
    clients: ['gmail'],
    html: (lines) =>
      `<blockquote style="margin:0 0 0 40px;border:none;padding:0px">${lines
        .map((line) => `<div class="gmail_quote"><div>${htmlOf(line)}</div></div>`)
        .join('')}</blockquote>`,
  },
  {
    // Indented outside of a reply's quote: usrp-users, "Selecting a RF Daughterboard".
    name: "gmail's indent button, plain",
    clients: ['gmail', 'superhuman'],
    html: (lines) =>
      `<blockquote style="margin:0px 0px 0px 40px;border:none;padding:0px">${divs(lines)}</blockquote>`,
  },
  {
    // Outlook on the web's quote button: <DM4PR12MB596299B2072C2CBAECCA4DBFFF52A@
    // DM4PR12MB5962.namprd12.prod.outlook.com>, amd-gfx, above its own divRplyFwdMsg.
    name: "outlook on the web's quote button",
    clients: OUTLOOK_WEB,
    html: (lines) =>
      `<div><blockquote class="userQuote" style="border-left: 3px solid rgb(200, 200, 200); padding-left: 1ex; margin-left: 0.8ex; color: rgb(102, 102, 102);" itemscope="" itemtype="https://schemas.microsoft.com/QuotedText">\n${breaks(lines)}</blockquote></div>`,
  },
  {
    // Word's indent, `margin-left` on each paragraph: <DS7PR12MB6071544EAAE22A7B810F27168E22A@
    // DS7PR12MB6071.namprd12.prod.outlook.com>, amd-gfx.
    name: "outlook's indent button",
    clients: OUTLOOK_WORD,
    html: (lines) => words(lines, 'margin-left:.5in'),
  },
  {
    // What Word makes of a quotation with a border, as in usrp-users, October 2020 ("I acquired a
    // Thunderbolt 10 Gigabit adapter").
    name: 'bordered, in outlook',
    clients: OUTLOOK_WORD,
    html: (lines) =>
      `<blockquote style="border:none;border-left:solid #CCCCCC 1.0pt;padding:0cm 0cm 0cm 6.0pt;margin-left:4.8pt;margin-right:0cm">${words(lines, '')}</blockquote>`,
  },
  {
    // Apple Mail's quotations, and what Thunderbird's "Paste As Quotation" inserts:
    // insertAsCitedQuotation of
    // https://raw.githubusercontent.com/mozilla-firefox/firefox/main/editor/nsIEditorMailSupport.idl
    name: 'type=cite',
    clients: ['apple', 'ios', 'thunderbird', 'roundcube', 'open-xchange', 'proton', 'spark'],
    marksMail: true,
    html: (lines) => `<blockquote type="cite">${divs(lines)}</blockquote>`,
  },
  {
    // Thunderbird quotes a text as <pre>: the class is in many mails of intel-gfx.
    name: 'type=cite, moz-quote-pre',
    clients: ['thunderbird'],
    html: (lines) =>
      `<blockquote type="cite"><pre class="moz-quote-pre" wrap="">${lines.map(htmlOf).join('\n')}\n</pre></blockquote>`,
  },
  {
    // The element as such, without a mark of a program:
    // https://developer.mozilla.org/en/HTML/Element/blockquote
    name: 'plain blockquote',
    html: (lines) => `<blockquote>${divs(lines)}</blockquote>`,
  },
  {
    // The mark typed into HTML: https://github.com/github/email_reply_parser/issues/3 is about a
    // quotation of the person's own that ends the text.
    name: '> in html',
    html: (lines) => divs(lines.map((line) => `> ${line}`)),
  },
];

/**
 * The marks of a quotation in plain text. `>` with and without a space is format=flowed
 * (https://www.rfc-editor.org/rfc/rfc3676#section-4.5); `|` and four spaces are what people type
 * (http://www.fifi.org/cgi-bin/info2www?(jargon)Email+Quotes).
 */
export const TEXT_MARKS: readonly string[] = ['> ', '> ', '> ', '>', '| ', '    '];

/**
 * The whole text of a person, which Apple Mail of macOS 15 wraps as if it were a quotation when a
 * script wrote it: https://github.com/patrickfreyer/apple-mail-mcp/issues/88, with both parts.
 */
export const WRAPPED_BY_MAIL = {
  text: (lines: readonly string[]) => lines.map((line) => `> ${line}`),
  html: (lines: readonly string[]) =>
    `<blockquote type="cite" style="border-left-style: none; color: inherit; padding: inherit; margin: inherit;">\n${breaks(lines)}\n</blockquote>`,
};
