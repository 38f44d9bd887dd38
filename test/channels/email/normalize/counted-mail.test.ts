import { afterAll, describe, expect, test } from '@jest/globals';
import { UNKNOWN_VERDICT } from '../../../../src/channels/email/authentication/verdict.ts';
import type { EmailJob, EmailResult } from '../../../../src/channels/email/normalize/job.ts';
import { normalizeMessage } from '../../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop, type ShopMailSettings } from '../../../../src/channels/email/shop.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { emailJob, meta, shopSettings } from './jobs.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

interface Choices {
  readonly shop?: Partial<ShopMailSettings>;
  readonly job?: Partial<EmailJob>;
  readonly body?: string;
}

async function counted(
  headers: readonly string[],
  { shop = {}, job = {}, body = 'Hello.' }: Choices = {},
): Promise<EmailResult['counted']> {
  const bytes = Buffer.from([...headers, '', body, ''].join('\r\n'));
  const result = await normalizeMessage(emailJob(bytes, scratch.path, job), {
    shop: compileShop({ ...shopSettings, ...shop }),
    maxBufferBytes: Infinity,
    isKnown: () => Promise.resolve(true),
  });
  return result.counted;
}

const FROM = 'From: Ann <ann@customer.example>';

describe('the person whose mail is counted', () => {
  test.each([
    ['From', [FROM], 'ann@customer.example'],
    ['in any case and without a tag', ['From: Ann+7@Customer.example'], 'ann@customer.example'],
    [
      'Reply-To where that is the person',
      ['From: no-reply@x.example', 'Reply-To: bob@x.example'],
      'bob@x.example',
    ],
    ['MAIL FROM without a readable From', ['Subject: x'], 'ann@customer.example'],
  ])('is %s', async (_, headers, person) => {
    expect(await counted(headers)).toMatchObject({ person });
  });

  test.each<[string, readonly string[], Choices]>([
    [
      'a configured form',
      ['From: forms@market.example', 'Reply-To: bob@x.example'],
      { shop: { formSenders: ['*@market.example'] } },
    ],
    ['a form without a Reply-To', [FROM], { shop: { formSenders: ['ann@customer.example'] } }],
    ['a sender that the shop allows', [FROM], { shop: { allowSenders: ['*@customer.example'] } }],
    ['what is suppressed', [FROM, 'List-Id: <a.b>'], {}],
    ['what is held', [FROM, 'Auto-Submitted: auto-generated'], {}],
    ['what an operator released', [FROM], { job: { released: true } }],
  ])('is nobody for %s', async (_, headers, choices) => {
    expect(await counted(headers, choices)).toBeUndefined();
  });
});

test('what may be forged in a name does not use up the limits of the person', async () => {
  const verdict = { ...UNKNOWN_VERDICT, dmarc: 'pass', claimed: 'none' } as const;
  const checked = { job: { authentication: verdict } };
  expect(await counted([FROM], checked)).toMatchObject({ person: 'ann@customer.example' });
  const headers = ['From: no-reply@attack.example', 'Reply-To: ann@customer.example'];
  expect(await counted(headers, checked)).toMatchObject({ person: 'forged ann@customer.example' });
  const forged = { job: { authentication: { ...UNKNOWN_VERDICT, dmarc: 'fail' } as const } };
  expect(await counted([FROM], forged)).toMatchObject({ person: 'forged ann@customer.example' });
});

describe('the thread', () => {
  const withId = { job: { meta: { ...meta, messageId: '<own@x>' } } };
  test.each<[string, readonly string[], Choices, string]>([
    [
      'is the root of References',
      ['References: <root@x> <b@x>', 'In-Reply-To: <b@x>'],
      withId,
      '<root@x>',
    ],
    ['else the subject that it answers', ['Subject: RE: Aw: Order 7'], withId, 'subject: order 7'],
    [
      'the subject also beside In-Reply-To alone, which names another message each time',
      ['Subject: Re[2]: Order 7', 'In-Reply-To: <b@x>'],
      withId,
      'subject: order 7',
    ],
    ['else In-Reply-To', ['Subject: Hello', 'In-Reply-To: <b@x>'], withId, '<b@x>'],
    ['else its own Message-ID', [], withId, '<own@x>'],
    ['else the id that it goes by', [], {}, '<one@customer.example>'],
  ])('%s', async (_, headers, choices, thread) => {
    expect(await counted([FROM, ...headers], choices)).toMatchObject({ thread });
  });
});

describe('the body', () => {
  const multipart = (boundary: string, file: string) => ({
    body: `--${boundary}\r\n\r\nSee.\r\n--${boundary}\r\nContent-Type: image/png; name=a.png\r\n\r\n${file}\r\n--${boundary}--`,
  });
  const type = (boundary: string) => [
    FROM,
    `Content-Type: multipart/mixed; boundary=${boundary}`,
    'In-Reply-To: <b@x>',
  ];

  test('is the same whatever quoted history and boundary it comes with', async () => {
    const quoting = (old: string) => ({
      body: `I am away.\r\n\r\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\r\n> ${old}`,
    });
    const headers = [FROM, 'In-Reply-To: <b@x>'];
    const [a, b] = [await counted(headers, quoting('1')), await counted(headers, quoting('2'))];
    expect(a?.body).toBe(b?.body);
    const [c, d] = [
      await counted(type('p'), multipart('p', 'one')),
      await counted(type('q'), multipart('q', 'one')),
    ];
    expect(c?.body).toBe(d?.body);
  });

  test('is another with another file', async () => {
    const [a, b] = [
      await counted(type('p'), multipart('p', 'one')),
      await counted(type('p'), multipart('p', 'two')),
    ];
    expect(a?.body).not.toBe(b?.body);
  });
});

describe('the message', () => {
  const withId = (agentContact: string) => ({
    job: { meta: { ...meta, messageId: '<own@x>', agentContact } },
  });

  test('is one in each of several inboxes', async () => {
    const [a, b] = [
      await counted([FROM], withId('support@acme.example')),
      await counted([FROM], withId('sales@acme.example')),
    ];
    expect(a?.message).toBeDefined();
    expect(a?.message).toBe(b?.message);
  });

  test('is another when only its id is the same', async () => {
    const id = withId('support@acme.example');
    const [a, b] = [await counted([FROM], id), await counted([FROM], { ...id, body: 'Other.' })];
    expect(a?.message).not.toBe(b?.message);
  });
});
