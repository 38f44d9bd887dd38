import { expect, test } from '@jest/globals';
import { createAddressMatcher } from '../../src/intake/address-matcher.ts';
import { selectSender } from '../../src/intake/email-sender.ts';
import { parseHeaderBlock } from '../../src/intake/header-block.ts';

const ours = createAddressMatcher(['support@acme.example', '*@help.acme.example']);
const options = { formSenders: createAddressMatcher(['forms@site.example', '*@market.example']) };

test.each<[string, readonly string[], string]>([
  ['From', ['From: Ann <ann@x.example>', 'Reply-To: other@x.example'], 'from ann@x.example'],
  ['a name with a bare comma', ['From: Lee, Ann <ann@x.example>'], 'from ann@x.example'],
  ['two From lines', ['From: ann@x.example', 'From: eve@x.example'], 'several'],
  ['one From line with two mailboxes', ['From: ann@x.example, eve@x.example'], 'several'],
  ['no From', ['To: support@acme.example'], 'none'],
  ['a From that is no address', ['From: Ann'], 'none'],
  [
    'a no-reply sender with a Reply-To',
    ['From: no-reply@shop.example', 'Reply-To: ann@x.example'],
    'reply-to no-reply ann@x.example',
  ],
  [
    'a donotreply sender with a tag',
    ['From: orders-donotreply+7@shop.example', 'Reply-To: ann@x.example'],
    'reply-to no-reply ann@x.example',
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
    'reply-to form ann@x.example',
  ],
  [
    'a configured market place',
    ['From: x7@market.example', 'Reply-To: ann@x.example'],
    'reply-to form ann@x.example',
  ],
  [
    'our own address with the Reply-To of a stranger',
    ['From: support@acme.example', 'Reply-To: ann@x.example'],
    'reply-to own-address ann@x.example',
  ],
  [
    'our own address with a Reply-To of ours',
    ['From: support@acme.example', 'Reply-To: a@help.acme.example'],
    'from support@acme.example',
  ],
  [
    'several Reply-To addresses, one of them ours',
    ['From: noreply@x.example', 'Reply-To: support@acme.example, ann@x.example'],
    'reply-to no-reply ann@x.example',
  ],
  [
    'a rewriting list',
    [
      'From: Ann via List <list@x.example>',
      'X-Original-From: ann@y.example',
      'Reply-To: ann@y.example',
    ],
    'reply-to list-rewrite ann@y.example',
  ],
  [
    'a rewriting list whose Reply-To is the list',
    [
      'From: Ann via List <list@x.example>',
      'X-Original-From: ann@y.example',
      'Reply-To: posts@x.example',
      'List-Post: <mailto:posts@x.example?subject=x>, <https://x.example>',
    ],
    'from list@x.example',
  ],
  [
    'our own group that rewrites and leaves no Reply-To of a person',
    [
      'From: Ann via Support <support@acme.example>',
      'X-Original-From: Ann <ann@y.example>',
      'Reply-To: support@acme.example',
    ],
    'reply-to list-rewrite ann@y.example',
  ],
])('%s', (_, headers, expected) => {
  const head = parseHeaderBlock(Buffer.from(`${headers.join('\r\n')}\r\n\r\n`));
  const sender = selectSender(head, ours, options);
  const told =
    sender.kind === 'from'
      ? `from ${sender.mailbox.address}`
      : sender.kind === 'reply-to'
        ? `reply-to ${sender.because} ${sender.mailbox.address}`
        : sender.kind;
  expect(told).toBe(expected);
});
