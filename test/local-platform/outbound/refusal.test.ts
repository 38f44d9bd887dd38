import { expect, test } from '@jest/globals';
import type { OutgoingReply } from '../../../src/local-platform/outbound/outbound.ts';
import { emailRefusal } from '../../../src/local-platform/outbound/addressed.ts';
import { Store } from '../../../src/local-platform/store/store.ts';
import { ends } from '../../support/ends.ts';
import { newFolder, OTHER, SHOP } from '../harness.ts';

function refusalOf(from: string | undefined, to: string | undefined): string | undefined {
  const store = new Store(newFolder());
  ends(() => store.close());
  for (const address of ['support@bücher.example', '+1 (415) 555-0100']) {
    store.conversations.addAgentContact(SHOP.shopId, address);
  }
  store.conversations.addAgentContact(OTHER.shopId, 'other@acme.example');
  // Nothing else of a reply is read.
  const refusal = emailRefusal(store, { shop: SHOP.shopId, from, to } as OutgoingReply);
  expect(refusal?.kind ?? 'permanent').toBe('permanent');
  return refusal && (refusal.code ?? refusal.message);
}

test.each<[string, string, string | undefined]>([
  ['an address', 'ann@example.com', undefined],
  ['an address with quotes', '"Ann, Lee"@example.com', undefined],
  ['an address that no strict pattern takes', 'user.@docomo.ne.jp', undefined],
  ["another shop's address", 'other@acme.example', undefined],
  ['two addresses', 'ann@example.com,eve@evil.example', 'not_one_address'],
  ['our own and another', 'support@bücher.example;eve@evil.example', 'not_one_address'],
  ['a group', 'team:eve@evil.example;', 'not_one_address'],
  ['a comment', '(c)eve@evil.example', 'not_one_address'],
  ['a machine', 'no-reply@example.com', 'machine'],
  ['our own address', 'Support@BÜCHER.example', 'own_address'],
  ['our own address in ASCII', 'support@xn--bcher-kva.example', 'own_address'],
  ['our own address with what nobody sees', 'support@büch\u00ader.example', 'own_address'],
])('a reply to %s', (_title, to, refused) => {
  expect(refusalOf('support@bücher.example', to)).toBe(refused);
});

test.each<[string, string | undefined, string]>([
  ['nowhere', undefined, 'an address is missing'],
  ['what is no address', 'not an address', 'not_one_address'],
  ['two lines', 'support@acme.example\r\nBcc: eve@evil.example', 'not_one_address'],
])('a reply from %s', (_title, from, refused) => {
  expect(refusalOf(from, 'ann@example.com')).toBe(refused);
});
