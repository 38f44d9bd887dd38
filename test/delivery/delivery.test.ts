import type { Reason } from '../../src/domain/reasons.ts';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { because, SHOP } from '../support/entries.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AttachmentUnavailable, NotYet, type Verdict } from '../../src/intake/normalizer.ts';
import { uuid } from '../support/scripted-platform.ts';
import { waitFor } from '../support/wait-for.ts';
import { deliveryScene, isCreate, json, message, type Scene, toCreate } from './scene.ts';

let it: Scene;
beforeEach(async () => {
  it = await deliveryScene();
});

describe('delivering', () => {
  test('a message is created once, with its remote id, and settled with the answer', async () => {
    const entry = message({ content: 'where is my order?' });
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({
      ...{ platformMessageId: uuid('a', 1), conversationId: uuid('c', 1), attempts: 1 },
    });
    expect(it.platform.messages).toHaveLength(1);
    expect(it.platform.messages[0]?.message).toMatchObject({
      ...{ content: 'where is my order?', remote_id: entry.remoteId },
    });
    expect(it.settled).toMatchObject([{ outcome: { state: 'delivered' } }]);
    const timeline = await it.store.spool.timeline(entry.id);
    expect(timeline.map(({ step, startedAt }) => [step, startedAt !== undefined])).toEqual([
      ['accepted', false],
      // The first of an attempt says when that began.
      ['normalized', true],
      ['submitted', false],
      ['delivered', false],
    ]);
  });

  test('a file of this machine whose bytes changed is read twice before its entry is dead', async () => {
    const writer = it.store.spool.blobs.writer();
    writer.end(Buffer.alloc(100_000, 'a long message '));
    await once(writer, 'finish');
    const raw = await writer.commit();
    const blobs = join(it.dir, 'blobs');
    for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), Buffer.alloc(100_000));
    const entry = message({}, { raw });
    await it.submit(entry);
    expect(await it.waits(entry)).toMatchObject({ reason: { code: 'raw_damaged' } });
    await it.store.spool.hasten(SHOP, 1);
    it.tryNow();
    expect((await it.reached(entry, 'dead')).reason).toEqual({ code: 'raw_damaged' });
    expect(await it.alarm('raw_damaged')).toBe(2);
  });

  test('attachments go first, and the message names their ids in order', async () => {
    await it.comesTo(message({ attachments: ['a.txt', 'b.txt'] }), 'delivered');
    const posts = it.platform.seen.filter(({ method }) => method === 'POST');
    expect(posts.map(({ path }) => path)).toEqual(['/media/', '/media/', '/messages/']);
    expect(posts[0]?.body).toContain('bytes of a.txt');
    expect(posts[0]?.body).toMatch(/name="permission"\r\n\r\nprivate/);
    expect(it.platform.messages[0]?.message['attachments']).toEqual([uuid('a', 1), uuid('a', 2)]);
  });

  test('a retry uploads only what is missing', async () => {
    it.platform.script = toCreate((_, nth) => (nth <= 2 ? json(500) : undefined));
    const entry = message({ attachments: ['a.txt', 'b.txt'] });
    await it.submit(entry);
    await it.waits(entry);
    it.tryNow();
    await it.reached(entry, 'delivered');
    expect(it.platform.of('POST /media/')).toHaveLength(2);
    expect(it.opened).toEqual(['a.txt', 'b.txt']);
    expect(it.platform.messages.at(-1)?.message['attachments']).toHaveLength(2);
  });

  test('a file whose id could not be sent is left out like one that is refused', async () => {
    it.platform.script = ({ path }) =>
      path === '/media/' ? json(201, { id: 'media/../../x?y' }) : undefined;
    await it.comesTo(message({ attachments: ['a.txt'] }), 'delivered');
    const latest = it.platform.messages.at(-1)?.message;
    expect(latest?.content).toBe('hello\n\n[missing: a.txt]');
    expect(latest?.['attachments'] ?? []).toEqual([]);
  });

  test('a file that /media/ refuses becomes a line of the content', async () => {
    const statuses = [400, 413, 415, 422];
    it.platform.script = ({ path, body }) => {
      const [, status] = /bytes of (\d+)/.exec(body) ?? [];
      return path === '/media/' && status !== undefined ? json(Number(status)) : undefined;
    };
    for (const status of statuses) {
      await it.comesTo(message({ attachments: [`${status}.txt`, 'b.txt'] }), 'delivered');
      const latest = it.platform.messages.at(-1)?.message;
      expect(latest?.content).toBe(`hello\n\n[missing: ${status}.txt]`);
      expect(latest?.['attachments']).toHaveLength(1);
    }
  });

  test('an attachment that cannot be had becomes a line; one that is not ready waits', async () => {
    let ready = false;
    it.files.open = (name) => {
      if (name === 'gone') throw new AttachmentUnavailable('gone');
      if (!ready) throw new NotYet(because('still prepared'), 1);
      return Promise.resolve(Buffer.from('x'));
    };
    const entry = message({ attachments: ['gone', 'late'] });
    await it.submit(entry);
    await waitFor('a try', () => it.opened.includes('late'));
    expect(it.platform.messages).toHaveLength(0);
    ready = true;
    expect(await it.reached(entry, 'delivered')).toMatchObject({ attempts: 1, failures: 0 });
    expect(it.platform.messages[0]?.message.content).toBe('hello\n\n[missing: gone]');
  });

  test('what its channel notes is there at the next attempt, and its lane does not wait', async () => {
    const entry = message({ memo: 'seen' });
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({
      ...{ attempts: 1, failures: 0, detached: true },
    });
    expect(it.platform.messages[0]?.message.content).toBe('{"memo":"seen"}');
  });

  test('a folder of its own that cannot be removed does not undo it', async () => {
    await it.comesTo(message({ leavesFiles: true }), 'delivered');
    expect(it.platform.messages).toHaveLength(1);
  });

  test('held and suppressed entries make no request', async () => {
    const held = message({ verdict: { kind: 'held', reason: { code: 'short_code' } } });
    const suppressed = message({ verdict: { kind: 'suppressed', reason: { code: 'auto_reply' } } });
    expect(await it.comesTo(held, 'held')).toMatchObject({ reason: { code: 'short_code' } });
    expect(await it.comesTo(suppressed, 'suppressed')).toMatchObject({
      reason: { code: 'auto_reply' },
    });
    expect(it.platform.seen).toHaveLength(0);
  });

  test('a suppressed message can leave a line on the timeline of a contact that exists', async () => {
    const event = { name: 'SMS opt-out', contact: { phone: '+15550002222' } };
    const contact = { id: uuid('d', 1), parent_contact_id: null, created_at: 'x', updated_at: 'x' };
    it.platform.script = ({ path }) =>
      path.startsWith('/contacts/') ? json(200, { results: [contact] }) : undefined;
    const reason: Reason = { code: 'opt_out' };
    const verdict: Verdict = { kind: 'suppressed', reason, events: [event] };
    await it.comesTo(message({ verdict }), 'suppressed');
    await waitFor('the event', () => it.platform.of('POST /events/').length === 1);
    expect(JSON.parse(it.platform.of('POST /events/')[0]?.body ?? '')).toEqual(event);
  });

  test('an event about nobody is not sent', async () => {
    const event = { name: 'bounce', contact: { email: 'x@y.example' } };
    await it.submit(
      message({ verdict: { kind: 'suppressed', reason: { code: 'bounce' }, events: [event] } }),
    );
    await waitFor('the event to be settled', () =>
      it.settled.some((s) => s.entry.kind === 'event' && s.outcome.state === 'suppressed'),
    );
    expect(it.platform.of('POST /events/')).toHaveLength(0);
  });

  test('copies for hosts that no mail on the internet reaches are left out before the first try', async () => {
    const entry = message(
      { email: 'ann@example.com', cc: ['bob@example.com', 'eve@localhost', 'joe@[192.0.2.1]'] },
      { channel: 'email' },
    );
    await it.comesTo(entry, 'delivered');
    expect(it.platform.messages).toMatchObject([
      { message: { email: { cc: [{ email: 'bob@example.com' }] } } },
    ]);
  });
});

