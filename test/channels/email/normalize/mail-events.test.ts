import { describe, expect, test } from '@jest/globals';
import { bounceEvents } from '../../../../src/channels/email/normalize/head/mail-events.ts';
import { readBounceReport } from '../../../../src/channels/email/normalize/reports/bounce-report.ts';
import type { ReportPart } from '../../../../src/channels/email/normalize/reports/report-parts.ts';
import type { HeaderBlock } from '../../../../src/channels/email/header-block.ts';
import { createAddressMatcher } from '../../../../src/domain/email-addresses.ts';
import { parseHeaderBlock } from '../../../../src/channels/email/header-block.ts';
import { createEventRequestSchema } from '../../../../src/platform-api/schemas.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

const bytes = (...lines: readonly string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`);
const head = (...lines: readonly string[]) => parseHeaderBlock(bytes(...lines, ''));
const status = (...lines: readonly string[]) => ({
  contentType: 'message/delivery-status',
  start: bytes('Reporting-MTA: dns; mx.example', '', ...lines),
});
const own = createAddressMatcher(['support@acme.example']);
const reportOf = (head: HeaderBlock, parts: readonly ReportPart[]) =>
  readBounceReport({ head, subject: head.first('subject'), parts }, own);
const enclosed = (contentType: string) => ({
  contentType,
  start: bytes('From: support@acme.example', 'Message-ID: <m1@acme.example>', '', 'Hello.'),
});

describe('who was not reached', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    [
      'Final-Recipient',
      ['Final-Recipient: rfc822; ann@x.example', 'Action: failed'],
      ['ann@x.example'],
    ],
    [
      'Original-Recipient, the address that we wrote to, before Final-Recipient',
      [
        'Final-Recipient: rfc822; inbox7@y.example',
        'Original-Recipient: rfc822;ann@x.example',
        'Action: failed',
      ],
      ['ann@x.example'],
    ],
    ['one in brackets', ['Final-Recipient: RFC822; <ann@x.example>'], ['ann@x.example']],
    ['an internationalized one', ['Final-Recipient: utf-8; änn@x.example'], ['änn@x.example']],
    [
      'each of several, once',
      [
        'Final-Recipient: rfc822; ann@x.example',
        'Action: failed',
        '',
        'Final-Recipient: rfc822; bob@x.example',
        'Action: failed',
        '',
        'Final-Recipient: rfc822; ANN@x.example',
        'Action: failed',
      ],
      ['ANN@x.example', 'bob@x.example'],
    ],
    [
      'not who is only late, or was reached',
      [
        'Final-Recipient: rfc822; ann@x.example',
        'Action: delayed',
        '',
        'Final-Recipient: rfc822; bob@x.example',
        'Action: relayed',
      ],
      [],
    ],
    ['nobody in nonsense', ['Final-Recipient: x', '', '', ':', 'Action'], []],
  ])('%s', (_, lines, expected) => {
    const { failed } = reportOf(head('Subject: x'), [status(...lines)]);
    expect(failed.map(({ address }) => address)).toEqual(expected);
  });

  test('X-Failed-Recipients, without a delivery status', () => {
    const { failed } = reportOf(head('X-Failed-Recipients: ann@x.example, bob@x.example'), []);
    expect(failed).toMatchObject([{ address: 'ann@x.example' }, { address: 'bob@x.example' }]);
  });

  test("qmail's text", () => {
    const text = bytes('Hi. This is qmail-send.', '', '<ann@x.example>:', 'No such user.');
    const { failed } = reportOf(head('Subject: failure notice'), [
      { contentType: 'text/plain', start: text },
    ]);
    expect(failed).toEqual([{ address: 'ann@x.example', diagnostic: 'No such user.' }]);
  });

  test('20 at most, and reading a hostile report takes no time', async () => {
    const group = (n: number) => [`Final-Recipient: rfc822; u${n}@x.example`, 'Action: failed', ''];
    const many = status(...Array.from({ length: 1000 }, (_, n) => group(n)).flat());
    expect(reportOf(head('Subject: x'), [many]).failed).toHaveLength(20);
    await withinProcessorTime(4000, () => {
      for (const text of ['\n', 'a: \n', '<', '<a@b>:\n', ' \n']) {
        const start = Buffer.from(text.repeat(500_000));
        reportOf(head('Subject: x'), [{ contentType: 'message/delivery-status', start }]);
        reportOf(head('Subject: x'), [{ contentType: 'text/plain', start }]);
        reportOf(head('Subject: x'), [{ contentType: 'message/rfc822', start }]);
      }
      const dashes = `${'-'.repeat(1400)}a\r\n`.repeat(3);
      const start = Buffer.from(`<ann@x.example>:\r\n${dashes}`.repeat(10));
      reportOf(head('Subject: x'), [{ contentType: 'text/plain', start }]);
    });
  });
});

describe('what came back', () => {
  test.each(['message/rfc822', 'text/rfc822-headers', 'message/global'])(
    'by the enclosed %s',
    (type) => {
      const report = reportOf(head('In-Reply-To: <other@acme.example>'), [enclosed(type)]);
      expect(report.originalId).toBe('<m1@acme.example>');
    },
  );

  test.each(['In-Reply-To: <m1@acme.example>', 'References: <m0@acme.example> <m1@acme.example>'])(
    'by the header %s',
    (line) => {
      expect(reportOf(head(line), []).originalId).toBe('<m1@acme.example>');
    },
  );

  test('unknown', () => {
    expect(reportOf(head('Subject: x'), [])).not.toHaveProperty('originalId');
  });
});

test('the event is on the contact of the recipient that failed, and says why', () => {
  const report = reportOf(head('Subject: x'), [
    status(
      'Final-Recipient: rfc822; ann@x.example',
      'Action: failed',
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 no\u202e such user',
      '',
      'Final-Recipient: rfc822; support@acme.example',
      'Action: failed',
    ),
    enclosed('message/rfc822'),
  ]);
  const events = bounceEvents(report, own, Date.parse('2026-01-05T09:30:00Z'));
  expect(events).toEqual([
    {
      name: 'Email not delivered',
      description: '5.1.1 smtp; 550 no such user\nMessage-ID: <m1@acme.example>',
      event_time: '2026-01-05T09:30:00.000Z',
      contact: { email: 'ann@x.example' },
    },
  ]);
  expect(createEventRequestSchema.safeParse(events[0]).success).toBe(true);
});
