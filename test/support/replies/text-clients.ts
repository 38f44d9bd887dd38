import {
  type Answered,
  apple,
  colonOf,
  fields,
  FULL,
  gmail,
  LONG,
  type ReplyClient,
  SHORT,
  thunderbird,
  TIME,
} from './shapes.ts';

const text = (
  name: string,
  head: (to: Answered) => readonly string[],
  languages?: readonly string[],
): ReplyClient => ({ name, kind: 'text', marked: true, head, ...(languages && { languages }) });
const unmarked = (
  name: string,
  head: (to: Answered) => readonly string[],
  languages?: readonly string[],
): ReplyClient => ({ name, kind: 'text', marked: false, head, ...(languages && { languages }) });

/** Replies in plain text, by program. */
export const TEXT_CLIENTS: readonly ReplyClient[] = [
  text('gmail', (to) => [gmail(to), '']),
  text('apple', (to) => [apple(to), '']),
  text('thunderbird', (to) => [thunderbird(to)]),
  text('gmail, earlier', (to) => [`${to.iso} 10:04 GMT+01:00 ${to.name} <${to.address}>:`, '']),
  text('k-9', (to) => [gmail(to)]),
  text('roundcube', (to) => [thunderbird(to).replace(to.date(SHORT), to.iso)]),
  text(
    'proton',
    (to) => [`On ${to.date(FULL)} at ${to.date(TIME)}, ${to.name} <${to.address}> wrote:`, ''],
    ['en'],
  ),
  text(
    'airmail',
    (to) => [`On ${to.date(LONG)} at ${to.date(TIME)}, ${to.name} (${to.address}) wrote:`, ''],
    ['en'],
  ),
  text(
    'spark',
    (to) => [`On ${to.date(LONG)}, ${to.date(TIME)} +0100, ${to.name} <${to.address}>, wrote:`],
    ['en'],
  ),
  text('mutt', (to) => [`On Mon, Jan 05, 2026 at 10:04:00AM +0100, ${to.name} wrote:`], ['en']),
  text(
    'claws',
    (to) => ['On Mon, 5 Jan 2026 10:04:11 +0100', `${to.name} <${to.address}> wrote:`, ''],
    ['en'],
  ),
  text('evolution', (to) => [`On Mon, 2026-01-05 at 10:04 +0100, ${to.name} wrote:`], ['en']),
  text('kmail', (to) => [`Am Montag, 5. Januar 2026, 10:04:11 CET schrieb ${to.name}:`], ['de']),
  text('fastmail', (to) => [`On Mon, 5 Jan 2026, at 10:04 AM, ${to.name} wrote:`], ['en']),
  text('gnus', (to) => [`${to.name} <${to.address}> writes:`, ''], ['en']),
  text('seamonkey', (to) => [`${to.name} wrote:`], ['en']),
  text('postbox', (to) => [`${to.name} wrote on 1/5/26 10:04 AM:`], ['en']),
  text('front', (to) => [`On January 5, 2026 at 10:04 AM GMT+1 ${to.address} wrote:`, ''], ['en']),
  text('horde', (to) => ['', `Zitat von ${to.name} <${to.address}>:`, ''], ['de']),
  text('horde', (to) => ['', `Quoting ${to.name} <${to.address}>:`, ''], ['en']),
  text('the bat', () => ['Monday, January 5, 2026, 10:04:11, you wrote:', ''], ['en']),
  text('tutanota', (to) => [`${to.date(LONG)}, 10:04 von ${to.address}:`, ''], ['de']),
  text('tutanota', (to) => [`${to.date(LONG)}, 10:04 by ${to.address}:`, ''], ['en']),
  text('netease', (to) => [`在 ${to.iso} 10:04:11，"${to.name}" <${to.address}> 写道：`, ''], [
    'zh-CN',
  ]),
  text('netease', (to) => [`At ${to.iso} 10:04:11, "${to.name}" <${to.address}> wrote:`], ['en']),
  text(
    'mail.ru',
    (to) => [`Понедельник, 5 января 2026, 10:04 +03:00 от ${to.name} <${to.address}>:`, ''],
    ['ru'],
  ),
  text('yandex', (to) => [`05.01.2026, 10:04, "${to.name}" <${to.address}>:`], ['ru']),
  text(
    'ionos',
    (to) => [`> ${to.name} <${to.address}> hat am 05.01.2026 10:04 CET geschrieben:`, '> ', '>  '],
    ['de'],
  ),
  text(
    'open-xchange',
    (to) => [`> On 01/05/2026 10:04 AM CET ${to.name} <${to.address}> wrote:`, '> ', '>  '],
    ['en'],
  ),
  text(
    'orange',
    (to) => [
      '',
      '> Message du 05/01/26 10:04',
      `> De : "${to.name}" <${to.address}>`,
      '> A : ann@customer.example',
      '> Copie à : ',
      `> Objet : Re: ${to.subject}`,
      '> ',
    ],
    ['fr'],
  ),
  text('wp.pl', (to) => [`Dnia 5 stycznia 2026 10:04 ${to.name} <${to.address}> napisał(a):`, ''], [
    'pl',
  ]),
  text(
    'becky',
    (to) => ['On Mon, 5 Jan 2026 10:04:11 +0900', `${to.name} <${to.address}> wrote:`, ''],
    ['ja'],
  ),
  text(
    'help desk',
    (to) => [`On Mon, 5 Jan at 10:04 AM , ${to.name} via Acme <${to.address}> wrote:`],
    ['en'],
  ),
  unmarked('outlook', (to) => [
    `-----${to.language.original}-----`,
    ...fields(to, colonOf(to)),
    '',
  ]),
  unmarked('outlook on the web', (to) => [
    '________________________________',
    ...fields(to, colonOf(to)),
    '',
  ]),
  unmarked('outlook for mobile', (to) => [...fields(to, colonOf(to)), '']),
  unmarked('samsung', (to) => {
    const [from = '', , recipient = '', subject = ''] = fields(to, colonOf(to));
    const sent = `${to.language.fields[1]}: 05/01/2026 10:04 (GMT+01:00)`;
    return [`-------- ${to.language.original} --------`, from, sent, recipient, subject, ''];
  }),
  unmarked('yahoo', (to) => [`    ${gmail(to)}  `, ' ']),
  unmarked(
    'zoho',
    (to) => [`---- On Mon, 05 Jan 2026 10:04:11 +0100 ${to.name} <${to.address}> wrote ----`, ''],
    ['en'],
  ),
  unmarked('nine', (to) => [`---- ${to.name} wrote ----`, ''], ['en']),
  unmarked('zimbra', (to) => [
    `----- ${to.language.original} -----`,
    ...fields(to, colonOf(to)),
    '',
  ]),
  unmarked(
    'gmx',
    (to) => {
      const [from = '', sent = '', recipient = '', subject = ''] = fields(to);
      return [sent, from, recipient, subject, ''];
    },
    ['de', 'en'],
  ),
  unmarked(
    't-online',
    (to) => [
      '-----Original-Nachricht-----',
      `Betreff: ${to.subject}`,
      'Datum: 2026-01-05T10:04:11+0100',
      `Von: "${to.name}" <${to.address}>`,
      'An: "ann@customer.example"',
      '',
    ],
    ['de'],
  ),
  unmarked(
    'qq',
    (to) => [
      '------------------&nbsp;原始邮件&nbsp;------------------',
      `发件人: "${to.name}"<${to.address}>;`,
      '发送时间: 2026年1月5日(星期一) 上午10:04',
      '收件人: "ann"<ann@customer.example>;',
      `主题: Re: ${to.subject}`,
      '',
    ],
    ['zh-CN'],
  ),
  unmarked(
    'foxmail',
    (to) => [
      ' ',
      `发件人： ${to.name}`,
      '发送时间： 2026-01-05 10:04',
      '收件人： ann',
      `主题： Re: ${to.subject}`,
    ],
    ['zh-CN'],
  ),
  unmarked(
    'naver',
    (to) => [
      '-----Original Message-----',
      `From: "${to.name}"<${to.address}>`,
      'To: <ann@customer.example>;',
      'Cc: ',
      'Sent: 2026-01-05 (월) 10:04:11 (GMT+09:00)',
      `Subject: Re: ${to.subject}`,
      '',
    ],
    ['ko'],
  ),
  unmarked(
    'daum',
    (to) => [
      '--------- 원본 메일 ---------',
      `보낸사람 : ${to.name} <${to.address}>`,
      '받는사람 : <ann@customer.example>',
      '날짜 : 2026년 1월 5일 월요일 10시 04분',
      `제목 : Re: ${to.subject}`,
      '',
    ],
    ['ko'],
  ),
  unmarked(
    'em client',
    (to) => [
      '------ Original Message ------',
      `From "${to.name}" <${to.address}>`,
      'To ann@customer.example',
      'Date 1/5/2026 10:04:11 AM',
      `Subject Re: ${to.subject}`,
      '',
    ],
    ['en'],
  ),
  unmarked(
    'seznam',
    (to) => [
      '---------- Původní e-mail ----------',
      `Od: ${to.name} <${to.address}>`,
      'Komu: ann@customer.example',
      'Datum: 5. 1. 2026 10:04:11',
      `Předmět: Re: ${to.subject}`,
      '',
    ],
    ['cs'],
  ),
  unmarked(
    'blackberry',
    (to) => [
      '  Original Message  ',
      `From: ${to.address}`,
      'Sent: Monday, January 5, 2026 10:04 AM',
      'To: ann@customer.example',
      `Subject: Re: ${to.subject}`,
      '',
    ],
    ['en'],
  ),
  unmarked(
    'one line',
    (to) => [
      `From: ${to.name} <${to.address}> Sent: Monday, January 5, 2026 10:04 AM To: ann@customer.example Subject: Re: ${to.subject}`,
      '',
    ],
    ['en'],
  ),
];

