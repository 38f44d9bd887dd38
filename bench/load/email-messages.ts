import { randomBytes } from 'node:crypto';
import { BENCH_DOMAIN } from '../support/smtp-source.ts';

export type EmailKind = 'text' | 'newsletter' | 'attachment';

/** One message as it goes over the wire; the parts that messages share are in memory once. */
export interface Email {
  readonly sender: string;
  readonly chunks: readonly Buffer[];
}

/** As many lanes can be delivered at once. */
const SENDERS = 200;
const BASE64_LINE = 57;

/**
 * Makes messages that all differ in Message-ID, text and, up to 200, in their sender. No line
 * begins with a dot.
 */
export function makeEmails(kind: EmailKind, count: number): Email[] {
  const run = randomBytes(6).toString('hex');
  const make = MAKERS[kind];
  return Array.from({ length: count }, (_, index) => {
    const sender = `customer${index % SENDERS}@client.example`;
    const head = [
      `From: Customer ${index % SENDERS} <${sender}>`,
      `To: Support <support@${BENCH_DOMAIN}>`,
      `Subject: Order ${index} has not come`,
      `Message-ID: <${run}.${index}@client.example>`,
      `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
      'MIME-Version: 1.0',
    ].join('\r\n');
    return { sender, chunks: make(head, index) };
  });
}

const PARAGRAPH =
  'I ordered two lamps on Monday and the tracking page still says that nothing was sent. ' +
  'Could you please tell me where the parcel is?';

const MAKERS: Readonly<Record<EmailKind, (head: string, index: number) => Buffer[]>> = {
  text: (head, index) => [
    Buffer.from(
      `${head}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n` +
        `Hello, it is about order ${index}.\r\n${`${PARAGRAPH}\r\n`.repeat(11)}`,
    ),
  ],
  newsletter: (head, index) => [
    Buffer.from(
      `${head}\r\nContent-Type: multipart/alternative; boundary="=_b"\r\n\r\n` +
        `--=_b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n` +
        `Our offer number ${index}.\r\n`,
    ),
    NEWSLETTER,
  ],
  attachment: (head, index) => [
    Buffer.from(
      `${head}\r\nContent-Type: multipart/mixed; boundary="=_b"\r\n\r\n` +
        `--=_b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n` +
        `A picture of order ${index}.\r\n${PARAGRAPH}\r\n`,
    ),
    ATTACHMENT,
  ],
};

const NEWSLETTER = Buffer.from(
  `${`${PARAGRAPH}\r\n`.repeat(40)}--=_b\r\n` +
    'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n' +
    '<html><body style=3D"margin:0"><table width=3D"600"><tr><td>\r\n' +
    Array.from(
      { length: 75 },
      (_, row) =>
        `<tr><td style=3D"padding:8px"><a href=3D"https://shop.example/p/${row}">Lamp =\r\n` +
        `n=C2=B0 ${row}</a></td><td><p>${PARAGRAPH.slice(0, 60)}=\r\n` +
        `${PARAGRAPH.slice(60)}</p><b>${row},99 =E2=82=AC</b></td></tr>\r\n`,
    ).join('') +
    '</td></tr></table></body></html>\r\n--=_b--\r\n',
);

const ATTACHMENT = Buffer.from(
  '--=_b\r\nContent-Type: image/jpeg; name="parcel.jpg"\r\n' +
    'Content-Disposition: attachment; filename="parcel.jpg"\r\n' +
    'Content-Transfer-Encoding: base64\r\n\r\n' +
    `${base64Lines(randomBytes(BASE64_LINE * 13_400))}--=_b--\r\n`,
);

/** RFC 2045 §6.8: lines of 76 characters. */
export function base64Lines(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return text.replace(/.{1,76}/g, '$&\r\n');
}
