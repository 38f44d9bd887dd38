import { describe, expect, test } from '@jest/globals';
import { createAddressDirectory, selectInboxes } from '../../../src/channels/email/routing.ts';
import type { EmailShop } from '../../../src/channels/email/shop.ts';
import { parseHeaderBlock } from '../../../src/channels/email/header-block.ts';
import { asShopId } from '../../../src/domain/ids.ts';

const ACME = asShopId('acme');
const OTHER = asShopId('other');

const shops = (severalInboxes: 'first' | 'each' = 'first'): readonly EmailShop[] => [
  {
    shopId: ACME,
    addresses: [
      'Support@acme.example',
      'sales@acme.example',
      'vip+1@acme.example',
      '*@help.acme.example',
    ],
    formSenders: [],
    severalInboxes,
  },
  { shopId: OTHER, addresses: ['hello@münchen.example'], formSenders: [], severalInboxes },
];

describe('a recipient', () => {
  const directory = createAddressDirectory(shops());

  test.each<[string, unknown]>([
    [
      'support@acme.example',
      { shopId: ACME, agentContact: 'support@acme.example', catchAll: false },
    ],
    [
      'SUPPORT+x@ACME.EXAMPLE',
      { shopId: ACME, agentContact: 'support@acme.example', catchAll: false },
    ],
    [
      '"support"@acme.example',
      { shopId: ACME, agentContact: 'support@acme.example', catchAll: false },
    ],
    ['"support x"@acme.example', 'unknown_recipient'],
    ['"x@support"@acme.example', 'unknown_recipient'],
    ['vip+1@acme.example', { shopId: ACME, agentContact: 'vip+1@acme.example', catchAll: false }],
    ['vip@acme.example', 'unknown_recipient'],
    [
      'Any+x@help.acme.example',
      { shopId: ACME, agentContact: 'any@help.acme.example', catchAll: true },
    ],
    [
      'hello@MÜNCHEN.example',
      { shopId: OTHER, agentContact: 'hello@xn--mnchen-3ya.example', catchAll: false },
    ],
    [
      'hello@xn--mnchen-3ya.example',
      { shopId: OTHER, agentContact: 'hello@xn--mnchen-3ya.example', catchAll: false },
    ],
    ['nobody@acme.example', 'unknown_recipient'],
    ['ann@elsewhere.example', 'not_our_domain'],
    ['support@sub.acme.example', 'not_our_domain'],
    ['nonsense', 'not_our_domain'],
    ['', 'not_our_domain'],
    [
      'postmaster@acme.example',
      {
        shopId: ACME,
        agentContact: 'postmaster@acme.example',
        catchAll: false,
        hold: 'postmaster',
      },
    ],
    [
      'Abuse@help.acme.example',
      {
        shopId: ACME,
        agentContact: 'abuse@help.acme.example',
        catchAll: false,
        hold: 'postmaster',
      },
    ],
    [
      'Postmaster',
      {
        shopId: ACME,
        agentContact: 'postmaster@acme.example',
        catchAll: false,
        hold: 'postmaster',
      },
    ],
    ['postmaster@elsewhere.example', 'not_our_domain'],
  ])('%s', (recipient, expected) => {
    expect(directory.route(recipient)).toEqual(expected);
  });

  test('that is a postmaster address which a shop has configured is an inbox', () => {
    const own = createAddressDirectory([
      {
        shopId: ACME,
        addresses: ['postmaster@acme.example'],
        formSenders: [],
        severalInboxes: 'first',
      },
    ]);
    expect(own.route('postmaster@acme.example')).not.toHaveProperty('hold');
  });
});

