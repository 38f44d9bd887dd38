import { describe, expect, test } from '@jest/globals';
import {
  type Envelope,
  type StoredMessage,
  toArrivals,
} from '../../../src/channels/email/receive.ts';
import { toNamedAddress } from '../../../src/channels/email/normalize/head/header-values.ts';
import { selectSender } from '../../../src/channels/email/sender.ts';
import { parseHeaderBlock } from '../../../src/channels/email/header-block.ts';
import { createAddressDirectory } from '../../../src/channels/email/routing.ts';
import { asShopId } from '../../../src/domain/ids.ts';

const ACME = asShopId('acme');
const OTHER = asShopId('other');

const directory = () =>
  createAddressDirectory([
    {
      shopId: ACME,
      addresses: ['support@acme.example', 'sales@acme.example', '*@acme.example'],
      formSenders: ['forms@market.example'],
      severalInboxes: 'first',
    },
    { shopId: OTHER, addresses: ['hello@other.example'], formSenders: [], severalInboxes: 'first' },
  ]);

const stored = (lines: readonly string[]): StoredMessage => {
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return {
    head: parseHeaderBlock(bytes),
    raw: { kind: 'inline', bytes },
    remoteId: '<one@x.example>',
    bodySha256: 'b',
  };
};
const envelope = (recipients: readonly string[]): Envelope => ({
  remoteAddress: '192.0.2.1',
  heloName: 'mx.x.example',
  tls: false,
  trustedRelay: false,
  envelopeFrom: 'ann@x.example',
  receivedHeader: 'Received: from mx.x.example',
  recipients,
  receivedAt: 1,
});
const arrive = (lines: readonly string[], recipients: readonly string[]) =>
  toArrivals(directory(), stored(lines), envelope(recipients));
const FROM = 'From: ann@x.example';

describe('who it is for', () => {
  test('RCPT TO decides, not To', () => {
    const arrivals = arrive([FROM, 'To: hello@other.example'], ['support@acme.example']);
    expect(arrivals).toMatchObject([
      { shopId: ACME, meta: { agentContact: 'support@acme.example' } },
    ]);
  });

  test.each(['X-Original-To', 'Delivered-To', 'Envelope-To', 'X-Forwarded-To', 'To', 'Cc'])(
    'a catch-all looks for one of our addresses in %s',
    (name) => {
      const [arrival] = arrive([FROM, `${name}: sales@acme.example`], ['shop7@acme.example']);
      expect(arrival?.meta).toMatchObject({ agentContact: 'sales@acme.example' });
    },
  );

  test('the header that tells most about the recipient comes first, whatever their order', () => {
    const names = ['X-Original-To', 'Delivered-To', 'Envelope-To', 'X-Forwarded-To', 'To', 'Cc'];
    for (let first = 0; first < names.length - 1; first += 1) {
      const [best, ...others] = names.slice(first);
      const lines = others.map((name) => `${name}: support@acme.example`);
      const [arrival] = arrive(
        [FROM, ...lines.reverse(), `${best ?? ''}: sales@acme.example`],
        ['shop7@acme.example'],
      );
      expect([best, arrival?.meta.agentContact]).toEqual([best, 'sales@acme.example']);
    }
  });

  test('several inboxes of a shop: the same entry from each separate transaction', () => {
    const lines = [FROM, 'To: sales@acme.example', 'Cc: support@acme.example'];
    const keys = ['support@acme.example', 'sales@acme.example'].map(
      (recipient) => arrive(lines, [recipient])[0]?.dedupKey,
    );
    expect(keys[0]).toBe(keys[1]);
  });

  test.each(['postmaster@acme.example', 'Abuse@other.example', 'postmaster@other.example'])(
    '%s is accepted and held for the operator',
    (recipient) => {
      expect(arrive([FROM, `To: ${recipient}`], [recipient])).toMatchObject([
        { hold: { code: 'postmaster' }, meta: { agentContact: recipient.toLowerCase() } },
      ]);
    },
  );

  test('a complaint to abuse@ is not held: it is read first', () => {
    const report = 'Content-Type: multipart/report; report-type=feedback-report; boundary=x';
    const [arrival] = arrive([FROM, report], ['abuse@acme.example']);
    expect(arrival?.meta.agentContact).toBe('abuse@acme.example');
    expect(arrival).not.toHaveProperty('hold');
  });
});

describe('who it is from', () => {
  test.each([
    ['two From lines', ['From: ann@x.example', 'From: eve@x.example']],
    ['two mailboxes in From', ['From: ann@x.example, eve@x.example']],
  ])('%s: held', (_, lines) => {
    expect(arrive(lines, ['support@acme.example'])).toMatchObject([
      { hold: { code: 'several_from' } },
    ]);
  });

  test.each([
    ['a no-reply sender', ['From: no-reply@x.example', 'Reply-To: ann@x.example']],
    ['a configured form', ['From: forms@market.example', 'Reply-To: ann@x.example']],
    [
      'a rewritten From of Google Groups',
      [
        'From: ann via L <l@x.example>',
        'X-Original-From: ann@x.example',
        'Reply-To: ann@x.example',
      ],
    ],
    [
      'a rewritten From of Mailman, which is the address of the list',
      [
        'From: ann via L <l@x.example>',
        'List-Post: <mailto:l@x.example>',
        'Reply-To: ann@x.example',
      ],
    ],
    ['a contact form of ours', ['From: support@acme.example', 'Reply-To: ann@x.example']],
  ])('%s: Reply-To, and its lane', (_, lines) => {
    const [arrival] = arrive(lines, ['support@acme.example']);
    expect(arrival?.lane).toBe('ann@x.example support@acme.example');
  });

  test.each([
    ['of ours', 'Reply-To: sales@acme.example'],
    ['of the list', 'Reply-To: l@x.example'],
  ])('never a Reply-To %s', (_, line) => {
    const lines = ['From: no-reply@x.example', 'List-Post: <mailto:l@x.example>', line];
    expect(arrive(lines, ['support@acme.example'])[0]?.lane).toMatch(/^no-reply@x\.example /);
  });

  test.each([
    ['decoded', '=?utf-8?q?J=C3=BCrgen?= <a@x.example>', 'Jürgen'],
    ['without control characters', 'A\u0007n\u0000n <a@x.example>', 'Ann'],
    ['without bidi overrides', '"Ann\u202egro.live" <a@x.example>', 'Anngro.live'],
    ['encoded ones too', '=?utf-8?b?QeKAruKBpm5u?= <a@x.example>', 'Ann'],
    ['of 200 characters', `${'n'.repeat(300)} <a@x.example>`, 'n'.repeat(200)],
    ['without half a character at its end', `${'😀'.repeat(150)} <a@x.example>`, '😀'.repeat(100)],
  ])('a name is %s', (_, value, expected) => {
    const head = parseHeaderBlock(Buffer.from(`From: ${value}\r\n\r\n`));
    const shop = directory().shop(ACME);
    if (shop === undefined) throw new Error('no shop');
    const sender = selectSender(head, shop);
    if (sender.kind !== 'from') throw new Error(sender.kind);
    expect(toNamedAddress(sender.mailbox)?.name).toBe(expected);
  });
});
