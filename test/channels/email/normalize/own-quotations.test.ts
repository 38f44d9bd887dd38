import { describe, expect, test } from '@jest/globals';
import { parseHtml } from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { joinLines, textLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { trimQuotes } from '../../../../src/channels/email/normalize/quotes/trim-quotes.ts';

const trimText = (text: string) => joinLines(trimQuotes(textLines(text)).lines, 'TEXT');
const trimHtml = (html: string) => {
  const tree = parseHtml(html);
  if (tree === undefined) throw new Error('too deep');
  const lines = renderHtml(tree, { format: 'TEXT', inlineImage: () => undefined });
  return joinLines(trimQuotes(lines).lines, 'TEXT');
};

const ATTRIBUTION = 'On Fri, 27 Nov 2026 at 10:00, Acme <support@acme.example> wrote:';
const WRITTEN = ATTRIBUTION.replace('<', '&lt;').replace('>', '&gt;');

/** The blockquotes of the buttons with which people quote. */
const BUTTONS = {
  plain: '<blockquote>',
  bordered:
    '<blockquote style="margin-left:0.8ex;padding-left:1ex;border-left:3px solid rgb(200,200,200)">',
  "Gmail's":
    '<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid">',
  'type=cite': '<blockquote type="cite">',
};
/** The answered message, as the client introduces it. */
const BELOW_HTML = {
  nothing: '',
  "Gmail's message": `<br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${WRITTEN}<br></div><blockquote class="gmail_quote">Is it solved?</blockquote></div>`,
  "Outlook's message":
    '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg" dir="ltr"><b>From:</b> Acme<br><b>Sent:</b> Friday</div><div>Is it solved?</div>',
  "Thunderbird's message":
    '<div class="moz-cite-prefix">Am 27.11.26 um 10:00 schrieb Acme:<br></div><blockquote type="cite" cite="mid:m1@acme.example">Is it solved?</blockquote>',
  "Apple's message": `<div><br><blockquote type="cite"><div>${WRITTEN}</div><br class="Apple-interchange-newline"><div>Is it solved?</div></blockquote></div>`,
};
const BELOW_TEXT = {
  nothing: '',
  "Gmail's message": `\n${ATTRIBUTION}\n\n> Is it solved?\n`,
  "Outlook's message":
    '\n________________________________\nFrom: Acme <support@acme.example>\nSent: Friday\nTo: Jane\nSubject: Order\n\nIs it solved?\n',
  "Thunderbird's message": '\nAm 27.11.26 um 10:00 schrieb Acme:\n> Is it solved?\n',
  "Apple's message": `\n> ${ATTRIBUTION}\n> \n> Is it solved?\n`,
  "Apple's message, wrapped": `\n> ${ATTRIBUTION.replace(' <', '\n> <')}\n> \n> Is it solved?\n`,
  "Apple's message, below an empty line": `\n>\n> ${ATTRIBUTION}\n> Is it solved?\n`,
  "Orange's message":
    '\n> Message du 05/01/26 10:04\n> De : "Acme" <support@acme.example>\n> A : jane@customer.example\n> Objet : Order\n>\n> Is it solved?\n',
  "Outlook's message with marks":
    '\n> -----Original Message-----\n> From: Acme <support@acme.example>\n> Sent: Friday\n> To: Jane\n> Subject: Order\n> \n> Is it solved?\n',
};

describe('what the person quotes at the end of their text stays, what the client quotes below goes', () => {
  const mixtures = Object.entries(BUTTONS).flatMap(([button, open]) =>
    Object.entries(BELOW_HTML).map(([below, html]) => [button, below, open, html] as const),
  );
  test.each(mixtures)('a %s blockquote, with %s below', (_button, _below, open, html) => {
    const own = `<div>The display shows this.</div>${open}PRINTER 0x61 INK FAILURE</blockquote>`;
    expect(trimHtml(own + html)).toBe('The display shows this.\n\n> PRINTER 0x61 INK FAILURE');
  });

  const log = 'The console says this:\n\n> npm ERR! code E404\n> npm ERR! 404 Not Found';
  test.each(Object.entries(BELOW_TEXT))('lines of a log, with %s below', (_, below) => {
    expect(trimText(`${log}\n${below}`)).toBe(log);
  });

  const letter = `My last letter:\n\n> Hello,\n>\n> ${ATTRIBUTION}\n> > Which size?\n>\n> Size 42.`;
  test.each(Object.entries(BELOW_TEXT))('a letter with a quote, with %s below', (_, below) => {
    expect(trimText(`${letter}\n${below}`)).toBe(letter);
  });

  const header = '> From: Bob <bob@x.example>\n> Sent: Friday\n> To: Jane\n> Subject: Size';
  test.each([
    ['the attribution', `> ${ATTRIBUTION}\n>\n> Which size?`],
    ['the header', `${header}\n>\n> Which size?`],
  ])('a letter with %s above it', (_, quoted) => {
    const own = `Your last letter.\n\n${quoted}`;
    expect(trimText(`${own}\n${BELOW_TEXT["Gmail's message"]}`)).toBe(own);
    expect(trimText(`${own}\n${BELOW_TEXT["Outlook's message"]}`)).toBe(own);
  });

  test('a line with a date directly above', () => {
    const quoted = `> ${ATTRIBUTION}\n>\n> When?`;
    expect(trimText(`On 5.1. at 10:00\n${quoted}`)).toBe('On 5.1. at 10:00');
  });

  test.each([
    ['a forward below', `${log}\n\n---------- Forwarded message ---------\nFrom: Acme\nSubject: x`],
    ['a signature above', 'New.\n--\nAnn\n\n> ERROR 17\n> CALL SERVICE'],
  ])('with %s', (_, text) => {
    expect(trimText(text)).toBe(text);
  });
});

describe('a quote at the end that nothing introduces', () => {
  const long = '> A line of the message that was answered.\n'.repeat(8).trimEnd();

  test.each([
    ['of more than 300 characters goes', 'Thanks.', long, 'Thanks.'],
    [
      'stays when it is shorter',
      'Thanks.',
      '> Your parcel has come.\n> Is it complete?',
      undefined,
    ],
    ['stays below a colon', 'The log:', long, undefined],
    ['stays below a colon and a device line', 'The log:\n\nSent from my iPhone', long, undefined],
    ['stays below a question', 'What does this mean?', long, undefined],
  ])('%s', (_, above, quote, kept) => {
    const text = `${above}\n\n${quote}`;
    expect(trimText(text)).toBe(kept ?? text);
  });

  test('goes as a blockquote too', () => {
    const quote = 'A line of the message that was answered.<br>'.repeat(8);
    expect(trimHtml(`<p>Thanks.</p><blockquote type="cite">${quote}</blockquote>`)).toBe('Thanks.');
  });
});

describe("the client's own container", () => {
  test.each(['gmail_attr', 'moz-cite-prefix', 'yahoo_quoted', 'protonmail_quote'])(
    'introduces with the prefix of Outlook too: x_%s',
    (name) => {
      expect(trimHtml(`<p>New.</p><div class="x_${name}">Old.</div>`)).toBe('New.');
    },
  );

  test('keeps what the person wrote into it, above the first header', () => {
    const header =
      '<b>From:</b> Acme &lt;support@acme.example&gt;<br><b>Sent:</b> Friday<br><b>To:</b> Jane<br><b>Subject:</b> Order';
    const mail = (own: string) =>
      `<div id="mail-editor-reference-message-container"><div>${own}</div><hr><div id="divRplyFwdMsg">${header}</div><div>Is it solved?</div></div>`;
    expect(trimHtml(mail('Yes, thank you.'))).toBe('Yes, thank you.');
    expect(trimHtml(mail(''))).toContain('Is it solved?');
  });

  test('of Outlook for Windows has at least two labels below its border', () => {
    const mail = (labels: string) =>
      `<p>New.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p>${labels}</p></div><p>Below.</p>`;
    expect(trimHtml(mail('<b>From:</b> Ann<br><b>Sent:</b> Friday'))).toBe('New.');
    expect(trimHtml(mail('<b>From:</b> Berlin'))).toContain('Below.');
  });
});

test('a link that was wrapped within a quote is no answer, with a full stop behind it too', () => {
  const quote = '> Reply to this email or view it at\n<https://acme.example/tickets/1#c2>.\n> ';
  expect(trimText(`No.\n> ${ATTRIBUTION}\n> \n${quote}`)).toBe('No.');
});

describe('which rule decides', () => {
  const long = '> A line of the message that was answered.\n'.repeat(8).trimEnd();
  const log = '> npm ERR! code E404\n> npm ERR! 404';
  test.each([
    ['title', `New.\n\n-----Original Message-----\nFrom: Acme\nOld.`, []],
    ['attribution', `New.\n\n${ATTRIBUTION}\n> Old.`, []],
    ['header_block', `New.\n${BELOW_TEXT["Outlook's message"]}`, []],
    ['quote_marks', `New.\n\n${long}`, []],
    [undefined, `The log:\n\n${log}`, ['own_quotation']],
    ['attribution', `The log:\n\n${log}\n${BELOW_TEXT["Gmail's message"]}`, ['own_quotation']],
  ])('%s: %s', (rule, text, stays) => {
    const { cuts = [], stayed = [] } = trimQuotes(textLines(text));
    expect(cuts.map((each) => each.rule)).toEqual(rule === undefined ? [] : [rule]);
    expect(stayed.map((each) => each.rule)).toEqual(stays);
    if (stays.length > 0) expect(stayed[0]).toMatchObject({ lines: 2, at: '> npm ERR! code E404' });
  });

  test.each([
    ['labels of their own', 'From: Berlin\nTo: Hamburg\nDate: 5 December'],
    ['a colour behind an answer', 'Thanks for the answer. Send it in blue.'],
  ])('above a quote, %s are a text like any other', (_, own) => {
    const { lines } = trimQuotes(textLines(`${own}\n\n${ATTRIBUTION}\n> When?`));
    expect(joinLines(lines, 'TEXT')).toBe(own);
  });

  test.each([
    ['forward', `---------- Forwarded message ---------\nFrom: Acme\nSubject: x`],
    ['inline_answers', `New.\n\n${ATTRIBUTION}\n> When?\nNow.\n> Where?\nHere.`],
    ['points_into_quote', `My answers are below in red.\n\n${ATTRIBUTION}\n> When? Now.`],
    ['points_into_quote', `I answered in your mail.\n\n${ATTRIBUTION}\n> When? Now.`],
    ['points_into_quote', `Vastaukseni alla.\n\n${ATTRIBUTION}\n> When? Now.`],
    ['points_into_quote', `Odpovědi níže.\n\n${ATTRIBUTION}\n> When? Now.`],
    ['points_into_quote', `红字是我的回复。\n\n${ATTRIBUTION}\n> When? Now.`],
    ['points_into_quote', `회신은 아래에 있습니다.\n\n${ATTRIBUTION}\n> When? Now.`],
    ['nothing_left', `${ATTRIBUTION}\n> When?`],
  ])('%s: nothing is cut', (why, text) => {
    expect(trimQuotes(textLines(text)).why).toBe(why);
  });
});
