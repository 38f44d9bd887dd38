import { SmtpClient } from '../smtp-client.ts';
import type { Field } from './field.ts';

/** The header fields that some rule of the email channel reads. */
const HEADERS =
  `Subject From To Cc Bcc Reply-To Sender Return-Path Date Message-ID In-Reply-To References
  Received Authentication-Results DKIM-Signature ARC-Seal ARC-Authentication-Results List-Id List-Post
  List-Unsubscribe Precedence Auto-Submitted X-Auto-Response-Suppress X-Failed-Recipients X-Original-To
  Delivered-To Envelope-To X-Forwarded-To X-Original-From X-Original-Sender X-Autoreply Content-Type
  Content-Transfer-Encoding Content-Disposition MIME-Version Thread-Topic`.split(/\s+/);

/** Less than the largest header that is let in, for the other fields. */
const HEADER_BYTES = 120_000;
const PART_HEADER_BYTES = 60_000;
const BODY_BYTES = 1_000_000;

const BARE = ['', ''] as const;

const LINE = '\r\nThe parcel has not come yet, and it was to be here on Monday.';

/** With it all messages are of one length: longer ones are read elsewhere, which costs more. */
const filledUp = (value: string): string =>
  LINE.repeat(Math.max(0, Math.floor((HEADER_BYTES - Buffer.byteLength(value)) / LINE.length)));

/** @returns every field of an email, at the longest that the SMTP door lets in */
export function mailFields(port: number, inbox: string): readonly Field[] {
  const send = (message: string): Promise<void> => sendMail(port, inbox, message);
  const headers = HEADERS.map((name) =>
    field(`header ${name}`, HEADER_BYTES, frameOfHeader(name), (value) =>
      mail({ [name]: value }, `Hello${filledUp(value)}`),
    ),
  );
  const part = (name: string, before: string, after = '') =>
    field(`part ${name}`, PART_HEADER_BYTES, [[before, after]], (value) =>
      multipart(`Content-Type: text/plain\r\n${name}: ${value}`, 'Hello'),
    );
  const body = (type: string, frame: readonly [string, string] = BARE) =>
    field(`body ${type} ${frame[0].slice(0, 12)}`.trim(), BODY_BYTES, [frame], (value) =>
      mail({ 'Content-Type': `${type}; charset=utf-8` }, value),
    );
  return [
    ...commands(port, inbox),
    ...headers,
    part('Content-Type', 'text/plain; name="', '"'),
    part('Content-Type', "text/plain; name*=utf-8''"),
    part('Content-Disposition', 'attachment; filename="', '"'),
    part('Content-ID', '<', '>'),
    part('Content-Description', ''),
    part('Content-Location', ''),
    body('text/plain'),
    body('text/plain', ['On Monday Ann <ann@x.example> wrote:\r\n', '\r\n-- \r\nBo']),
    body('text/html'),
    body('text/html', ['<div style="', '">Hello</div>']),
    body('text/html', ['<style>', '</style><p class=a>Hello</p>']),
    body('text/calendar', [
      'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:',
      '\r\nEND:VEVENT\r\nEND:VCALENDAR',
    ]),
    field('bounce text', BODY_BYTES / 10, [BARE, ['-', 'a']], bounceOf),
    // Lines of a notice are cut at 1,500 characters.
    field('bounce lines', BODY_BYTES / 10, [BARE], (value) =>
      bounceOf(value.replace(/.{1400}/gs, (line) => `${line}a\r\n`)),
    ),
    field('bounce report', BODY_BYTES / 10, [BARE, ['Final-Recipient: rfc822; ', '']], (value) =>
      report('delivery-status', 'message/delivery-status', value),
    ),
    field('complaint', BODY_BYTES / 10, [BARE], (value) =>
      report('feedback-report', 'message/feedback-report', value),
    ),
    field('attachment', BODY_BYTES, [BARE, ['<!DOCTYPE ', '']], (value) =>
      multipart(
        'Content-Type: application/octet-stream; name=a.bin\r\nContent-Disposition: attachment',
        value,
      ),
    ),
  ];

  function field(
    name: string,
    maxBytes: number,
    frames: Field['frames'],
    messageOf: (value: string) => string,
  ): Field {
    return { door: 'smtp', name, maxBytes, frames, send: (value) => send(messageOf(value)) };
  }
}

