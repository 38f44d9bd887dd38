import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import type { Contact, MediaRecord, Message, Page } from '../../../src/platform-api/resources.ts';
import type { CreateMessageRequest } from '../../../src/platform-api/schemas.ts';
import { anEmail, OTHER, SHOP, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

async function start(): Promise<{ platform: LocalPlatform; contract: Contract }> {
  const platform = await startPlatform();
  return { platform, contract: await Contract.of(platform) };
}

const create = (contract: Contract, body: unknown) =>
  contract.call<Message>('createMessage', '', { body });

describe('createMessage', () => {
  it('answers 201 with the message, then 200 with the same one', async () => {
    const { contract } = await start();
    const request = anEmail({ message: { timestamp: '2026-04-21T11:30:00+02:00' } });
    const first = await create(contract, request);
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      content: request.message.content,
      text: request.message.content,
      format: 'TEXT',
      role: 'customer',
      status: 'DELIVERED',
      type: 'External',
      agent_id: null,
      user_id: null,
      remote_id: request.message.remote_id,
      remote_platform: null,
      created_at: '2026-04-21T09:30:00.000Z',
    });
    const again = await create(contract, request);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  it('takes every field, on each channel', async () => {
    const { platform, contract } = await start();
    const media = await uploaded(contract);
    const everything: CreateMessageRequest = {
      contact: { email: 'Ann@Example.com', name: 'Ann Lee', phone: '+15550002222' },
      conversation: {
        direction: 'inbound',
        type: 'email',
        id: null,
        agent_contact: 'support@acme.example',
        intent_id: randomUUID(),
        topic_id: randomUUID(),
        user_id: randomUUID(),
      },
      message: {
        content: '<p>Hello</p>',
        format: 'HTML',
        attachments: [media.id.toUpperCase()],
        remote_id: '<1@example.com>',
        timestamp: '2026-04-21T09:30:00.5Z',
        email: {
          subject: 'Hello',
          in_reply_to: '<0@example.com>',
          references: ['<00@example.com>', '<0@example.com>'],
          cc: [{ email: 'bo@example.com', name: 'Bo' }],
          bcc: [{ email: 'cy@example.com' }],
        },
      },
    };
    const { status, body } = await create(contract, everything);
    expect([status, body.format, body.text]).toEqual([201, 'HTML', 'Hello']);
    expect(platform.inspect.attachments(body.id)).toHaveLength(1);
    const conversation = await contract.call('getConversation', String(body.conversation_id));
    expect(conversation.body).toMatchObject({
      type: 'email',
      title: 'Hello',
      user_id: everything.conversation.user_id,
    });
    const sms = {
      contact: { phone: '+15550003333' },
      conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
      message: { content: 'Hi', format: 'MARKDOWN', remote_id: null, timestamp: null },
    };
    const chat = {
      contact: { name: 'Visitor', email: null, phone: null },
      conversation: { direction: 'inbound', type: 'web_chat', agent_contact: null },
      message: { content: '' },
    };
    for (const request of [sms, chat]) {
      expect((await create(contract, request)).status).toBe(201);
    }
  });

  it('appends to a conversation, named in any case of letters', async () => {
    const { contract } = await start();
    const { body } = await create(contract, anEmail());
    const id = String(body.conversation_id).toUpperCase();
    const more = await create(contract, {
      contact: {},
      conversation: { direction: 'inbound', id },
      message: { content: 'More' },
    });
    expect(more.body).toMatchObject({
      conversation_id: body.conversation_id,
      ticket_id: body.ticket_id,
      contact_id: body.contact_id,
    });
  });

  it('ignores unknown fields', async () => {
    const { contract } = await start();
    const request = { ...anEmail(), more: 1, contact: { email: 'a@b.example', more: 1 } };
    expect((await create(contract, request)).status).toBe(201);
  });

  const sms = { direction: 'inbound', type: 'sms', agent_contact: '+1' };
  const message = { content: 'x' };
  it.each<[string, object, Record<string, string>]>([
    ['nothing at all', {}, { contact: 'required', conversation: 'required', message: 'required' }],
    ['a list', [], { body: 'expected an object, not an array' }],
    [
      'no direction and no content',
      { contact: {}, conversation: { type: 'web_chat' }, message: {} },
      { 'conversation.direction': 'required', 'message.content': 'required' },
    ],
    [
      'an outbound one',
      { contact: {}, conversation: { ...sms, direction: 'outbound' }, message },
      { 'conversation.direction': 'expected inbound' },
    ],
    [
      'a channel that it has not',
      { contact: {}, conversation: { direction: 'inbound', type: 'fax' }, message },
      { 'conversation.type': 'expected email or sms or web_chat' },
    ],
    [
      'no channel and no conversation',
      { contact: {}, conversation: { direction: 'inbound' }, message },
      { 'conversation.type': 'required when conversation.id is absent' },
    ],
    [
      'an SMS to nobody',
      { contact: {}, conversation: { direction: 'inbound', type: 'sms' }, message },
      { 'conversation.agent_contact': 'required for conversations of type sms' },
    ],
    [
      'values of other types',
      {
        contact: { email: 'no address', name: 7, phone: true },
        conversation: { ...sms, id: '7', intent_id: 'x', topic_id: 'x', user_id: 'x' },
        message: {
          content: null,
          format: 'RTF',
          attachments: 'x',
          remote_id: 7,
          timestamp: '2026-04-31T09:30:00Z',
          email: { subject: [], references: 'x', cc: [{ email: 'x' }, 'Bo'] },
        },
      },
      {
        'contact.email': 'expected an email address',
        'contact.name': 'expected a string, not a number',
        'contact.phone': 'expected a string, not a boolean',
        'conversation.id': 'expected a uuid',
        'conversation.intent_id': 'expected a uuid',
        'conversation.topic_id': 'expected a uuid',
        'conversation.user_id': 'expected a uuid',
        'message.content': 'expected a string, not null',
        'message.format': 'expected TEXT or MARKDOWN or HTML',
        'message.attachments': 'expected an array, not a string',
        'message.remote_id': 'expected a string, not a number',
        'message.timestamp':
          'expected an ISO 8601 date-time of the years 0001 to 9999, like 2026-04-21T09:30:00Z',
        'message.email.subject': 'expected a string, not an array',
        'message.email.references': 'expected an array, not a string',
        'message.email.cc.0.email': 'expected an email address',
        'message.email.cc.1': 'expected an object, not a string',
      },
    ],
    [
      'a file that is not there',
      { contact: {}, conversation: sms, message: { ...message, attachments: [SHOP.shopId] } },
      { 'message.attachments.0': 'no such media' },
    ],
  ])('says what is wrong with %s', async (_title, body, fields) => {
    const { contract } = await start();
    const error = await contract.refused('createMessage', '', { body }, 400);
    expect(error).toEqual({ code: 'invalid', message: 'the request is not valid', fields });
  });

  it('is 404 for an unknown conversation, or one of another shop', async () => {
    const { contract } = await start();
    const { body } = await create(contract, anEmail());
    const request = anEmail({ conversation: { id: body.conversation_id } });
    for (const shop of [OTHER, SHOP]) {
      const id = shop === OTHER ? body.conversation_id : randomUUID();
      const options = { body: { ...request, conversation: { direction: 'inbound', id } }, shop };
      const error = await contract.refused('createMessage', '', options, 404);
      expect(error.fields).toEqual({ 'conversation.id': 'not found' });
    }
  });

  it.each([
    ['2026-04-21T09:30:00Z', '2026-04-21T09:30:00.000Z'],
    ['2026-04-21T09:30', '2026-04-21T09:30:00.000Z'],
    ['2026-04-21t09:30:05.25', '2026-04-21T09:30:05.250Z'],
    ['2026-04-21 09:30:05,5z', '2026-04-21T09:30:05.500Z'],
    ['2026-04-21T09:30+02:00', '2026-04-21T07:30:00.000Z'],
    ['2026-04-21T09:30:00-0330', '2026-04-21T13:00:00.000Z'],
    ['2026-04-21T00:30:00+02', '2026-04-20T22:30:00.000Z'],
  ])('takes the time %s', async (timestamp, createdAt) => {
    const { contract } = await start();
    const { status, body } = await create(contract, anEmail({ message: { timestamp } }));
    expect([status, body.created_at]).toEqual([201, createdAt]);
  });

  it.each([
    ...['', '2026-04-21', '09:30', '2026-02-30T09:30', '2026-04-21T24:00', '2026-04-21T09:60'],
    ...['2026-04-21T09:30:00+25:00', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'],
    ...['2026-04-21T09:30:00 Z', ' 2026-04-21T09:30:00Z', '2026-04-21T09:30:00Z\n', '1776763800'],
  ])('refuses the time %j', async (timestamp) => {
    const { contract } = await start();
    expect((await create(contract, anEmail({ message: { timestamp } }))).status).toBe(400);
  });

  it('takes a long phone number, and copies without an address', async () => {
    const { contract } = await start();
    const email = { cc: [{ name: 'Bo' }, {}], bcc: [{ email: 'bo@example.com' }] };
    const request = anEmail({ contact: { phone: '1'.repeat(100) }, message: { email } });
    const { status, body } = await create(contract, request);
    expect(status).toBe(201);
    const found = await contract.call<Page<Contact>>('listContacts', `?phone=${'1'.repeat(100)}`);
    expect(found.body.results.map(({ id }) => id)).toEqual([body.contact_id]);
  });

  it('accepts and rejects the same requests as its documented schema', async () => {
    const { contract } = await start();
    const schema = contract.bodySchema('createMessage');
    const bodies = [
      anEmail(),
      anEmail({ conversation: { agent_contact: null } }),
      anEmail({ conversation: { agent_contact: '' } }),
      anEmail({ conversation: { agent_contact: ' ' } }),
      anEmail({ conversation: { agent_contact: 'nobody' } }),
      anEmail({ conversation: { type: 'sms', agent_contact: '40404' } }),
      { ...anEmail(), conversation: { direction: 'inbound', type: 'web_chat' } },
      { ...anEmail(), contact: { email: null } },
      { ...anEmail(), contact: null },
      { ...anEmail(), contact: { phone: '1'.repeat(65) } },
      { ...anEmail(), message: { content: 'x', attachments: [7] } },
      { ...anEmail(), message: { content: 'x', timestamp: 'yesterday' } },
      { ...anEmail(), message: { content: 'x', email: { cc: [{ name: 'Bo' }, {}] } } },
    ];
    for (const body of bodies) {
      const valid = contract.mistakes(schema, body).length === 0;
      const { status } = await create(contract, body);
      expect([body, status < 300]).toEqual([body, valid]);
    }
  });
});

describe('listMessages and getMessage', () => {
  it('answer with every field, by each filter and by two', async () => {
    const { contract } = await start();
    const [a, b, c] = [
      (await create(contract, anEmail({ message: { content: 'a' } }))).body,
      (await create(contract, anEmail({ message: { content: 'b' } }))).body,
      (await create(contract, anEmail({ message: { content: 'c' } }))).body,
    ];
    const one = await contract.call<Message>('getMessage', a.id.toUpperCase());
    expect([one.status, one.body]).toEqual([200, a]);
    const [x, y] = [String(a.conversation_id), String(b.conversation_id)];
    const cases: [string, Message[]][] = [
      ['', [c, b, a]],
      [`?conversation_id=${x}`, [a]],
      [`?conversation_id=${x.toUpperCase()}`, [a]],
      [`?conversation_id__in=${x},${y}`, [b, a]],
      [`?conversation_id__in=${x.toUpperCase()},%20${y}`, [b, a]],
      [`?ticket_id=${String(c.ticket_id)}`, [c]],
      [`?conversation_id__in=${x},${y}&ticket_id=${String(b.ticket_id)}`, [b]],
      [`?conversation_id=${x}&ticket_id=${String(b.ticket_id)}`, []],
      ['?unknown=1', [c, b, a]],
    ];
    for (const [query, messages] of cases) {
      const { status, body } = await contract.call<Page<Message>>('listMessages', query);
      expect([query, status, body]).toEqual([
        query,
        200,
        { results: messages, next: null, previous: null },
      ]);
    }
  });

  it('say what is wrong with a filter', async () => {
    const { contract } = await start();
    const cases: [string, Record<string, string>][] = [
      ['conversation_id=x', { conversation_id: 'expected a uuid' }],
      ['conversation_id=', { conversation_id: 'expected a uuid' }],
      [`conversation_id__in=${SHOP.shopId},x`, { 'conversation_id__in.1': 'expected a uuid' }],
      ['conversation_id__in=', { 'conversation_id__in.0': 'expected a uuid' }],
      ['ticket_id=x&limit=ten', { ticket_id: 'expected a uuid', limit: 'expected an integer' }],
      ['limit=0', { limit: 'expected 1 or more' }],
      ['limit=1&limit=2', { limit: 'expected a string, not an array' }],
      ['cursor=AAAA', { cursor: 'not a cursor of this list' }],
      ['cursor=', { cursor: 'must not be empty' }],
    ];
    for (const [query, fields] of cases) {
      const error = await contract.refused('listMessages', `?${query}`, {}, 400);
      expect([query, error.fields]).toEqual([query, fields]);
    }
  });

  it('are 404 for unknown ids', async () => {
    const { contract } = await start();
    for (const id of [randomUUID(), '7', '%20', 'x'.repeat(500)]) {
      const error = await contract.refused('getMessage', id, {}, 404);
      expect(error.code).toBe('not_found');
    }
  });
});

async function uploaded(contract: Contract): Promise<MediaRecord> {
  const form = new FormData();
  form.append('file', new Blob(['x']), 'x.txt');
  return (await contract.call<MediaRecord>('uploadMedia', '', { body: form })).body;
}
