import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Contact, CreatedEvent, Page } from '../../../src/platform-api/resources.ts';
import { SHOP, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

const create = (contract: Contract, body: unknown) =>
  contract.call<CreatedEvent>('createEvent', '', { body });

describe('createEvent', () => {
  it('takes every field, and answers with the contact', async () => {
    const platform = await startPlatform();
    const contract = await Contract.of(platform);
    const metric = {
      metric_name: 'orders',
      value: 1.5,
      deduping_key: 'order-1001',
      metric_object_type: 'order',
      metric_object_id: randomUUID(),
      context_object_type: 'shop',
      context_object_id: randomUUID(),
      additional_properties: { carrier: 'post' },
    };
    const event = {
      name: 'Order shipped',
      description: 'Order 1001',
      event_time: '2026-04-21T15:00:00+02:00',
      contact: { email: 'Ann@Example.com', name: 'Ann', phone: '+15550002222', remote_id: 'c-1' },
      metric,
    };
    const { status, body } = await create(contract, event);
    expect([status, body]).toEqual([
      201,
      {
        contact: {
          id: expect.any(String),
          email: 'ann@example.com',
          phone: '+15550002222',
          remote_id: 'c-1',
        },
      },
    ]);
    const id = String(body.contact?.id);
    const contact = await contract.call<Contact>('getContact', id);
    expect(contact.body).toMatchObject({ name: 'Ann', remote_id: 'c-1' });
    const [stored, ...more] = platform.inspect.events(SHOP.shopId);
    expect(more).toEqual([]);
    expect(stored).toMatchObject({
      contact_id: id,
      name: 'Order shipped',
      description: 'Order 1001',
      event_time: '2026-04-21T13:00:00.000Z',
    });
    expect(JSON.parse(String(stored?.metric))).toEqual(metric);

    const again = await create(contract, event);
    expect([again.status, again.body]).toEqual([200, body]);
    expect(platform.inspect.events(SHOP.shopId)).toHaveLength(1);
  });

  it('counts a metric once, and stores the activity once per contact', async () => {
    const platform = await startPlatform();
    const contract = await Contract.of(platform);
    const metric = { metric_name: 'm', deduping_key: 'k', value: 1 };
    const by = (email: string) => create(contract, { name: 'x', contact: { email }, metric });
    const first = [await by('n1@example.com'), await by('n2@example.com')];
    expect(first.map(({ status }) => status)).toEqual([201, 201]);
    const again = [await by('n1@example.com'), await by('n2@example.com')];
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
    expect((await create(contract, { name: 'x', metric })).status).toBe(200);
    const ids = first.map(({ body }) => body.contact?.id);
    expect(again.map(({ body }) => body.contact?.id)).toEqual(ids);
    expect(platform.inspect.events(SHOP.shopId)).toMatchObject([
      { contact_id: ids[0], metric: expect.stringContaining('"value":1') },
      { contact_id: ids[1], metric: null },
    ]);
  });

  it('takes a contact alone, and a metric alone', async () => {
    const at = Date.parse('2026-04-21T09:30:00Z');
    const platform = await startPlatform({ clock: () => at });
    const contract = await Contract.of(platform);
    const byRemoteId = await create(contract, { name: 'x', contact: { remote_id: 'c-2' } });
    expect(byRemoteId).toMatchObject({ status: 201, body: { contact: { remote_id: 'c-2' } } });
    const counted = await create(contract, { name: 'y', metric: {} });
    expect([counted.status, counted.body]).toEqual([201, {}]);
    expect(platform.inspect.events(SHOP.shopId)).toMatchObject([
      { name: 'x', event_time: '2026-04-21T09:30:00.000Z' },
      { name: 'y', contact_id: null },
    ]);
  });

  it('adds a contact of whom only a name, or nothing, is known', async () => {
    const contract = await Contract.of(await startPlatform());
    const [bo, again, nobody] = [
      await create(contract, { name: 'x', contact: { name: 'Bo' } }),
      await create(contract, { name: 'x', contact: { name: 'Bo' } }),
      await create(contract, { name: 'x', contact: {} }),
    ];
    expect([bo.status, again.status, nobody.status]).toEqual([201, 201, 201]);
    const { body } = await contract.call<Page<Contact>>('listContacts');
    expect(body.results.map(({ name }) => name)).toEqual([undefined, 'Bo', 'Bo']);
  });

  const contact = { phone: '+1' };
  it.each<[string, object, Record<string, string>]>([
    ['nothing at all', {}, { name: 'required' }],
    [
      'neither contact nor metric',
      { name: 'x' },
      { contact: 'at least one of contact or metric must be provided' },
    ],
    ['an empty name', { name: '', contact }, { name: 'must not be empty' }],
    [
      'values of other types',
      {
        name: 7,
        description: 7,
        event_time: 'now',
        contact: { email: 'x', name: 7, phone: 7, remote_id: 7 },
        metric: {
          metric_name: 7,
          value: '1',
          deduping_key: 7,
          metric_object_type: 7,
          metric_object_id: 'x',
          context_object_type: 7,
          context_object_id: 'x',
          additional_properties: { a: 1 },
        },
      },
      {
        name: 'expected a string, not a number',
        description: 'expected a string, not a number',
        event_time:
          'expected an ISO 8601 date-time of the years 0001 to 9999, like 2026-04-21T09:30:00Z',
        'contact.email': 'expected an email address',
        'contact.name': 'expected a string, not a number',
        'contact.phone': 'expected a string, not a number',
        'contact.remote_id': 'expected a string, not a number',
        'metric.metric_name': 'expected a string, not a number',
        'metric.value': 'expected a number, not a string',
        'metric.deduping_key': 'expected a string, not a number',
        'metric.metric_object_type': 'expected a string, not a number',
        'metric.metric_object_id': 'expected a uuid',
        'metric.context_object_type': 'expected a string, not a number',
        'metric.context_object_id': 'expected a uuid',
        'metric.additional_properties.a': 'expected a string, not a number',
      },
    ],
  ])('says what is wrong with %s', async (_title, body, fields) => {
    const contract = await Contract.of(await startPlatform());
    const error = await contract.refused('createEvent', '', { body }, 400);
    expect(error).toEqual({ code: 'invalid', message: 'the request is not valid', fields });
  });
});