/** A longer line is refused. */
const COMMAND_BYTES = 500;

function commands(port: number, inbox: string): readonly Field[] {
  const field = (name: string, frames: Field['frames'], linesOf: (value: string) => string[]) => ({
    ...{ door: 'smtp' as const, name: `command ${name}`, maxBytes: COMMAND_BYTES, frames },
    send: async (value: string) => {
      const client = await SmtpClient.connect(port);
      await client.reply();
      // A line break in the value makes another command, which is answered, too.
      for (const line of linesOf(value)) await client.say(line);
      client.destroy();
    },
  });
  const hello = 'EHLO client.example';
  const from = 'MAIL FROM:<ann@x.example>';
  return [
    field('EHLO', [BARE], (value) => [`EHLO ${value}`]),
    field('MAIL', [BARE, ['<', '>'], ['<"', '"@x>']], (value) => [hello, `MAIL FROM:${value}`]),
    field('RCPT', [BARE, ['<', `@${inbox.split('@')[1]}>`], ['<"', '"@x>']], (value) => [
      ...[hello, from, `RCPT TO:${value}`],
    ]),
    field('any', [BARE], (value) => [value]),
  ];
}

/** Values such as those of the field in earnest, so that its parser gets to the filler. */
function frameOfHeader(name: string): Field['frames'] {
  const frames: Readonly<Record<string, Field['frames']>> = {
    subject: [BARE, ['a', 'b']],
    from: [BARE, ['a@x', '@']],
    'content-type': [BARE, ['text/plain; charset="', '"'], ['multipart/mixed; boundary="', '"']],
    'list-id': [['<', '>']],
    received: [['from a (', ' [192.0.2.1]) by b; Mon, 1 Jan 2024 00:00:00 +0000']],
    'authentication-results': [['mx.example; spf=pass ', '']],
    'dkim-signature': [['v=1; a=rsa-sha256; d=x.example; s=s; h=from; bh=', '; b=a']],
  };
  return frames[name.toLowerCase()] ?? [BARE, ['<a@x', '>']];
}

const USUAL: Readonly<Record<string, string>> = {
  From: 'Ann <ann@x.example>',
  To: 'support@demo.example',
  Subject: 'Where is my order?',
};

let count = 0;

/** @returns a message with these header fields, beside the usual ones or in their place */
export function mail(headers: Readonly<Record<string, string>>, body: string): string {
  count += 1;
  const all = {
    ...USUAL,
    'Message-ID': `<${process.pid}.${count}@x.example>`,
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${lines.join('')}\r\n${body}\r\n`;
}

/** A notice of failure in words only. */
export function bounceOf(text: string): string {
  return mail(
    { From: 'Mailer <mailer-daemon@x.example>', Subject: 'Undelivered Mail Returned to Sender' },
    `I'm sorry to have to inform you that your message could not be delivered.\r\n\r\n<ann@gone.example>:\r\n${text}`,
  );
}

function multipart(head: string, content: string): string {
  return mail(
    { 'MIME-Version': '1.0', 'Content-Type': 'multipart/mixed; boundary=b1' },
    `--b1\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b1\r\n${head}\r\n\r\n${content}\r\n--b1--`,
  );
}

function report(kind: string, type: string, value: string): string {
  return mail(
    {
      'MIME-Version': '1.0',
      'Content-Type': `multipart/report; report-type=${kind}; boundary=b1`,
      From: 'Mailer <mailer-daemon@x.example>',
    },
    `--b1\r\nContent-Type: text/plain\r\n\r\nA notice.\r\n--b1\r\nContent-Type: ${type}\r\n\r\n${value}\r\n--b1--`,
  );
}

/** Whatever the door answers, also when it closes the connection. */
export async function sendMail(port: number, inbox: string, message: string): Promise<void> {
  const client = await SmtpClient.connect(port);
  await client.reply();
  await client.envelope([inbox]);
  await client.say('DATA');
  client.send(Buffer.from(`${message.replace(/^\./gm, '..')}\r\n.\r\n`));
  await client.reply();
  client.destroy();
}
