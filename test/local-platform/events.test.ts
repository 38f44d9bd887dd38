import { describe, expect, it } from '@jest/globals';
import { anEmail, call, create, startPlatform, SHOP } from './harness.ts';

const event = (platform: Parameters<typeof call>[0], body: object) =>
  call<{ contact?: { id: string } }>(platform, 'POST', '/events/', { body });

describe('create event (API §4.1)', () => {
  it('resolves the contact and keeps the event on its timeline', async () => {
    const platform = await startPlatform();
    const message = await create(platform, anEmail());
    const { status, body } = await event(platform, {
      name: 'SMS opt-out',
      description: 'STOP',
      event_time: '2026-04-01T10:00:00+02:00',
      contact: { email: 'Ann@example.com' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({ contact: { id: message.body.contact_id, email: 'ann@example.com' } });
    expect(platform.inspect.events(SHOP.shopId)).toMatchObject([
      {
        name: 'SMS opt-out',
        contact_id: message.body.contact_id,
        event_time: '2026-04-01T08:00:00.000Z',
      },
    ]);
  });

  it('creates an unknown contact by phone or remote id', async () => {
    const platform = await startPlatform();
    const a = await event(platform, {
      name: 'x',
      contact: { phone: '+15551', name: 'Bo', remote_id: 'r1' },
    });
    const b = await event(platform, { name: 'y', contact: { remote_id: 'r1' } });
    expect(b.body.contact?.id).toBe(a.body.contact?.id);
    expect(b.body.contact).toMatchObject({ phone: '+15551', remote_id: 'r1' });
  });

  it('honours the deduping key of a metric', async () => {
    const platform = await startPlatform();
    const metric = {
      metric_name: 'visits',
      value: 1.5,
      deduping_key: 'd',
      additional_properties: { a: 'b' },
    };
    expect(await event(platform, { name: 'x', metric })).toMatchObject({ status: 201, body: {} });
    expect(await event(platform, { name: 'x', metric })).toMatchObject({ status: 200, body: {} });
    const other = { ...metric, metric_name: 'sales' };
    expect((await event(platform, { name: 'x', metric: other })).status).toBe(201);
    expect(platform.inspect.events(SHOP.shopId)).toHaveLength(2);
  });
});
