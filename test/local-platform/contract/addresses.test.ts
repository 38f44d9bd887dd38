import { describe, expect, it, test } from '@jest/globals';
import type { Message } from '../../../src/platform-api/resources.ts';
import { anEmail, SHOP, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

const start = async () => Contract.of(await startPlatform());
const create = (contract: Contract, body: unknown, headers?: Record<string, string>) =>
  contract.call<Message>('createMessage', '', { body, ...(headers && { headers }) });

describe('contact.email is one address', () => {
  it.each([
    'user.@docomo.ne.jp',
    '"Ann, Lee: (x);"@example.com',
    '"a@b"@example.com',
    'josé@bücher.example',
    'ann@[IPv6:::1]',
    "o'hara+x@example.com",
    '.a..b@example.com',
  ])('%s', async (email) => {
    expect((await create(await start(), anEmail({ contact: { email } }))).status).toBe(201);
  });

  it.each([
    'a@x.example,b@y.example',
    'support@acme.example;d@z.example',
    'team:a@x.example;',
    '(c)a@x.example',
    'a@b@x.example',
    'a@x.example,',
    'a@x;y.example',
    '"a"b@x.example',
    'a\u0085b@x.example',
    'a\u0000@x.example',
    'a@x.example\r\nBcc: c@z.example',
  ])('and not %j', async (email) => {
    const contract = await start();
    const options = { body: anEmail({ contact: { email } }) };
    const error = await contract.refused('createMessage', '', options, 400);
    expect(error.fields).toEqual({ 'contact.email': 'expected an email address' });
  });
});

describe('conversation.agent_contact', () => {
  const wrong = [
    'support@acme.example\r\nBcc: c@z.example',
    'not an address',
    'a@x.example,b@y.example',
  ];
  it.each(wrong)('of an email is an address, not %j', async (to) => {
    const contract = await start();
    const fields = { 'conversation.agent_contact': 'expected an email address' };
    const fresh = { body: anEmail({ conversation: { agent_contact: to } }) };
    expect((await contract.refused('createMessage', '', fresh, 400)).fields).toEqual(fields);
    const { body } = await create(contract, anEmail());
    const conversation = { direction: 'inbound', id: body.conversation_id, agent_contact: to };
    const more = { body: { ...anEmail(), conversation } };
    expect((await contract.refused('createMessage', '', more, 400)).fields).toEqual(fields);
  });

  it.each(['email', 'sms'] as const)('of type %s is not blank', async (type) => {
    const contract = await start();
    const options = { body: anEmail({ conversation: { type, agent_contact: '  ' } }) };
    expect((await contract.refused('createMessage', '', options, 400)).fields).toEqual({
      'conversation.agent_contact': `required for conversations of type ${type}`,
    });
  });
});

describe('a date-time', () => {
  it.each(['9999-12-31T23:59:59-12:00', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00+12:00'])(
    '%s is in no year of ours',
    async (at) => {
      const contract = await start();
      const reason =
        'expected an ISO 8601 date-time of the years 0001 to 9999, like 2026-04-21T09:30:00Z';
      const message = { body: anEmail({ message: { timestamp: at } }) };
      expect((await contract.refused('createMessage', '', message, 400)).fields).toEqual({
        'message.timestamp': reason,
      });
      const event = { body: { name: 'x', event_time: at, contact: { phone: '+1' } } };
      expect((await contract.refused('createEvent', '', event, 400)).fields).toEqual({
        event_time: reason,
      });
    },
  );

  it.each(['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z'])('%s is', async (timestamp) => {
    const { status, body } = await create(await start(), anEmail({ message: { timestamp } }));
    expect([status, body.created_at]).toEqual([201, timestamp.replace('Z', '.000Z')]);
  });
});

test.each(['utf8', 'UTF8', '"utf8"', 'utf-8'])('the charset may be %s', async (charset) => {
  const headers = { 'content-type': `application/json; charset=${charset}` };
  const message = { content: 'Grüße' };
  const { status, body } = await create(await start(), { ...anEmail(), message }, headers);
  expect([status, body.content]).toEqual([201, 'Grüße']);
});

test('a filter takes a thousand ids', async () => {
  const contract = await start();
  await create(contract, anEmail());
  const ids = Array.from({ length: 1000 }, () => SHOP.shopId).join('%2C');
  for (const operation of ['listMessages', 'listTickets']) {
    const { status } = await contract.call(operation, `?conversation_id__in=${ids}`);
    expect(status).toBe(200);
  }
});
