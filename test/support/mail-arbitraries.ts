import fc from 'fast-check';

/** Messages as text of one character per byte, for properties that hold of any message. */
const CRLF = '\r\n';
const binary = (text: string): string => Buffer.from(text).toString('latin1');

const anyBytes = fc
  .uint8Array({ maxLength: 4000 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));

const charset = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('utf-8', 'iso-8859-1', 'windows-1252', 'koi8-r', 'iso-2022-jp'),
  },
  fc.constantFrom('utf-16', 'utf-7', 'gb18030', 'shift_jis', 'big5', 'us-ascii', 'no-such', ''),
  fc.string({ maxLength: 12 }),
);

const words = fc.string({ unit: 'grapheme', maxLength: 40 });
const encodedWord = fc
  .tuple(charset, fc.constantFrom('B', 'Q', 'b', 'q', 'X'), words, fc.boolean())
  .map(([name, encoding, text, whole]) => {
    const bytes = Buffer.from(text);
    const body =
      encoding.toUpperCase() === 'B'
        ? bytes.toString('base64')
        : [...bytes].map((byte) => `=${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
    return `=?${name}?${encoding}?${body}${whole ? '?=' : ''}`;
  });
const phrase = fc
  .array(fc.oneof(encodedWord, words.map(binary), fc.constantFrom('"', ',', '\t', `${CRLF} `)), {
    maxLength: 5,
  })
  .map((parts) => parts.join(' '));

const address = fc.oneof(
  { weight: 3, arbitrary: fc.emailAddress() },
  fc.constantFrom('user.@docomo.example', 'a..b@x.example', '"a b"@x.example', '@', 'x@', '<>'),
  words.map(binary),
);
const mailbox = fc.tuple(phrase, address).map(([name, at]) => `${name} <${at}>`);
const messageId = fc.oneof(
  fc.uuid().map((id) => `<${id}@customer.example>`),
  fc.string({ maxLength: 30 }).map((id) => `<${binary(id)}>`),
);

const header = fc.oneof(
  fc
    .tuple(fc.constantFrom('From', 'Reply-To', 'Sender', 'To', 'Cc', 'Bcc'), mailbox)
    .map(([name, value]) => `${name}: ${value}`),
  phrase.map((value) => `Subject: ${value}`),
  fc
    .tuple(
      fc.constantFrom('References', 'In-Reply-To'),
      fc.array(messageId, { maxLength: 30 }).map((ids) => ids.join(' ')),
    )
    .map(([name, ids]) => `${name}: ${ids}`),
  messageId.map((id) => `Message-ID: ${id}`),
  fc
    .oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      phrase,
    )
    .map((value) => `Date: ${value}`),
  fc.constantFrom(
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-generated',
    'Precedence: bulk',
    'List-Id: <x.example>',
    'X-Failed-Recipients: a@b.example',
    'MIME-Version: 1.0',
    'no colon here',
    ': no name',
  ),
  fc
    .tuple(fc.string({ maxLength: 20 }), phrase)
    .map(([name, value]) => `${binary(name)}: ${value}`),
);
const headers = fc.array(header, { maxLength: 12 });

const html = fc
  .array(
    fc.oneof(
      words,
      fc.constantFrom('<p>', '</p>', '<div style="display:none">', '</div>', '<table><tr><td>'),
      fc.constantFrom('</table>', '<a href="http://x.example/?a=1&b=2">', '</a>', '<br>', '<!--'),
      fc.constantFrom('-->', '<img src="cid:a@b">', '&nbsp;', '&#0;', '<blockquote>', '<style>'),
      fc.constantFrom('<div class="gmail_quote">', '<meta charset=koi8-r>', '<ul><li>', '<', '"'),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));
const plain = fc
  .array(
    fc.oneof(
      words,
      fc.constantFrom('> quoted', '>> deeper', '-- ', '-----Original Message-----', '', ' '),
      fc.constantFrom('On Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:', 'From: a', '***'),
    ),
    { maxLength: 20 },
  )
  .map((lines) => lines.join(CRLF));

type TransferEncoding = (bytes: Buffer) => string;
const asItIs: TransferEncoding = (bytes) => bytes.toString('latin1');
const ENCODERS: Readonly<Record<string, TransferEncoding>> = {
  '7bit': asItIs,
  '8bit': asItIs,
  binary: asItIs,
  base64: (bytes) => bytes.toString('base64').replaceAll(/.{76}/g, `$&${CRLF}`),
  'quoted-printable': (bytes) =>
    [...bytes].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
};
const encodingName = fc.constantFrom(...Object.keys(ENCODERS));

/** A part; what it says of its encoding and charset is true most of the time. */
const leaf = fc
  .record({
    type: fc.constantFrom(
      ...['text/plain', 'text/html', 'text/calendar', 'image/png', 'application/pdf', 'text/x'],
      ...['message/rfc822', 'message/delivery-status', 'application/octet-stream', '', '; ;'],
    ),
    charset,
    declared: encodingName,
    used: fc.option(encodingName, { nil: undefined, freq: 4 }),
    body: fc.oneof(plain, html, words),
    disposition: fc.constantFrom('', 'inline', 'attachment', 'form-data'),
    name: fc.oneof(fc.constant(''), phrase, encodedWord),
    id: fc.constantFrom('', '<a@b>', '<', '<a@b> <c@d>'),
  })
  .map((part) => {
    const lines = [
      `Content-Type: ${part.type}; charset=${binary(part.charset)}`,
      `Content-Transfer-Encoding: ${part.declared}`,
      ...(part.disposition
        ? [`Content-Disposition: ${part.disposition}; filename="${part.name}"`]
        : []),
      ...(part.id ? [`Content-ID: ${part.id}`] : []),
    ];
    const encode = ENCODERS[part.used ?? part.declared] ?? asItIs;
    return `${lines.join(CRLF)}${CRLF}${CRLF}${encode(Buffer.from(part.body))}`;
  });

const boundary = fc.constantFrom('b', 'b1', '=_x', 'a b', '--', 'b--');
const tree = fc.letrec<{ part: string; multipart: string }>((tie) => ({
  part: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('multipart')),
  multipart: fc
    .record({
      subtype: fc.constantFrom(
        'mixed',
        'alternative',
        'related',
        'report',
        'signed',
        'encrypted',
        'x',
      ),
      declared: boundary,
      // Wrong in one of five.
      used: fc.option(boundary, { nil: undefined, freq: 4 }),
      closed: fc.boolean(),
      children: fc.array(tie('part'), { maxLength: 4 }),
    })
    .map(({ subtype, declared, used = declared, closed, children }) => {
      const parts = children.map((child) => `--${used}${CRLF}${child}${CRLF}`);
      const head = `Content-Type: multipart/${subtype}; boundary="${declared}"${CRLF}${CRLF}`;
      return `${head}${parts.join('')}${closed ? `--${used}--` : ''}`;
    }),
})).part;

/** A message with a head and a MIME tree; both go wrong now and then. */
export const mimeMail = fc.tuple(headers, tree).map(([lines, body]) => [...lines, body].join(CRLF));

/** Bytes without any shape, and such bytes after a head. */
export const shapelessMail = fc.oneof(
  anyBytes,
  fc.tuple(headers, anyBytes).map(([lines, body]) => [...lines, '', body].join(CRLF)),
);
