import { describe, expect, test } from '@jest/globals';
import { readBounceReport } from '../../../../src/channels/email/normalize/reports/bounce-report.ts';
import { BOUNCE_TEXTS } from '../../../../src/channels/email/normalize/reports/notice-text.ts';
import { readComplaint } from '../../../../src/channels/email/normalize/reports/feedback.ts';
import { hasBounceOpening } from '../../../../src/channels/email/normalize/reports/notice-text.ts';
import { parseHeaderBlock } from '../../../../src/channels/email/header-block.ts';
import { readHead } from '../../../../src/channels/email/normalize/head/message-head.ts';
import { compileShop } from '../../../../src/channels/email/shop.ts';
import { createAddressMatcher } from '../../../../src/domain/email-addresses.ts';
import { emailJob, meta, shopSettings } from './jobs.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

const own = createAddressMatcher(['support@acme.example', '*@mail.acme.example']);

function read(text: string, header = 'From: mailer-daemon@x.example') {
  const head = parseHeaderBlock(Buffer.from(`${header}\r\n\r\n`));
  const parts = [{ contentType: 'text/plain', start: Buffer.from(text) }];
  return readBounceReport({ head, subject: head.first('subject'), parts }, own);
}

describe('the texts of bounces', () => {
  test.each(BOUNCE_TEXTS)('of $system: have a source and are found', ({ source, opening = [] }) => {
    expect(source).toMatch(/^https:\/\//);
    for (const phrase of opening) {
      expect(phrase).toBe(phrase.toLowerCase().replace(/\s+/g, ' '));
      expect(hasBounceOpening(`Hello.\n\n${phrase.replaceAll(' ', '\n')} x`)).toBe(true);
    }
  });

  test('at the end of a long text are a quotation', () => {
    const quoted = `${'Thank you for the parcel. '.repeat(40)}\nThis is the mail system at host x.`;
    expect(hasBounceOpening(quoted)).toBe(false);
  });

  const REPORT =
    'Content-Type: message/delivery-status\n\nFinal-Recipient: rfc822; a@x.example\nAction: failed';
  const ADVICE = 'Not delivered. Ask one@x.example or two@x.example.\n\n';

  test.each([
    ['a report pasted as text', `${ADVICE}--b\n${REPORT}`],
    ['a report that is quoted', `${ADVICE}> --b\n> ${REPORT.replaceAll('\n', '\n> ')}`],
    [
      'a report in the message that is returned',
      `${ADVICE}Received: from x\nTo: relay@y.example\n\n--b\n${REPORT}`,
    ],
    [
      'To below "Original Message"',
      `${ADVICE}-----Original Message-----\nFrom: support@acme.example\nSent: Monday\nTo: a@x.example\n\nHi`,
    ],
  ])('name the recipient in %s', (_, text) => {
    expect(read(text).failed).toMatchObject([{ address: 'a@x.example' }]);
  });

  test.each<[string, string, readonly string[]]>([
    [
      'the returned message',
      '<a@x.example>: no\n\nReturn-Path: <b@x.example>\nTo: c@x.example',
      ['a@x.example'],
    ],
    ['our own addresses', '<support@acme.example>: no\n<any@mail.acme.example>: no', []],
    ["the system's own", 'Write to postmaster@x.example or mailer-daemon@x.example.', []],
    [
      'the dialogue, if the text names somebody',
      'a@x.example\n>>> RCPT TO:<b@x.example>',
      ['a@x.example'],
    ],
    ['one of several addresses in advice', 'Ask a@x.example or b@x.example.', []],
  ])('name nobody in %s', (_, text, expected) => {
    expect(read(text).failed.map(({ address }) => address)).toEqual(expected);
  });

  test.each([
    ['the only address', 'The box of a@x.example is full.'],
    ['the dialogue', '>>> RCPT TO:<a@x.example>\n<<< 550 no'],
    ['each address once', '<a@x.example>: no\n<A@x.example>: no'],
  ])('name somebody by %s', (_, text) => {
    expect(read(text).failed).toMatchObject([{ address: 'a@x.example' }]);
  });

  test('say why, with the status', () => {
    expect(read('<a@x.example>:\n192.0.2.5 said: 550 5.1.1 no such user\n').failed).toEqual([
      {
        address: 'a@x.example',
        status: '5.1.1',
        diagnostic: '192.0.2.5 said: 550 5.1.1 no such user',
      },
    ]);
    expect(read('<a@x.example>:\n\nPlease read our help page.\n').failed).toEqual([
      { address: 'a@x.example' },
    ]);
  });

  test.each([
    ['the text', '<a@x.example>\n\nThis is just a warning.', 'From: x@x.example'],
    ['the subject', '<a@x.example>', 'Subject: Delivery Status Notification (Delay)'],
  ])('say that a mail is late: by %s', (_, text, header) => {
    expect(read(text, header)).toMatchObject({ failed: [], delayed: true });
  });

  test('of any kind take no time', async () => {
    await withinProcessorTime(4000, () => {
      for (const unit of [
        'a@b ',
        '<a@b>',
        '<a@b> (',
        '550 <',
        '\n',
        'SMTP=',
        '"a" <',
        'a@b\n',
        '[Status: x, Address: <',
      ]) {
        read(unit.repeat(100_000 / unit.length));
      }
    });
  });
});

describe('a complaint', () => {
  const part = (contentType: string, text: string) => ({ contentType, start: Buffer.from(text) });
  const reported = part('message/rfc822', 'To: support@acme.example, Ann <ann@x.example>\n\nx');

  test.each([
    [
      'Original-Rcpt-To',
      [part('message/feedback-report', 'Original-Rcpt-To: <bob@x.example>\n'), reported],
      'bob@x.example',
    ],
    [
      'the reported mail',
      [part('message/feedback-report', 'Feedback-Type: abuse\n'), reported],
      'ann@x.example',
    ],
    [
      "Amazon SES's notification",
      [
        part(
          'text/plain',
          '{"notificationType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"bob@x.example"}]}}',
        ),
      ],
      'bob@x.example',
    ],
    [
      'nobody',
      [part('message/feedback-report', 'Feedback-Type: auth-failure\n'), reported],
      undefined,
    ],
  ])('is of the person in %s', (_, parts, complainant) => {
    expect(readComplaint(parts, own).complainant).toBe(complainant);
  });

  test('to abuse@ that the shop does not suppress is held for the operator', () => {
    const lines =
      'From: fbl@x.example\r\nContent-Type: multipart/report; report-type=feedback-report';
    const head = parseHeaderBlock(Buffer.from(`${lines}\r\n\r\n`));
    const job = emailJob(new Uint8Array(), '/nowhere', {
      meta: { ...meta, agentContact: 'abuse@acme.example' },
    });
    const verdict = (suppress: typeof shopSettings.suppress) =>
      readHead(head, job, compileShop({ ...shopSettings, suppress }), []).verdict;
    expect(verdict(['complaint'])).toMatchObject({
      kind: 'suppressed',
      reason: { code: 'complaint' },
    });
    expect(verdict([])).toEqual({ kind: 'held', reason: { code: 'postmaster' } });
  });
});
