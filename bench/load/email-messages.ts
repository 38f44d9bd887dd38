import { randomBytes } from 'node:crypto';
import { BENCH_DOMAIN, inboxOf } from '../support/smtp-source.ts';

export type EmailKind = 'text' | 'newsletter' | 'attachment';

/** The domain of all senders. */
export const SENDER_DOMAIN = 'client.example';

/** A message as sent; parts that messages share are in memory once. */
export interface Email {
  readonly sender: string;
  /** The inbox of another shop than the first. */
  readonly recipient?: string;
  readonly chunks: readonly Buffer[];
}

/** The number of senders, and so of lanes that can be delivered in parallel. */
const SENDERS = 200;
const BASE64_LINE = 57;

/**
 * Makes messages that differ in Message-ID, text and sender (up to 200 senders). No line begins
 * with a dot.
 * @param shops which they are for in turn (`inboxOf`)
 */
export function makeEmails(kind: EmailKind, count: number, shops = 1): Email[] {
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
    const shop = index % shops;
    return {
      ...{ sender, chunks: make(head, index) },
      ...(shop > 0 && { recipient: inboxOf(shop) }),
    };
  });
}

const PARAGRAPH =
  'I ordered two lamps on Monday and the tracking page still says that nothing was sent. ' +
  'Could you please tell me where the parcel is?';

/** Header fields that relays add on the way. */
const TRACE = [
  'Received: from mail-ej1-f51.client.example (mail-ej1-f51.client.example [192.0.2.51])',
  '        by mx.client.example (Postfix) with ESMTPS id 4YxTzK2b1Wz9sQw',
  '        for <support@demo.example>; Sat, 21 Nov 2026 08:00:00 +0000 (UTC)',
  'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=client.example; s=20230601;',
  '        h=to:subject:message-id:date:from:mime-version:from:to:cc:subject:date;',
  `        bh=${'Jq3f7Vd0'.repeat(5)}bA=; b=${'mX8cT5kQ2wZrLh9v'.repeat(5)}`,
  `         ${'Yp4sN7dGfUe1KoBi'.repeat(5)}==`,
  'X-Mailer: Client 16.0',
].join('\r\n');

const MAKERS: Readonly<Record<EmailKind, (head: string, index: number) => Buffer[]>> = {
  text: (head, index) => [
    Buffer.from(
      `${TRACE}\r\n${head}\r\nContent-Type: multipart/alternative; boundary="=_b"\r\n\r\n` +
        '--=_b\r\nContent-Type: text/plain; charset="UTF-8"\r\n\r\n' +
        `Hello, it is about order ${index}.\r\n\r\n${PARAGRAPH}\r\n\r\n${PARAGRAPH}\r\n\r\nCustomer\r\n` +
        'https://client.example/\r\n' +
        '--=_b\r\nContent-Type: text/html; charset="UTF-8"\r\n' +
        'Content-Transfer-Encoding: quoted-printable\r\n\r\n' +
        `<div dir=3D"ltr">Hello, it is about order ${index}.<div><br></div><div>=\r\n` +
        `${PARAGRAPH.slice(0, 70)}=\r\n${PARAGRAPH.slice(70)}</div><div><br></div>=\r\n<div>=\r\n` +
        `${PARAGRAPH.slice(0, 70)}=\r\n${PARAGRAPH.slice(70)}</div><div><br></div>=\r\n` +
        '<div>Customer</div><div><a href=3D"https://client.example/">client.example=\r\n' +
        '</a></div></div>\r\n--=_b--\r\n',
    ),
  ],
  newsletter: (head, index) => [
    Buffer.from(
      `${TRACE}\r\n${head}\r\nContent-Type: multipart/alternative; boundary="=_b"\r\n\r\n` +
        `--=_b\r\nContent-Type: text/plain; charset="UTF-8"\r\n\r\nOur offer number ${index}.\r\n`,
    ),
    NEWSLETTER,
  ],
  attachment: (head, index) => [
    Buffer.from(
      `${TRACE}\r\n${head}\r\nContent-Type: multipart/mixed; boundary="=_b"\r\n\r\n` +
        `--=_b\r\nContent-Type: text/plain; charset="UTF-8"\r\n\r\n` +
        `A picture of order ${index}.\r\n${PARAGRAPH}\r\n`,
    ),
    ATTACHMENT,
  ],
};

const ITEMS = 60;
const NEWSLETTER = Buffer.from(
  newsletterText() +
    '--=_b\r\nContent-Type: text/html; charset="UTF-8"\r\n' +
    'Content-Transfer-Encoding: quoted-printable\r\n\r\n' +
    newsletterHtml() +
    '--=_b--\r\n',
);

function newsletterText(): string {
  const item = (row: number) =>
    `* Lamp ${row}: now ${row}.99\r\n  ${PARAGRAPH.slice(0, 60)}\r\n` +
    `  https://shop.example/p/${row}?utm_source=mail\r\n\r\n`;
  return Array.from({ length: ITEMS }, (_, row) => item(row)).join('');
}

function newsletterHtml(): string {
  const item = (row: number) =>
    `<tr><td style=3D"padding:8px;font:14px Arial,sans-serif"><a href=3D"https:=\r\n` +
    `//shop.example/p/${row}?utm_source=3Dmail"><img src=3D"https://shop.example=\r\n` +
    `/i/${row}.png" width=3D"80" alt=3D"Lamp ${row}"></a></td><td style=3D"color=\r\n` +
    `:#333"><b>Lamp n=C2=B0 ${row}</b><p>${PARAGRAPH.slice(0, 60)}</p><span>=\r\n` +
    `${row},99 =E2=82=AC</span></td></tr>\r\n`;
  const rows = Array.from({ length: ITEMS }, (_, row) => item(row)).join('');
  return `<html><body style=3D"margin:0"><table width=3D"600">\r\n${rows}</table></body></html>\r\n`;
}

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
