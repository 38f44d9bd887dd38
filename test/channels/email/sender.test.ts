import { describe, expect, test } from '@jest/globals';
import { createAddressMatcher } from '../../../src/domain/email-addresses.ts';
import { selectSender } from '../../../src/channels/email/sender.ts';
import { parseHeaderBlock } from '../../../src/channels/email/header-block.ts';
import { createFormSenders } from '../../../src/channels/email/known-senders.ts';

const ours = createAddressMatcher(['support@acme.example', '*@help.acme.example']);
const options = { formSenders: createFormSenders(['forms@site.example', '*@market.example']) };

test.each<[string, readonly string[], string]>([
  ['From', ['From: Ann <ann@x.example>', 'Reply-To: other@x.example'], 'from ann@x.example'],
  ['a name with a bare comma', ['From: Lee, Ann <ann@x.example>'], 'from ann@x.example'],
  ['two From lines', ['From: ann@x.example', 'From: eve@x.example'], 'several'],
  ['one From line with two mailboxes', ['From: ann@x.example, eve@x.example'], 'several'],
  [
    'parts of a name before a bare comma that look like an address inside a company',
    ['From: Sales@Acme, Ann <ann@x.example>'],
    'from ann@x.example',
  ],
  [
    'the same address twice',
    ['From: ann@x.example, Ann <Ann+7@X.example>'],
    'from Ann+7@x.example',
  ],
  ['two people with names', ['From: Ann <ann@x.example>, Eve <eve@x.example>'], 'several'],
  ['another address before the own', ['From: ceo@legit.example, Eve <eve@x.example>'], 'several'],
  ['two addresses inside a company', ['From: ann@host, eve@host'], 'several'],
  ['one address inside a company', ['From: root@host'], 'from root@host'],
  ['no From', ['To: support@acme.example'], 'none'],
  [
    'no From and a Reply-To',
    ['Reply-To: ann@x.example', 'Sender: bob@x.example'],
    'claimed no-author ann@x.example',
  ],
  [
    'a From that is no address, and a Sender',
    ['From: Ann', 'Reply-To: support@acme.example', 'Sender: bob@x.example'],
    'claimed no-author bob@x.example',
  ],
  [
    'a From that the platform refuses, and a Reply-To that it refuses',
    ['From: Ann <"a <b>"@x.example>', 'Reply-To: "c <d>"@x.example', 'Sender: bob@x.example'],
    'claimed no-author bob@x.example',
  ],
  ['a From that the platform refuses, alone', ['From: Ann <"a <b>"@x.example>'], 'none'],
  ['no From and a Sender that is ours', ['Sender: support@acme.example'], 'none'],
  ['a From that is no address', ['From: Ann'], 'none'],
  [
    'a no-reply sender with a Reply-To',
    ['From: no-reply@shop.example', 'Reply-To: ann@x.example'],
    'claimed no-reply ann@x.example',
  ],
  [
    'a donotreply sender with a tag',
    ['From: orders-donotreply+7@shop.example', 'Reply-To: ann@x.example'],
    'claimed no-reply ann@x.example',
  ],
  [
    'a person whose name only looks like it',
    ['From: norman.reply@x.example', 'Reply-To: b@x.example'],
    'from norman.reply@x.example',
  ],
  ['a no-reply sender without', ['From: noreply@shop.example'], 'from noreply@shop.example'],
  [
    'a configured form sender',
    ['From: forms@site.example', 'Reply-To: Ann <ann@x.example>'],
    'claimed form ann@x.example by form',
  ],
  [
    'a configured market place',
    ['From: x7@market.example', 'Reply-To: ann@x.example'],
    'claimed form ann@x.example by form',
  ],
  [
    'our own address with the Reply-To of a stranger',
    ['From: support@acme.example', 'Reply-To: ann@x.example'],
    'claimed own-address ann@x.example by form',
  ],
  [
    'our own address with a Reply-To of ours',
    ['From: support@acme.example', 'Reply-To: a@help.acme.example'],
    'from support@acme.example',
  ],
  [
    'several Reply-To addresses, one of them ours',
    ['From: noreply@x.example', 'Reply-To: support@acme.example, ann@x.example'],
    'claimed no-reply ann@x.example',
  ],
  [
    'a rewriting list',
    [
      'From: Ann via List <list@x.example>',
      'X-Original-From: ann@y.example',
      'Reply-To: ann@y.example',
    ],
    'claimed list-rewrite ann@y.example',
  ],
  [
    'a rewriting list whose Reply-To is the list',
    [
      'From: Ann via List <list@x.example>',
      'X-Original-From: ann@y.example',
      'Reply-To: posts@x.example',
      'List-Post: <mailto:posts@x.example?subject=x>, <https://x.example>',
    ],
    'claimed list-rewrite ann@y.example',
  ],
  [
    'our own group that rewrites and leaves no Reply-To of a person',
    [
      'From: Ann via Support <support@acme.example>',
      'X-Original-From: Ann <ann@y.example>',
      'Reply-To: support@acme.example',
    ],
    'claimed list-rewrite ann@y.example by form',
  ],
  [
    'our own group that names the person only in X-Original-Sender',
    ['From: Ann via Support <support@acme.example>', 'X-Original-Sender: ann@y.example'],
    'claimed own-address ann@y.example by form',
  ],
  [
    'a group that did not rewrite From',
    ['From: ann@y.example', 'X-Original-Sender: ann@y.example', 'List-Post: <mailto:g@x.example>'],
    'from ann@y.example',
  ],
  [
    'X-Original-From that says the same as From',
    ['From: Ann <ann@y.example>', 'X-Original-From: ann@y.example', 'Reply-To: b@z.example'],
    'from ann@y.example',
  ],
  [
    'a form at one of our domains',
    ['From: wordpress@acme.example', 'Reply-To: ann@x.example'],
    'claimed own-address ann@x.example by form',
  ],
  [
    'a form below one of our domains',
    ['From: forms@mail.acme.example', 'Reply-To: ann@x.example'],
    'claimed own-address ann@x.example by form',
  ],
  [
    'a colleague who has the answer sent to another',
    ['From: bob@acme.example', 'Reply-To: team@acme.example'],
    'from bob@acme.example',
  ],
  [
    'a domain that only ends like ours',
    ['From: forms@notacme.example', 'Reply-To: ann@x.example'],
    'from forms@notacme.example',
  ],
  [
    'a known form service',
    ['From: Acme <mailer@shopify.com>', 'Reply-To: ann@x.example'],
    'claimed form ann@x.example by form',
  ],
])('%s', (_, headers, expected) => {
  const head = parseHeaderBlock(Buffer.from(`${headers.join('\r\n')}\r\n\r\n`));
  const sender = selectSender(head, { own: ours, ...options });
  const told =
    sender.kind === 'from'
      ? `from ${sender.mailbox.address}`
      : sender.kind === 'claimed'
        ? `claimed ${sender.because} ${sender.mailbox.address}${sender.byForm ? ' by form' : ''}`
        : sender.kind;
  expect(told).toBe(expected);
});

/** A shop whose address is at a mail provider: its neighbours there are strangers. */
describe('a shop at a provider that strangers share', () => {
  const atProvider = createAddressMatcher(['acme.shop@gmail.com']);
  test.each<[string, readonly string[], string]>([
    [
      'does not take a neighbour for a form of its own',
      ['From: mallory@gmail.com', 'Reply-To: admin@legit.example'],
      'from',
    ],
    [
      'does not vouch for whom a neighbour names',
      ['From: no-reply.mallory@gmail.com', 'Reply-To: admin@legit.example'],
      'claimed by anybody',
    ],
    [
      'still has forms that write in its own address',
      ['From: acme.shop@gmail.com', 'Reply-To: admin@legit.example'],
      'claimed by form',
    ],
  ])('%s', (_, headers, expected) => {
    const head = parseHeaderBlock(Buffer.from(`${headers.join('\r\n')}\r\n\r\n`));
    const sender = selectSender(head, { own: atProvider, ...options });
    const told =
      sender.kind === 'claimed' ? `claimed by ${sender.byForm ? 'form' : 'anybody'}` : sender.kind;
    expect(told).toBe(expected);
  });
});
