import {
  type Answered,
  apple,
  boldFields,
  colonOf,
  fields,
  gmail,
  htmlOf,
  type ReplyClient,
  thunderbird,
} from './shapes.ts';

const mailto = (text: string, { address }: Answered) =>
  htmlOf(text).replace(address, `<a href="mailto:${address}">${address}</a>`);

const html = (
  name: string,
  quote: (to: Answered, old: string) => string,
  languages?: readonly string[],
): ReplyClient => ({ name, kind: 'html', marked: true, quote, ...(languages && { languages }) });
const wholeHtml = (
  name: string,
  quote: (to: Answered, old: string) => string,
  languages?: readonly string[],
): ReplyClient => ({ name, kind: 'html', marked: false, quote, ...(languages && { languages }) });

/** Replies in HTML, by program. */
export const HTML_CLIENTS: readonly ReplyClient[] = [
  html(
    'gmail',
    (to, old) =>
      `<br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${mailto(gmail(to), to)}<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex">${old}</blockquote></div>`,
  ),
  html(
    'apple',
    (to, old) =>
      `<div><br><blockquote type="cite"><div>${mailto(apple(to), to)}</div><br class="Apple-interchange-newline"><div>${old}</div></blockquote></div><br>`,
  ),
  html(
    'ios',
    (to, old) =>
      `<div dir="ltr"><br><blockquote type="cite">${mailto(apple(to), to)}<br><br></blockquote></div><blockquote type="cite"><div dir="ltr">${old}</div></blockquote>`,
  ),
  html(
    'thunderbird',
    (to, old) =>
      `<div class="moz-cite-prefix">${htmlOf(thunderbird(to))}<br></div><blockquote type="cite" cite="mid:m1@acme.example">${old}</blockquote>`,
  ),
  html(
    'roundcube',
    (to, old) =>
      `<p id="reply-intro">${htmlOf(thunderbird(to))}</p><blockquote type="cite" style="padding: 0 0.4em; border-left: #1010ff 2px solid; margin: 0"><div>${old}</div></blockquote>`,
  ),
  html(
    'proton',
    (to, old) =>
      `<br><div class="protonmail_quote">${htmlOf(`On Monday, January 5th, 2026 at 10:04, ${to.name} <${to.address}> wrote:`)}<br><br><blockquote class="protonmail_quote" type="cite">${old}</blockquote><br></div>`,
    ['en'],
  ),
  html(
    'superhuman',
    (to, old) =>
      `<br><div class="gmail_signature">Sent via <a href="https://sprh.mn/?vip=ann">Superhuman</a></div><br><div class="gmail_quote">On Mon, Jan 05, 2026 at 10:04 AM, ${to.name} <span dir="ltr">&lt;<a href="mailto:${to.address}">${to.address}</a>&gt;</span> wrote:<br><blockquote class="gmail_quote">${old}</blockquote></div>`,
    ['en'],
  ),
  html(
    'mailspring',
    (to, old) =>
      `<div class="gmail_quote_attribution">On Jan 5 2026, at 10:04 am, ${to.name} &lt;${to.address}&gt; wrote:</div><blockquote>${old}</blockquote>`,
    ['en'],
  ),
  html(
    'hey',
    (to, old) =>
      `<br><div>On January 5, 2026, ${to.name} &lt;<a href="mailto:${to.address}">${to.address}</a>&gt; wrote:<br></div><blockquote><div>${old}</div></blockquote>`,
    ['en'],
  ),
  html(
    'missive',
    (to, old) =>
      `<div class="missive_quote_header">${mailto(gmail(to), to)}</div><blockquote class="missive_quote" style="margin:0">${old}</blockquote>`,
  ),
  html(
    'mail.ru',
    (to, old) =>
      `<blockquote style="border-left:1px solid #0857A6; margin:10px; padding:0 0 0 10px;">Понедельник, 5 января 2026, 10:04 +03:00 от ${to.name} &lt;${to.address}&gt;:<br>&nbsp;<div>${old}</div></blockquote>`,
    ['ru'],
  ),
  html(
    'yandex',
    (to, old) =>
      `<div>&nbsp;</div><div>05.01.2026, 10:04, "${to.name}" &lt;<a href="mailto:${to.address}">${to.address}</a>&gt;:</div><blockquote>${old}</blockquote>`,
    ['ru'],
  ),
  html(
    'open-xchange',
    (to, old) =>
      `<blockquote type="cite"><div>${htmlOf(`${to.name} <${to.address}> hat am 05.01.2026 10:04 CET geschrieben:`)}</div><div><br></div>${old}</blockquote>`,
    ['de'],
  ),
  html('blockquote', (to, old) => `<p>${htmlOf(gmail(to))}</p><blockquote>${old}</blockquote>`),
  wholeHtml(
    'outlook',
    (to, old) =>
      `<div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p class="MsoNormal">${boldFields(to)}</p></div></div><p class="MsoNormal">&nbsp;</p>${old}`,
  ),
  wholeHtml(
    'outlook on the web',
    (to, old) =>
      `<div id="appendonsend"></div><hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri">${boldFields(to)}</font></div>${old}`,
  ),
  wholeHtml(
    'outlook for mobile',
    (to, old) =>
      `<div id="mail-editor-reference-message-container"><hr><div dir="ltr">${boldFields(to)}</div>${old}</div>`,
  ),
  wholeHtml(
    'outlook, old',
    (to, old) =>
      `<p>-----${to.language.original}-----<br>${fields(to, colonOf(to)).map(htmlOf).join('<br>')}</p>${old}`,
  ),
  wholeHtml(
    'yahoo',
    (to, old) =>
      `<div id="ydp123yahoo_quoted_1" class="ydp123yahoo_quoted"><div style="font-family:Arial"><div>${htmlOf(gmail(to))}</div><div><br></div><div>${old}</div></div></div>`,
  ),
  wholeHtml(
    'yahoo, earlier',
    (to, old) =>
      `<div class="yahoo_quoted" id="yahoo_quoted_1"><div>${htmlOf(gmail(to))}<br>${old}</div></div>`,
  ),
  wholeHtml(
    'gmx',
    (to, old) =>
      `<div name="quote" style="margin:10px 5px 5px 10px; padding: 10px 0 10px 10px; border-left:2px solid #C3D9E5;"><div style="margin:0 0 10px 0;">${boldFields(to)}</div><div name="quoted-content">${old}</div></div>`,
    ['de', 'en'],
  ),
  wholeHtml(
    'spark',
    (to, old) =>
      `<div name="messageReplySection">On Jan 5, 2026, 10:04 AM +0100, ${to.name} &lt;${to.address}&gt;, wrote:<br><blockquote type="cite">${old}</blockquote></div>`,
    ['en'],
  ),
  wholeHtml(
    'zoho',
    (to, old) =>
      `<div class="zmail_extra"><div id="Zm-_Id_-Sgn1">---- On Mon, 05 Jan 2026 10:04:11 +0100 <b>${to.name} &lt;${to.address}&gt;</b> wrote ---<br></div><br><blockquote>${old}</blockquote></div>`,
    ['en'],
  ),
  wholeHtml(
    'zimbra',
    (to, old) =>
      `<hr id="zwchr" data-marker="__DIVIDER__"><div data-marker="__HEADERS__">${boldFields(to)}</div><br><div data-marker="__QUOTED_TEXT__">${old}</div>`,
  ),
  wholeHtml(
    'samsung',
    (to, old) =>
      `<div style="font-size:100%;color:#000000"><!-- originalMessage --><div>-------- ${to.language.original} --------</div>${fields(
        to,
        colonOf(to),
      )
        .map((line) => `<div>${htmlOf(line)}</div>`)
        .join('')}</div><div>${old}</div>`,
  ),
  wholeHtml(
    'qq',
    (to, old) =>
      `<div style="font-size: 12px;padding:2px 0;">------------------&nbsp;Original&nbsp;------------------</div><div><b>From:</b>&nbsp;"${to.name}"&lt;${to.address}&gt;;</div><div><b>Date:</b>&nbsp;Mon, Jan 5, 2026 10:04 AM</div><div><b>To:</b>&nbsp;ann@customer.example;</div><div><b>Subject:</b>&nbsp;Re: ${to.subject}</div>${old}`,
    ['en'],
  ),
];