describe('the inbox of a message', () => {
  const contacts = (
    headers: readonly string[],
    recipients: readonly string[],
    severalInboxes?: 'first' | 'each',
  ): readonly string[] =>
    selectInboxes(
      createAddressDirectory(shops(severalInboxes)),
      parseHeaderBlock(Buffer.from(`${headers.join('\r\n')}\r\n\r\n`)),
      recipients,
    ).map(({ shopId, agentContact }) => `${shopId} ${agentContact}`);

  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    [
      'the first of our addresses in To',
      ['To: Ann <ann@x.example>, Sales <sales@acme.example>, support@acme.example'],
      ['support@acme.example', 'sales@acme.example'],
      ['acme sales@acme.example'],
    ],
    [
      'in To before Cc',
      ['Cc: support@acme.example', 'To: sales@acme.example'],
      ['support@acme.example', 'sales@acme.example'],
      ['acme sales@acme.example'],
    ],
    [
      'in Cc before the envelope',
      ['To: ann@x.example', 'Cc: sales@acme.example'],
      ['support@acme.example', 'sales@acme.example'],
      ['acme sales@acme.example'],
    ],
    [
      'the same in a transaction for one of them only',
      ['To: sales@acme.example', 'Cc: support@acme.example'],
      ['support@acme.example'],
      ['acme sales@acme.example'],
    ],
    [
      'the envelope when no header names one (Bcc)',
      ['To: ann@x.example'],
      ['sales@acme.example', 'support@acme.example'],
      ['acme sales@acme.example'],
    ],
    [
      'one for each shop',
      ['To: hello@münchen.example, support@acme.example'],
      ['support@acme.example', 'hello@münchen.example'],
      ['acme support@acme.example', 'other hello@xn--mnchen-3ya.example'],
    ],
    [
      'not of a shop that the envelope does not name',
      ['To: hello@münchen.example, support@acme.example'],
      ['support@acme.example'],
      ['acme support@acme.example'],
    ],
    [
      'a catch-all: the address that a forwarder names',
      [
        'Delivered-To: sales@acme.example',
        'X-Original-To: support@acme.example',
        'To: x@x.example',
      ],
      ['in7@help.acme.example'],
      ['acme support@acme.example'],
    ],
    [
      'a catch-all: To when no forwarder names one',
      ['Delivered-To: in7@help.acme.example', 'To: support@acme.example'],
      ['in7@help.acme.example'],
      ['acme support@acme.example'],
    ],
    [
      'a catch-all: the recipient itself when nothing names a configured address',
      ['To: ann@x.example'],
      ['In7+tag@help.acme.example'],
      ['acme in7@help.acme.example'],
    ],
    [
      'two addresses of a catch-all: the first in To, in whichever transaction',
      ['To: a@help.acme.example, b@help.acme.example'],
      ['b@help.acme.example'],
      ['acme a@help.acme.example'],
    ],
    [
      'a configured address before one of a catch-all',
      ['To: a@help.acme.example, support@acme.example'],
      ['a@help.acme.example', 'support@acme.example'],
      ['acme support@acme.example'],
    ],
  ])('is %s', (_, headers, recipients, expected) => {
    expect(contacts(headers, recipients)).toEqual(expected);
  });

  test('is each of them where the shop wants one entry per inbox', () => {
    const found = contacts(
      ['To: support@acme.example'],
      [
        'sales@acme.example',
        'SUPPORT@acme.example',
        'support+x@acme.example',
        'a@help.acme.example',
      ],
      'each',
    );
    expect(found).toEqual(['acme sales@acme.example', 'acme support@acme.example']);
  });

  test('is held for the operator only when nobody else of the shop is meant', () => {
    const select = (recipients: readonly string[]) =>
      selectInboxes(
        createAddressDirectory(shops()),
        parseHeaderBlock(Buffer.from('To: x@y.example\n\n')),
        recipients,
      );
    expect(select(['abuse@acme.example'])).toMatchObject([
      { agentContact: 'abuse@acme.example', hold: 'postmaster' },
    ]);
    const [both] = select(['abuse@acme.example', 'support@acme.example']);
    expect(both?.agentContact).toBe('support@acme.example');
    expect(both).not.toHaveProperty('hold');
  });

  test('tells all addresses of the shop that the message names', () => {
    const [inbox] = selectInboxes(
      createAddressDirectory(shops()),
      parseHeaderBlock(
        Buffer.from('To: sales@acme.example, hello@münchen.example\nCc: a@help.acme.example\n\n'),
      ),
      ['support@acme.example'],
    );
    expect(inbox?.recipients).toEqual(['support@acme.example']);
    expect(inbox?.ourAddresses).toEqual([
      'support@acme.example',
      'sales@acme.example',
      'a@help.acme.example',
    ]);
  });
});