describe('the platform fails', () => {
  test.each([
    ['500', json(500), 2],
    ['a reset', 'reset', 2],
    ['a maintenance page', { status: 200, body: '<html>back soon</html>' }, 2],
    ['503 with a time', { status: 503, headers: { 'retry-after': '0' } }, 1],
  ] as const)(
    '%s is tried at once as often as that makes sense; then it waits for its shop, at no cost',
    async (_name, answer, tries) => {
      it.platform.script = toCreate((_, nth) => (nth <= tries ? answer : undefined));
      const entry = message();
      await it.submit(entry);
      expect(await it.waits(entry)).toMatchObject({ attempts: 0, failures: 1, waitsFor: 1 });
      expect(it.platform.messages).toHaveLength(tries);
      expect(it.shop.health.messages.state).toBe('doubted');
      it.tryNow();
      await it.reached(entry, 'delivered');
      expect(it.platform.messages).toHaveLength(tries + 1);
      expect(it.shop.health.messages.state).toBe('steady');
    },
  );

  test('429 is no failure: it comes again by itself, and the shop is not doubted', async () => {
    it.platform.script = toCreate((_, nth) => (nth <= 3 ? json(429) : undefined));
    const entry = message();
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({ failures: 0 });
    expect(it.platform.messages).toHaveLength(4);
    expect(it.shop.health.messages.state).toBe('steady');
    expect(it.shop.health.messages.allowance).toBeLessThan(32);
  });

  test('409 with the message is delivered', async () => {
    const entry = message({}, { channel: 'email' });
    const existing = { id: uuid('a', 9), conversation_id: uuid('c', 9), remote_id: entry.remoteId };
    it.platform.script = toCreate(json(409, existing));
    expect(await it.comesTo(entry, 'delivered')).toMatchObject({
      ...{ platformMessageId: uuid('a', 9), conversationId: uuid('c', 9) },
    });
    expect(it.platform.messages).toHaveLength(1);
  });

  test('one lane’s trouble does not stop the others', async () => {
    it.platform.script = toCreate(({ body }) => (body.includes('poison') ? json(500) : undefined));
    const poison = message({ content: 'poison' });
    const others = Array.from({ length: 20 }, () => message());
    await it.submit(poison, ...others);
    for (const entry of others) await it.reached(entry, 'delivered');
    expect((await it.store.spool.get(poison.id))?.state).not.toBe('delivered');
  });

  test('order within a lane holds while the platform fails at random', async () => {
    it.keepTrying();
    it.platform.script = toCreate((_, nth) => (nth % 3 !== 0 && nth < 40 ? json(503) : undefined));
    const entries = Array.from({ length: 12 }, (_, n) =>
      message({ content: String(n) }, { lane: `l${n % 2}`, channel: 'email' }),
    );
    await it.submit(...entries);
    for (const entry of entries) await it.reached(entry, 'delivered');
    const arrived = [...new Set(it.platform.messages.map(({ message: m }) => Number(m.content)))];
    expect(arrived.filter((n) => n % 2 === 0)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(arrived.filter((n) => n % 2 === 1)).toEqual([1, 3, 5, 7, 9, 11]);
  });
});

describe('stopping', () => {
  test('what is in flight finishes within the grace', async () => {
    const entry = message();
    await it.submit(entry);
    await waitFor('the request', () => it.platform.seen.length > 0);
    await it.dispatcher.stop(5000);
    expect((await it.store.spool.get(entry.id))?.state).toBe('delivered');
  });

  test('what does not finish goes back to the queue unharmed', async () => {
    it.platform.script = () => 'hang';
    const entry = message();
    await it.submit(entry);
    await waitFor('the request', () => it.platform.seen.length > 0);
    await it.dispatcher.stop(0);
    expect(await it.store.spool.get(entry.id)).toMatchObject({
      ...{ state: 'queued', attempts: 0, failures: 0, waitsFor: 0 },
    });
  });
});

test('neither the key nor the content reaches the log', async () => {
  it.platform.script = toCreate((_, nth) => (nth === 1 ? 'reset' : undefined));
  const entry = message({ content: 'very private words', attachments: ['private-name.pdf'] });
  await it.comesTo(entry, 'delivered');
  expect(it.logged.join('\n')).toContain('entry.delivered');
  expect(it.logged.join('\n')).not.toMatch(/secret-key|private|5550002222/);
});

describe('what an attempt leaves for operators', () => {
  test('the request as it was submitted, with its attachments', async () => {
    it.platform.script = ({ path, body }) =>
      path === '/media/' && body.includes('bytes of b') ? json(415) : undefined;
    const entry = message({ attachments: ['a.txt', 'b.txt'] });
    await it.comesTo(entry, 'delivered');
    expect(await it.store.operator.record(entry.id)).toEqual({
      request: it.platform.messages[0],
      attachments: [
        { part: 'a.txt', name: 'a.txt', type: 'text/plain', bytes: 14, mediaId: uuid('a', 1) },
        { part: 'b.txt', name: 'b.txt', type: 'text/plain', bytes: 14 },
      ],
    });
  });

  test('of a refusal the form that was tried last', async () => {
    it.platform.script = (seen) => (isCreate(seen) ? json(422) : undefined);
    const entry = message({ attachments: ['a.txt'] });
    await it.comesTo(entry, 'dead');
    const record = await it.store.operator.record(entry.id);
    expect(record?.request).toEqual(it.platform.messages.at(-1));
    expect(record?.request).toMatchObject({ message: { format: 'TEXT' } });
  });

  test('of one that was not submitted what would have been', async () => {
    for (const kind of ['held', 'suppressed'] as const) {
      const verdict = { kind, reason: because('out of office') };
      const entry = message({ verdict, content: 'away', attachments: ['a.txt'] });
      await it.comesTo(entry, kind);
      expect(await it.store.operator.record(entry.id)).toMatchObject({
        ...{ request: { message: { content: 'away' } }, attachments: [{ part: 'a.txt' }] },
      });
    }
  });
});
