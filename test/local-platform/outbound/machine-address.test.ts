import { expect, test } from '@jest/globals';
import { isMachine } from '../../../src/local-platform/addresses.ts';

test.each([
  '',
  '<>',
  'no-reply@shop.example',
  'NoReply@shop.example',
  'do-not-reply@shop.example',
  'donotreply@shop.example',
  'no_reply+abc@shop.example',
  'orders-noreply@shop.example',
  'noreply2@shop.example',
  'never-reply@shop.example',
  'no-responda@shop.example',
  'notifications@shop.example',
  'nobody@shop.example',
  'MAILER-DAEMON@mx.example',
  'postmaster@mx.example',
  'bounce@mx.example',
  'bounces+ann=example.com@mx.example',
  'list-bounces@lists.example',
  'owner-list@lists.example',
  'list-request@lists.example',
  'listserv@lists.example',
  'majordomo@lists.example',
])('%s is a machine', (address) => expect(isMachine(address)).toBe(true));

test.each([
  'ann@example.com',
  'ann.noreplyson@example.com',
  'john.bounce@example.com',
  'reply@example.com',
  'replies@example.com',
  'nora.eply@example.com',
  'request@example.com',
  'owner@example.com',
  'anowner-x@example.com',
  'ann.nobody@example.com',
  'notifier@example.com',
  'ann@no-reply.example',
  'ann@postmaster.example',
])('%s is a person', (address) => expect(isMachine(address)).toBe(false));

test('a long address takes no time', () => {
  expect(isMachine(`${'-no'.repeat(100_000)}@example.com`)).toBe(false);
});
