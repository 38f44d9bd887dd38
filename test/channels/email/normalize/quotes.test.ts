import { describe, expect, test } from '@jest/globals';
import { parseHtml } from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { joinLines, textLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { trimQuotes } from '../../../../src/channels/email/normalize/quotes/trim-quotes.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';
import { runCases } from '../../../support/run-count.ts';

const trimText = (text: string) => joinLines(trimQuotes(textLines(text)).lines, 'TEXT');
const trimHtml = (html: string) => {
  const tree = parseHtml(html);
  if (tree === undefined) throw new Error('too deep');
  const lines = renderHtml(tree, { format: 'TEXT', inlineImage: () => undefined });
  return joinLines(trimQuotes(lines).lines, 'TEXT');
};

describe('the attribution line of a reply, by language', () => {
  test.each([
    ['English', 'On Mon, Jan 5, 2026 at 10:00 AM Acme Support <support@acme.example> wrote:'],
    ['English, Outlook', 'On 5 Jan 2026, at 10:00, Acme Support <support@acme.example> wrote:'],
    ['German', 'Am Mo., 5. Jan. 2026 um 10:00 Uhr schrieb Acme Support <support@acme.example>:'],
    ['German, Thunderbird', 'Am 05.01.26 um 10:00 schrieb Acme Support:'],
    ['French', 'Le lun. 5 janv. 2026 à 10:00, Acme Support <support@acme.example> a écrit :'],
    ['Spanish', 'El lun, 5 ene 2026 a las 10:00, Acme Support (<support@acme.example>) escribió:'],
    [
      'Italian',
      'Il giorno lun 5 gen 2026 alle ore 10:00 Acme Support <support@acme.example> ha scritto:',
    ],
    ['Dutch', 'Op ma 5 jan 2026 om 10:00 schreef Acme Support <support@acme.example>:'],
    [
      'Portuguese',
      'Em seg., 5 de jan. de 2026 às 10:00, Acme Support <support@acme.example> escreveu:',
    ],
    ['Polish', 'pon., 5 sty 2026 o 10:00 Acme Support <support@acme.example> napisał(a):'],
    ['Swedish', 'Den mån 5 jan. 2026 kl 10:00 skrev Acme Support <support@acme.example>:'],
    ['Danish', 'Den man. 5. jan. 2026 kl. 10.00 skrev Acme Support <support@acme.example>:'],
    ['Norwegian', 'man. 5. jan. 2026 kl. 10:00 skrev Acme Support <support@acme.example>:'],
    ['Finnish', 'ma 5. tammik. 2026 klo 10.00 Acme Support (support@acme.example) kirjoitti:'],
    ['Czech', 'po 5. 1. 2026 v 10:00 odesílatel Acme Support <support@acme.example> napsal:'],
    ['Turkish', 'Acme Support <support@acme.example>, 5 Oca 2026 Pzt, 10:00 tarihinde şunu yazdı:'],
    ['Russian', 'пн, 5 янв. 2026 г. в 10:00, Acme Support <support@acme.example>:'],
    ['Japanese', '2026年1月5日(月) 10:00 Acme Support <support@acme.example>:'],
    ['Chinese', 'Acme Support <support@acme.example> 于2026年1月5日周一 10:00写道：'],
    ['Spanish, Thunderbird', 'El 4/1/26 a las 9:30, Acme Support escribió:'],
    ['Italian, Thunderbird', 'Il 04/01/26 09:30, Acme Support ha scritto:'],
    ['Portuguese, Thunderbird', 'Às 09:30 de 04/01/2026, Acme Support escreveu:'],
    [
      'Dutch, Apple',
      'Op 4 jan 2026, om 09:30 heeft Acme Support <s@acme.example> het volgende geschreven:',
    ],
    ['Swedish, Apple', '4 jan. 2026 kl. 09:30 skrev Acme Support <s@acme.example>:'],
    ['Norwegian, Thunderbird', 'Den 04.01.2026 09:30, skrev Acme Support:'],
    ['Finnish, Thunderbird', 'Acme Support kirjoitti 4.1.2026 klo 9.30:'],
    ['Polish, Thunderbird', 'W dniu 4.01.2026 o 09:30, Acme Support pisze:'],
    ['Russian, Apple', '4 янв. 2026 г., в 09:30, Acme Support <s@acme.example> написал(а):'],
    ['Ukrainian', 'нд, 4 січ. 2026 р. о 09:30 Acme Support <s@acme.example> пише:'],
    ['Greek', 'Στις Κυρ 4 Ιαν 2026 στις 9:30 π.μ., ο/η Acme <s@acme.example> έγραψε:'],
    ['Turkish, Apple', 'Acme Support <s@acme.example> şunları yazdı (4 Oca 2026 09:30):'],
    ['Korean', '2026년 1월 4일 (일) 오전 9:30, Acme Support <s@acme.example>님이 작성:'],
    ['Korean, Thunderbird', '26. 1. 4. 오전 9:30에 Acme Support 이(가) 쓴 글:'],
    ['Taiwanese', 'Acme Support <s@acme.example> 於 2026年1月4日 週日 上午9:30 寫道：'],
    ['Chinese, Apple', '在 2026年1月4日，09:30，Acme Support <s@acme.example> 写道：'],
    ['Hebrew, Thunderbird', 'בתאריך 04/01/2026 09:30, Acme Support כתב:'],
    ['Arabic, Apple', 'في ٤ يناير ٢٠٢٦، الساعة ٩:٣٠ ص، كتب Acme Support <s@acme.example>:'],
    ['Hungarian', 'Acme Support <s@acme.example> ezt írta (időpont: 2026. jan. 4., V, 9:30):'],
    ['Romanian', 'În dum., 4 ian. 2026 la 09:30, Acme Support <s@acme.example> a scris:'],
  ])('%s', (_, attribution) => {
    const old = '> Old text.\n> More.';
    expect(trimText(`New text.\n\n${attribution}\n\n${old}`)).toBe('New text.');
    expect(trimText(`New text.\n${attribution}\n${old}`)).toBe('New text.');
    expect(trimText(`New text.\n\n> ${attribution}\n>\n> Old text.`)).toBe('New text.');
    // A client that does not mark the quote gives the address; without one it may be a person.
    const unmarked = `New text.\n\n${attribution}\n\nOld text, not marked.`;
    expect(trimText(unmarked)).toBe(attribution.includes('@') ? 'New text.' : unmarked);
  });

  test.each([
    'On Mon, Jan 5, 2026 at 10:00 AM Acme Customer Happiness\n<support@acme.example> wrote:',
    'Am Mo., 5. Jan. 2026 um 10:00 Uhr schrieb Acme Kundendienst\n<support@acme.example>:',
    'Acme Support <support@acme.example>, 5 Oca 2026 Pzt, 10:00 tarihinde\nşunu yazdı:',
    'Acme Support <support@acme.example> 于2026年1月5日周一\n10:00写道：',
    'нд, 4 січ. 2026 р. о 09:30 Acme Support\n<support@acme.example> пише:',
  ])('wrapped: %s', (attribution) => {
    expect(trimText(`New text.\n\n${attribution}\n\n> Old text.`)).toBe('New text.');
  });
});

describe('trimming plain text', () => {
  test.each([
    [
      'an attribution over two lines',
      'New.\n\nOn Mon, Jan 5, 2026 at 10:00 AM Acme\n<support@acme.example> wrote:\n\n> Old.',
      'New.',
    ],
    [
      'an attribution over three lines',
      'New.\n\nOn Mon, Jan 5, 2026 at\n10:00 AM Acme Support\n<support@acme.example> wrote:\n> Old.',
      'New.',
    ],
    [
      "Outlook's original message",
      'New.\n\n-----Original Message-----\nFrom: Acme\nSent: today\nOld.',
      'New.',
    ],
    ['the same in German', 'Neu.\n\n-----Ursprüngliche Nachricht-----\nVon: Acme\nAlt.', 'Neu.'],
    [
      'a header block under a rule',
      'New.\n________________________________\nFrom: Acme\nSent: today\nTo: Ann\nSubject: x\n\nOld.',
      'New.',
    ],
    [
      'a French header block',
      'Neuf.\n\nDe : Acme\nEnvoyé : lundi\nÀ : Ann\nObjet : x\n\nVieux.',
      'Neuf.',
    ],
    ['a long quote without an attribution', `New.\n\n${'> Old text.\n'.repeat(40)}`, 'New.'],
    ['a signature', 'New.\n\n-- \nAnn Customer\nAcme Ltd.', 'New.'],
    [
      'a signature before the quote',
      'New.\n-- \nAnn\n\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> Old.',
      'New.',
    ],
    [
      'what a telephone adds',
      'New.\n\nSent from my iPhone\n\nOn 5 Jan 2026, at 10:00, X <x@y.example> wrote:\n> Old.',
      'New.',
    ],
    [
      "Yahoo's app, the quote on the line of the attribution",
      'New.\n\n  On Sun, Jan 4, 2026 at 9:30, X<x@y.example> wrote:   Old.',
      'New.',
    ],
    ["Zoho's dashes", 'New.\n\n---- On Sun, 04 Jan 2026 X <x@y.example> wrote ---\n\nOld.', 'New.'],
    [
      'a header block that starts with the date',
      'Neu.\n\nGesendet: Sonntag\nVon: "Acme" <a@acme.example>\nAn: ann\nBetreff: x\nAlt.',
      'Neu.',
    ],
    ['a Hebrew header block', 'New.\n\nמאת: Acme\nנשלח: x\nאל: Ann\nנושא: x\n\nOld.', 'New.'],
    [
      'what an app adds, in Swedish',
      'New.\n\nHämta Outlook för Android<https://x.example>',
      'New.',
    ],
    ['what a telephone adds, in Japanese', 'New.\n\niPhoneから送信', 'New.'],
    [
      'a header block below words that do not point to it',
      'I hope to see you all on Friday. The price is below.\n\nFrom: Acme\nSent: today\nTo: Ann\nSubject: x\n\nOld.',
      'I hope to see you all on Friday. The price is below.',
    ],
  ])('%s', (_, text, expected) => {
    expect(trimText(text)).toBe(expected);
  });

  test.each([
    [
      'answers between the quoted lines',
      'On Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> One?\nYes.\n> Two?\nNo.',
    ],
    [
      'an answer below the quote',
      'On Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> One?\n\nYes.',
    ],
    [
      'text on both sides',
      'See below.\n\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> One?\nYes.',
    ],
    [
      'a forward',
      'Please look.\n\n---------- Forwarded message ---------\nFrom: X\nDate: today\nTo: Ann\nSubject: x\n\nText.',
    ],
    [
      'a forward of a telephone',
      'Begin forwarded message:\n\n> From: X\n> Date: today\n> Subject: x\n>\n> Text.',
    ],
    ['nothing but a quote', 'On Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> Old.'],
    ['nothing but a signature', '-- \nAnn'],
    [
      'a colleague who wrote something',
      'Your colleague wrote:\nplease send the form.\nHere it is.',
    ],
    ['a list with From and To', 'I fly\nFrom: Berlin\nwhere it rains.\nPlease change it.'],
    [
      'what a person says that another wrote',
      'Hello,\n\nOn Monday 5 January 2026 at 10:00 your colleague Jo wrote:\n\n"On Friday."\n\nIs it so?',
    ],
    [
      'a route and a date',
      'Please change it:\nFrom: Berlin\nTo: Paris\nDate: 5 May 2026\nThank you',
    ],
    ['a sentence that starts like what a telephone adds', 'New.\nVon meinem Konto ging Geld ab.'],
    [
      'answers that are said to stand in the quote',
      'See my answers in red below.\n\nFrom: Acme\nSent: today\nTo: Ann\nSubject: x\n\nOne? Yes.',
    ],
    ['the same in German', 'Antworten siehe unten.\n\n> Eins?\n> Ja.'],
    [
      'what a person says that they wrote',
      'Hello,\n\nOn 12.03.2025 I wrote to Acme (support@acme.example):\n\nPlease cancel it.',
    ],
    [
      'the same of another, in German',
      'Am 12.03.2025 schrieb mein Mann an Acme <support@acme.example>:\n\nBitte stornieren.',
    ],
    ['a long text after two dashes', `Options\n--\n${'Line.\n'.repeat(40)}`],
  ])('keeps %s', (_, text) => {
    expect(trimText(text)).toBe(joinLines(textLines(text), 'TEXT'));
  });
});

describe('trimming by the marks of mail clients', () => {
  test.each([
    [
      'Gmail',
      '<div>New.</div><div class="gmail_quote"><div class="gmail_attr">On 5 Jan 2026 X wrote:</div><blockquote class="gmail_quote">Old.</blockquote></div>',
      'New.',
    ],
    [
      'Gmail, old',
      '<div>New.</div><div class="gmail_quote">On Mon, Jan 5, 2026 at 10:00 AM X &lt;x@y.example&gt; wrote:<br><blockquote class="gmail_quote">Old.</blockquote></div>',
      'New.',
    ],
    [
      'Outlook on the web',
      '<div>New.</div><hr><div id="divRplyFwdMsg"><b>From:</b> X</div><div>Old.</div>',
      'New.',
    ],
    [
      'Outlook on the web, quoted by another',
      '<div>New.</div><div id="x_divRplyFwdMsg">From: X</div><div>Old.</div>',
      'New.',
    ],
    [
      'Outlook for Windows',
      '<p>New.</p><div style="border:none;border-top:solid #B5C4DF 1.0pt"><p><b>Von:</b> X<br><b>Gesendet:</b> Montag</p></div><p>Old.</p>',
      'New.',
    ],
    ['Yahoo', '<div>New.</div><div class="yahoo_quoted">On Monday X wrote:<br>Old.</div>', 'New.'],
    [
      'Thunderbird',
      '<p>New.</p><div class="moz-cite-prefix">Am 05.01.26 schrieb X:</div><blockquote type="cite">Old.</blockquote>',
      'New.',
    ],
    [
      'Proton',
      '<div>New.</div><div class="protonmail_quote">On Monday X wrote:<blockquote>Old.</blockquote></div>',
      'New.',
    ],
    [
      'Apple',
      '<div>New.</div><blockquote type="cite">On 5 Jan 2026, at 10:00, X wrote:<br>Old.</blockquote>',
      'New.',
    ],
    ['a signature', '<div>New.</div><div class="gmail_signature">Ann</div>', 'New.'],
  ])('%s', (_, html, expected) => {
    expect(trimHtml(html)).toBe(expected);
  });

  test.each([
    [
      'answers in between',
      '<div class="gmail_quote"><blockquote class="gmail_quote">One?</blockquote><div>Yes.</div><blockquote class="gmail_quote">Two?</blockquote><div>No.</div></div>',
      'Yes.',
    ],
    [
      'an answer below',
      '<div class="moz-cite-prefix">Am 05.01.26 schrieb X:</div><blockquote type="cite">One?</blockquote><p>Yes.</p>',
      'One?',
    ],
    [
      'a forward',
      '<div>Look.</div><div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message ---------<br>From: X</div>Text.</div>',
      'Text.',
    ],
    [
      'a border that is no header',
      '<div style="border-top:solid 1px">Offers</div><p>Text.</p>',
      'Text.',
    ],
    [
      'a caption of a form below a border',
      '<div style="border-top:solid 1px">Odesílatel: Jan Novák</div><p>Text.</p>',
      'Text.',
    ],
  ])('keeps %s', (_, html, kept) => {
    expect(trimHtml(html)).toContain(kept);
  });
});

const QUOTED = '> Old text.\n> More.';

test.each([
  'Ann Lee (5 Jan 2026 10:00):',
  'Ann Lee, 05.01.2026 10:00:',
  '[2026-01-05 10:00] Ann Lee:',
  // Mutt and Gnus as their users set them.
  '* Ann Lee [2026-01-05 10:00:00]:',
  'On (2026-01-05 10:00), Ann Lee wrote:',
  // alot and sup.
  'Quoting Ann Lee (2026-01-05 10:00:00)',
  "Excerpts from Ann Lee's message of Mon Jan 05 10:00:00 +0100 2026:",
])('a name and the time of day introduce a quote: %s', (line) => {
  expect(trimText(`New text.\n\n${line}\n${QUOTED}`)).toBe('New text.');
});

test.each([
  'The console said (10:00):',
  'Your page says (5 Jan 2026):',
  'Delivery Slot (05.01.2026):',
  'Total Price (10.00):',
  'Server Log (05.01.2026 10:00):',
  'UPS Tracking, 05.01.2026 10:00:',
  '[2026-01-05 10:00:01] ERROR:',
])('a thing and a time introduce what the person quotes: %s', (line) => {
  const text = `New text.\n\n${line}\n${QUOTED}`;
  expect(trimText(text)).toBe(text);
});

describe('lines behind a name or a bar', () => {
  const below = (prefix: string) => `${prefix} Old text.\n\n${prefix} More.`;

  test.each(['AL>', 'Ann>', 'A.L.>', 'Lee>>', '|'])(
    'are a quote below an attribution: %s',
    (prefix) => {
      expect(trimText(`New text.\n\nAnn Lee wrote:\n${below(prefix)}`)).toBe('New text.');
      const answered = `New text.\n\nAnn Lee wrote:\n\n${below(prefix)}\nAn answer.`;
      expect(trimText(answered)).toBe(answered);
    },
  );

  test.each(['AL>', '|', 'SQL>'])('are text anywhere else: %s', (prefix) => {
    const text = `New text.\n\nThe console:\n${below(prefix)}`;
    expect(trimText(text)).toBe(text);
  });

  test('are a table with a bar at their end', () => {
    const text = 'New text.\n\nAnn Lee wrote:\n| a | b |\n| 1 | 2 |';
    expect(trimText(text)).toBe(text);
  });
});

test('Italian header blocks', () => {
  const rest = 'Oggetto: Re: ordine\n\nOld text.';
  for (const fields of [
    'Da: Ann Lee\nSpedito: lunedì 5 gennaio 2026 10:00\nPer: Bob',
    'Mittente: Ann Lee\nDestinatari: Bob',
  ]) {
    expect(trimText(`New text.\n\n${fields}\n${rest}`)).toBe('New text.');
  }
});

test('what was trimmed is there to be shown', () => {
  const { trimmed } = trimQuotes(
    textLines('New.\n-- \nAnn\n\nOn 5 Jan 2026 at 10:00 X <x@y.example> wrote:\n> Old.'),
  );
  expect(trimmed.map(({ text }) => text)).toEqual([
    '--',
    'Ann',
    '',
    'On 5 Jan 2026 at 10:00 X <x@y.example> wrote:',
    '> Old.',
  ]);
});

describe('the attribution of a quote', () => {
  test.each([
    ['without a date', 'Acme Support wrote:'],
    ['without a year', 'On Sun, Jan 4, Acme Support\n<support@acme.example>\nwrote:'],
    ['via a help desk', 'On Sun, 4 Jan at 9:30 AM , Acme via Help <support@acme.example> wrote:'],
    [
      'with an offset',
      '2026-01-04 9:30 GMT+01:00 Acme Customer Happiness\n<support@acme.example>:',
    ],
    ['with "sent"', 'On 4 Jan 2026, at 9:30, Acme <support@acme.example> sent:'],
    [
      'with a link to the address',
      'Le 4 janv. 2026 à 9:30, Acme <s@a.example<mailto:s@a.example>> a écrit:',
    ],
    [
      'with a wrapped link',
      'On Jan 4, 2026, at 9:30, Acme <s@a.example<\nmailto:s@a.example>> wrote:',
    ],
    ['without a colon', 'On Sun, 4 Jan 2026 09:30:11 -0200 Acme <support@acme.example> wrote'],
    ['between dashes', '---- Acme Support wrote ----'],
    ['in Vietnamese', 'Vào CN, 4 thg 1, 2026 vào lúc 9:30 Acme <s@a.example> đã viết:'],
    ['in Thai', 'เมื่อ อา. 4 ม.ค. 2026 เวลา 9:30 Acme <s@a.example> เขียนว่า:'],
  ])('%s', (_, attribution) => {
    expect(trimText(`New text.\n\n${attribution}\n\n> Old.\n> More.`)).toBe('New text.');
  });

  test('may stand behind the person\u2019s own words', () => {
    const text = 'Hello,\nyes, go ahead On Sun, Jan 4, 2026 at 9:30, X wrote:\n> Old.\n> More.';
    expect(trimText(text)).toBe('Hello,\nyes, go ahead');
  });

  test.each([
    [
      'a sentence that ends in a colon',
      'I do not agree with this point of yours:\n> Old.\n> More.',
    ],
    [
      'what another wrote',
      'My colleague and I do not believe what your shop wrote:\n> Old.\n> More.',
    ],
  ])('is not %s', (_, text) => {
    expect(trimText(`Hello.\n\n${text}`)).toBe(`Hello.\n\n${text}`);
  });
});

describe('time that grows with the input and no faster', () => {
  const INPUTS: [string, string][] = [
    ['200 KB of "On a a a"', `${'On a a a '.repeat(22_000)}:`],
    ['the same, line by line', 'On a a a 2020 10:00 <a@b>\n'.repeat(8000)],
    ['the same, each an attribution', 'On a 2020 10:00 <a@b> wrote:\n'.repeat(7000)],
    ['the same, with text behind', 'On a 2020 <a@b> wrote:   x\n'.repeat(8000)],
    ['1 MB of >', '>'.repeat(1_000_000)],
    ['1 MB of > on lines', '>\n'.repeat(500_000)],
    ['100,000 lines', 'a line of text\n'.repeat(100_000)],
    ['100,000 empty lines', `${'\n'.repeat(100_000)}a`],
    ['100,000 lines and quotes', 'a\n> b\n'.repeat(50_000)],
    ['100,000 quotations', '> a b:\n\n'.repeat(100_000)],
    ['quoted attributions', '> On a 2020 10:00 <a@b>\n> wrote:\n\n'.repeat(7000)],
    ['quoted headers', '> From: a\n> Sent: b\n> To: c\n> Subject: d\n\n'.repeat(6000)],
    ['100,000 labels', 'Sent: a\n'.repeat(100_000)],
    ['100,000 From lines', 'From: a\n'.repeat(100_000)],
    ['100,000 colons', ':\n'.repeat(100_000)],
    ['100,000 dashes', '-- \n'.repeat(100_000)],
    ['1 MB of angle brackets', `On 2020 ${'<a@'.repeat(330_000)}:`],
    ['1 MB of -', '-'.repeat(1_000_000)],
    ['200 KB of lines that nearly are attributions', 'a@b x y z w v u:\n'.repeat(12_000)],
    ['header fields', 'From: a\nSent: b\nTo: c\nDate: d\nCc: e\n'.repeat(6000)],
    ['dashes and words', '---- a b wrote\n'.repeat(14_000)],
    ['wrapped quotes', `${'> word'.padEnd(70, ' word')}\nword\n`.repeat(3000)],
  ];
  test.each(runCases(INPUTS))('%s', async (_, text) => {
    await withinProcessorTime(3000, () => trimText(text));
  });
});