const forwardFields = (to: Answered) => fields(to, colonOf(to));
const dashed = (title: string, count: number, dash = '-') =>
  `${dash.repeat(count)} ${title} ${dash.repeat(count)}`;

/** What programs write above a forwarded message, in the words of the one that is forwarded. */
export const FORWARD_HEADS: readonly ((to: Answered) => readonly string[])[] = [
  // Gmail writes it in English, whatever the language.
  (to) => [dashed('Forwarded message', 9), ...forwardFields(to), ''],
  (to) => [to.language.appleForward, '', ...forwardFields(to), ''],
  (to) => [to.language.appleForward, '', ...forwardFields(to).map((line) => `> ${line}`), '> '],
  (to) => [dashed(to.language.forward, 8), ...forwardFields(to), ''],
  (to) => [dashed(to.language.forward, 5), ...forwardFields(to), ''],
  (to) => [`>  ${dashed(to.language.forward, 8)}`, ...forwardFields(to).map((line) => `> ${line}`)],
  (to) => [dashed('Forwarded message', 12, '='), ...forwardFields(to), ''],
  (to) => [`${to.language.forward}:`, '', ...forwardFields(to).map((line) => `> ${line}`), '>'],
  (to) => ['---------- Original Message ----------', ...forwardFields(to), ''],
  (to) => [`----- Forwarded message from ${to.name} <${to.address}> -----`, ''],
  (to) => [dashed(to.language.forward, 8), gmail(to), ''],
];
