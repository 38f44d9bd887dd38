// Longer than usual: one scene, and every row of the table of answers played against it.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { Conversations } from '../../src/delivery/conversations.ts';
import { Dispatcher } from '../../src/delivery/dispatcher.ts';
import { ShopPlatform } from '../../src/delivery/shop-platform.ts';
import { createIntake, type Intake } from '../../src/intake/intake.ts';
import {
  type Attachment,
  AttachmentUnavailable,
  NotYet,
  type Normalizer,
  type Verdict,
} from '../../src/intake/normalizer.ts';
import { type Logger, silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { PlatformClient } from '../../src/platform-api/client.ts';
import type { Entry, NewEntry, Outcome } from '../../src/spool/entry.ts';
import { openSqliteStore, type Store } from '../../src/spool/sqlite/open.ts';
import { anEntry, SHOP } from '../support/entries.ts';
import { ScriptedPlatform, uuid } from '../support/scripted-platform.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** What a test wants normalized; it travels as the entry's meta. */
interface Wanted {
  content?: string;
  verdict?: Verdict;
  attachments?: string[];
}

let dir: ReturnType<typeof tempDir>;
let platform: ScriptedPlatform;
let store: Store;
let intake: Intake;
let shop: ShopPlatform;
let dispatcher: Dispatcher;
let settled: { entry: Entry; outcome: Outcome }[];
let logged: string[];
let opened: string[];
let open: (name: string) => Promise<Buffer>;

beforeEach(async () => {
  dir = tempDir();
  platform = new ScriptedPlatform();
  settled = [];
  logged = [];
  opened = [];
  open = (name) => Promise.resolve(Buffer.from(`bytes of ${name}`));
  const baseUrl = await platform.start();
  store = await openSqliteStore({ dir: dir.path, role: 'owner', reserveBytes: 0 });
  const metrics = createMetrics();
  const clock = Date.now;
  intake = createIntake({
    spool: store.spool,
    chat: store.chat,
    metrics,
    clock,
    onAccepted: () => dispatcher.wake(),
  });
  shop = new ShopPlatform(
    {
      shopId: SHOP,
      name: 'demo',
      mediaPermission: { email: 'private', sms: 'private', web_chat: 'private' },
      client: new PlatformClient({
        baseUrl,
        apiKey: 'secret-key',
        shopId: SHOP,
        requestTimeoutMs: 2000,
        mediaTimeoutMs: 2000,
      }),
    },
    clock,
  );
  const parts = {
    spool: store.spool,
    intake,
    conversations: new Conversations(store.spool, clock),
    normalizers: { email: normalize, sms: normalize, web_chat: normalize },
    logger: recording(logged),
    metrics,
    clock,
    random: () => 0,
    giveUpAfterMs: 3_600_000,
    onSettled: (entry: Entry, outcome: Outcome) => settled.push({ entry, outcome }),
  };
  dispatcher = new Dispatcher([shop], parts, { concurrency: 8 });
  dispatcher.start();
});

afterEach(async () => {
  await dispatcher.stop(0);
  shop.client.close();
  await store.spool.close();
  await platform.stop();
  dir.remove();
});

const normalize: Normalizer = (claimed) => {
  const {
    content = 'hello',
    verdict = { kind: 'deliver' },
    attachments = [],
  } = claimed.entry.meta as Wanted;
  return Promise.resolve({
    verdict,
    request: {
      contact: { phone: '+15550002222' },
      conversation: { direction: 'inbound', type: claimed.entry.channel, agent_contact: '+1' },
      message: { content, format: 'MARKDOWN', remote_id: claimed.entry.remoteId },
    },
    attachments: attachments.map((name): Attachment => ({
      part: name,
      placeholder: `[missing: ${name}]`,
      open: async () => {
        opened.push(name);
        const bytes = await open(name);
        return {
          name,
          type: 'text/plain',
          size: bytes.length,
          stream: () => Readable.from([bytes]),
        };
      },
    })),
    notes: {},
    dispose: () => Promise.resolve(),
  });
};

const submitAll = async (...entries: NewEntry[]) => {
  await store.spool.accept(entries);
  dispatcher.wake();
};
const message = (meta: Wanted = {}, change: Partial<NewEntry> = {}) =>
  anEntry({ meta: { ...meta }, ...change });
const reached = (entry: NewEntry, state: string) =>
  waitFor(`${entry.id} ${state}`, async () => {
    const now = await store.spool.get(entry.id);
    return now?.state === state && now;
  });
const json = (status: number, body: unknown = {}) => ({ status, body });

describe('delivering', () => {
  test('a message is created once, with its remote id, and settled with the answer', async () => {
    const entry = message({ content: 'where is my order?' });
    await submitAll(entry);
    expect(await reached(entry, 'delivered')).toMatchObject({
      platformMessageId: uuid('a', 1),
      conversationId: uuid('c', 1),
      attempts: 1,
    });
    expect(platform.messages).toHaveLength(1);
    expect(platform.messages[0]?.message).toMatchObject({
      content: 'where is my order?',
      remote_id: entry.remoteId,
    });
    expect(settled).toMatchObject([{ outcome: { state: 'delivered' } }]);
    expect((await store.spool.timeline(entry.id)).map(({ step }) => step)).toEqual([
      'accepted',
      'normalized',
      'submitted',
      'delivered',
    ]);
  });

  test('attachments go first, and the message names their ids in order', async () => {
    const entry = message({ attachments: ['a.txt', 'b.txt'] });
    await submitAll(entry);
    await reached(entry, 'delivered');
    expect(platform.seen.map(({ path }) => path)).toEqual(['/media/', '/media/', '/messages/']);
    expect(platform.seen[0]?.body).toContain('bytes of a.txt');
    expect(platform.seen[0]?.body).toMatch(/name="permission"\r\n\r\nprivate/);
    expect(platform.messages[0]?.message['attachments']).toEqual([uuid('a', 1), uuid('a', 2)]);
  });

  test('a retry uploads only what is missing', async () => {
    platform.script = ({ path }, nth) =>
      path === '/messages/' && nth <= 2 ? json(500) : undefined;
    const entry = message({ attachments: ['a.txt', 'b.txt'] });
    await submitAll(entry);
    await reached(entry, 'delivered');
    expect(platform.of('POST /media/')).toHaveLength(2);
    expect(opened).toEqual(['a.txt', 'b.txt']);
    expect(platform.messages.at(-1)?.message['attachments']).toHaveLength(2);
  });

  test.each([400, 413, 415, 422])(
    'a file that /media/ refuses with %i becomes a line of the content',
    async (status) => {
      platform.script = ({ path, body }) =>
        path === '/media/' && body.includes('bytes of a') ? json(status) : undefined;
      const entry = message({ attachments: ['a.txt', 'b.txt'] });
      await submitAll(entry);
      await reached(entry, 'delivered');
      expect(platform.messages[0]?.message.content).toBe('hello\n\n[missing: a.txt]');
      expect(platform.messages[0]?.message['attachments']).toHaveLength(1);
    },
  );

  test('an attachment that cannot be had becomes a line; one that is not ready waits', async () => {
    let ready = false;
    open = (name) => {
      if (name === 'gone') throw new AttachmentUnavailable('gone');
      if (!ready) throw new NotYet('still prepared', 1);
      return Promise.resolve(Buffer.from('x'));
    };
    const entry = message({ attachments: ['gone', 'late'] });
    await submitAll(entry);
    await waitFor('a try', () => opened.includes('late'));
    expect(platform.messages).toHaveLength(0);
    ready = true;
    expect(await reached(entry, 'delivered')).toMatchObject({ attempts: 1 });
    expect(platform.messages[0]?.message.content).toBe('hello\n\n[missing: gone]');
  });

  test.each([
    ['held', { kind: 'held', reason: 'short code' }],
    ['suppressed', { kind: 'suppressed', reason: 'auto-reply' }],
  ] as const)('%s entries make no request', async (state, verdict) => {
    const entry = message({ verdict });
    await submitAll(entry);
    expect(await reached(entry, state)).toMatchObject({ reason: verdict.reason });
    expect(platform.seen).toHaveLength(0);
  });

  test('a suppressed message can leave a line on the timeline of a contact that exists', async () => {
    const event = { name: 'SMS opt-out', contact: { phone: '+15550002222' } };
    platform.script = ({ path }) =>
      path.startsWith('/contacts/')
        ? json(200, {
            results: [
              { id: uuid('d', 1), parent_contact_id: null, created_at: 'x', updated_at: 'x' },
            ],
          })
        : undefined;
    const entry = message({ verdict: { kind: 'suppressed', reason: 'opt-out', events: [event] } });
    await submitAll(entry);
    await reached(entry, 'suppressed');
    await waitFor('the event', () => platform.of('POST /events/').length === 1);
    expect(JSON.parse(platform.of('POST /events/')[0]?.body ?? '')).toEqual(event);
  });

  test('an event about nobody is not sent', async () => {
    const event = { name: 'bounce', contact: { email: 'x@y.example' } };
    const entry = message({ verdict: { kind: 'suppressed', reason: 'bounce', events: [event] } });
    await submitAll(entry);
    await waitFor('the event to be settled', () =>
      settled.some((s) => s.entry.kind === 'event' && s.outcome.state === 'suppressed'),
    );
    expect(platform.of('POST /events/')).toHaveLength(0);
  });
});

describe('the platform fails', () => {
  test.each([
    ['500', json(500)],
    ['a reset', 'reset'],
    ['a maintenance page', { status: 200, body: '<html>back soon</html>' }],
    ['429', json(429)],
  ] as const)('%s is tried twice at once, then on the schedule', async (_name, answer) => {
    platform.script = ({ path }, nth) => (path === '/messages/' && nth <= 3 ? answer : undefined);
    const entry = message();
    await submitAll(entry);
    expect(await reached(entry, 'delivered')).toMatchObject({ attempts: 2 });
    expect(platform.messages).toHaveLength(4);
  });

  test('an answer that never comes is a timeout, and the same remote id is sent again', async () => {
    platform.script = ({ path }, nth) => (path === '/messages/' && nth === 1 ? 'hang' : undefined);
    const entry = message();
    await submitAll(entry);
    await reached(entry, 'delivered');
    expect(new Set(platform.messages.map(({ message: m }) => m['remote_id']))).toEqual(
      new Set([entry.remoteId]),
    );
  });

  test.each([
    ['201 without a body', { status: 201, body: '' }],
    [
      '409 with the message',
      json(409, { id: uuid('a', 9), conversation_id: uuid('c', 9), updated_at: 'x' }),
    ],
  ])('%s is delivered', async (_name, answer) => {
    platform.script = ({ path }) => (path === '/messages/' ? answer : undefined);
    const entry = message({}, { channel: 'email' });
    await submitAll(entry);
    await reached(entry, 'delivered');
    expect(platform.messages).toHaveLength(1);
  });

  test('a refusal is tried once more plain and without attachments', async () => {
    platform.script = ({ path }, nth) =>
      path === '/messages/' && nth === 1 ? json(422) : undefined;
    const entry = message({ attachments: ['a.txt'] });
    await submitAll(entry);
    await reached(entry, 'delivered');
    expect(platform.messages[1]?.message).toEqual({
      content: 'hello\n\n[missing: a.txt]',
      format: 'TEXT',
      remote_id: entry.remoteId,
    });
  });

  test('refused twice it is dead, with the answer for the operator and not in the log', async () => {
    platform.script = ({ path }) =>
      path === '/messages/' ? json(400, { error: 'I dislike Mrs Smith' }) : undefined;
    const entry = message();
    await submitAll(entry);
    const dead = await reached(entry, 'dead');
    expect(dead.reason).toContain('I dislike Mrs Smith');
    expect(logged.join('\n')).toContain('entry.dead');
    expect(logged.join('\n')).not.toContain('Smith');
  });

  test('a dead head lets the next of its lane pass', async () => {
    platform.script = ({ path, body }) =>
      path === '/messages/' && body.includes('poison') ? json(400) : undefined;
    const [bad, good] = [message({ content: 'poison' }, { lane: 'l' }), message({}, { lane: 'l' })];
    await submitAll(bad, good);
    await reached(bad, 'dead');
    await reached(good, 'delivered');
  });

  test.each([401, 403, 405, 302, 404])(
    '%i to everything opens the breaker, and nothing is dead',
    async (status) => {
      platform.script = () => json(status);
      const entry = message();
      await submitAll(entry);
      await waitFor('the breaker', () => shop.breakers.messages.isOpen);
      expect(await reached(entry, 'queued')).toMatchObject({ attempts: 0 });
      expect(platform.of('GET /contacts/')).not.toHaveLength(0);
    },
  );

  test('403 to one text while the platform works is that entry’s own fault', async () => {
    platform.script = ({ path }) => (path === '/messages/' ? json(403) : undefined);
    const entry = message();
    await submitAll(entry);
    await reached(entry, 'dead');
    expect(shop.breakers.messages.isOpen).toBe(false);
  });

  test('the same refusal to five lanes opens the breaker, and the five are alive again', async () => {
    platform.script = ({ path }) => (path === '/messages/' ? json(400, 'bad shop') : undefined);
    const entries = Array.from({ length: 5 }, () => message());
    for (const entry of entries.slice(0, 4)) {
      await submitAll(entry);
      await reached(entry, 'dead');
    }
    await submitAll(...entries.slice(4));
    await waitFor('the breaker', () => shop.breakers.messages.isOpen);
    for (const entry of entries) await reached(entry, 'queued');
  });

  test('many that are refused at once are all alive, and asked for once in a while only', async () => {
    platform.script = ({ path }) => (path === '/messages/' ? json(422, 'bad shop') : undefined);
    const entries = Array.from({ length: 12 }, () => message());
    await submitAll(...entries);
    await waitFor('the breaker', () => shop.breakers.messages.isOpen);
    for (const entry of entries) await reached(entry, 'queued');
    const before = platform.of('POST /messages/').length;
    // Whoever is claimed while the breaker is open is a probe, and none is due for half a minute.
    expect(shop.breakers.messages.allowance(16)).toBe(0);
    dispatcher.wake();
    await submitAll(message());
    expect(shop.breakers.messages.isOpen).toBe(true);
    expect(platform.of('POST /messages/')).toHaveLength(before);
  });

  test('one lane’s trouble does not stop the others', async () => {
    platform.script = ({ path, body }) =>
      path === '/messages/' && body.includes('poison') ? json(500) : undefined;
    const poison = message({ content: 'poison' });
    const others = Array.from({ length: 20 }, () => message());
    await submitAll(poison, ...others);
    for (const entry of others) await reached(entry, 'delivered');
    expect((await store.spool.get(poison.id))?.state).not.toBe('delivered');
  });

  test('order within a lane holds while the platform fails at random', async () => {
    platform.script = ({ path }, nth) =>
      path === '/messages/' && nth % 3 !== 0 && nth < 40 ? json(503) : undefined;
    const entries = Array.from({ length: 12 }, (_, n) =>
      message({ content: String(n) }, { lane: `l${n % 2}`, channel: 'email' }),
    );
    await submitAll(...entries);
    for (const entry of entries) await reached(entry, 'delivered');
    const arrived = [...new Set(platform.messages.map(({ message: m }) => Number(m.content)))];
    expect(arrived.filter((n) => n % 2 === 0)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(arrived.filter((n) => n % 2 === 1)).toEqual([1, 3, 5, 7, 9, 11]);
  });
});

describe('conversations', () => {
  const inLane = (content: string) => message({ content }, { lane: 'same' });

  test('two texts that arrive together make one conversation', async () => {
    const [first, second] = [inLane('1'), inLane('2')];
    await submitAll(first, second);
    await reached(second, 'delivered');
    expect(platform.messages.map(({ conversation }) => conversation.id)).toEqual([
      undefined,
      uuid('c', 1),
    ]);
  });

  test.each([404, 410])(
    'a conversation that answers %i is forgotten and a new one begun',
    async (status) => {
      platform.script = ({ path, body }) =>
        path === '/messages/' && body.includes(uuid('c', 1)) ? json(status) : undefined;
      const [first, second, third] = [inLane('1'), inLane('2'), inLane('3')];
      await submitAll(first, second, third);
      await reached(third, 'delivered');
      expect(platform.messages.map(({ conversation }) => conversation.id)).toEqual([
        undefined,
        uuid('c', 1),
        undefined,
        uuid('c', 2),
      ]);
    },
  );

  test('an answer without the conversation is completed from the message', async () => {
    platform.script = ({ method, path }) => {
      if (method === 'POST') return json(201, { id: uuid('a', 5) });
      if (!path.startsWith('/messages/')) return undefined;
      return json(200, {
        id: uuid('a', 5),
        conversation_id: uuid('c', 5),
        ticket_id: null,
        contact_id: null,
        agent_id: null,
        user_id: null,
        updated_at: '2026-01-01T00:00:00Z',
      });
    };
    const entry = inLane('1');
    await submitAll(entry);
    expect(await reached(entry, 'delivered')).toMatchObject({ conversationId: uuid('c', 5) });
  });

  test('an empty answer is completed by submitting the same payload again', async () => {
    platform.script = ({ method, path }, nth) =>
      method === 'POST' && path === '/messages/' && nth === 1
        ? { status: 201, body: '' }
        : undefined;
    const entry = inLane('1');
    await submitAll(entry);
    expect(await reached(entry, 'delivered')).toMatchObject({ conversationId: uuid('c', 1) });
    expect(platform.messages).toHaveLength(2);
    expect(platform.messages[0]).toEqual(platform.messages[1]);
  });

  test('a conversation that another lane has is never adopted', async () => {
    platform.script = ({ path }) =>
      path === '/messages/'
        ? json(201, { id: uuid('a', 1), conversation_id: uuid('c', 7) })
        : undefined;
    const [one, other] = [message({}, { lane: 'one' }), message({}, { lane: 'other' })];
    await submitAll(one);
    await reached(one, 'delivered');
    await submitAll(other);
    expect((await reached(other, 'delivered')).conversationId).toBeUndefined();
    expect(
      await store.spool.conversation({ shopId: SHOP, channel: 'sms', lane: 'other' }),
    ).toBeUndefined();
  });
});

describe('stopping', () => {
  test('what is in flight finishes within the grace', async () => {
    const entry = message();
    await submitAll(entry);
    await waitFor('the request', () => platform.seen.length > 0);
    await dispatcher.stop(5000);
    expect((await store.spool.get(entry.id))?.state).toBe('delivered');
  });

  test('what does not finish goes back to the queue unharmed', async () => {
    platform.script = () => 'hang';
    const entry = message();
    await submitAll(entry);
    await waitFor('the request', () => platform.seen.length > 0);
    await dispatcher.stop(0);
    expect(await store.spool.get(entry.id)).toMatchObject({ state: 'queued', attempts: 0 });
  });
});

test('neither the key nor the content reaches the log', async () => {
  platform.script = ({ path }, nth) => (path === '/messages/' && nth === 1 ? 'reset' : undefined);
  const entry = message({ content: 'very private words', attachments: ['private-name.pdf'] });
  await submitAll(entry);
  await reached(entry, 'delivered');
  expect(logged.join('\n')).toContain('entry.delivered');
  expect(logged.join('\n')).not.toMatch(/secret-key|private|5550002222/);
});

function recording(lines: string[], fields: object = {}): Logger {
  const write = (level: string) => (event: string, more?: object) =>
    void lines.push(JSON.stringify({ level, event, ...fields, ...more }));
  return {
    ...silentLogger,
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    with: (more) => recording(lines, { ...fields, ...more }),
  };
}

describe('what an attempt leaves for operators', () => {
  const recordOf = async (entry: NewEntry) => store.operator.record(entry.id);

  test('the request as it was submitted, with its attachments', async () => {
    platform.script = ({ path, body }) =>
      path === '/media/' && body.includes('bytes of b') ? json(415) : undefined;
    const entry = message({ attachments: ['a.txt', 'b.txt'] });
    await submitAll(entry);
    await reached(entry, 'delivered');
    expect(await recordOf(entry)).toEqual({
      request: platform.messages[0],
      attachments: [
        { part: 'a.txt', name: 'a.txt', type: 'text/plain', bytes: 14, mediaId: uuid('a', 1) },
        { part: 'b.txt', name: 'b.txt', type: 'text/plain', bytes: 14 },
      ],
    });
  });

  test('of a refusal the plain form, which was the last', async () => {
    platform.script = ({ path }) => (path === '/messages/' ? json(422) : undefined);
    const entry = message({ attachments: ['a.txt'] });
    await submitAll(entry);
    await reached(entry, 'dead');
    const record = await recordOf(entry);
    expect(record?.request).toEqual(platform.messages.at(-1));
    expect(record?.request).toMatchObject({ message: { format: 'TEXT' } });
    expect(record?.attachments).toMatchObject([{ name: 'a.txt', mediaId: uuid('a', 1) }]);
  });

  test.each([
    ['held', { kind: 'held', reason: 'short code' }],
    ['suppressed', { kind: 'suppressed', reason: 'auto-reply' }],
  ] as const)('of a %s one what would have been submitted', async (state, verdict) => {
    const entry = message({ verdict, content: 'out of office', attachments: ['a.txt'] });
    await submitAll(entry);
    await reached(entry, state);
    expect(await recordOf(entry)).toMatchObject({
      request: { message: { content: 'out of office' } },
      attachments: [{ part: 'a.txt' }],
    });
  });

  test('of one that waits what the failed attempt submitted', async () => {
    platform.script = ({ path }) => (path === '/messages/' ? json(500) : undefined);
    const entry = message({ content: 'try me' });
    await submitAll(entry);
    const record = await waitFor('the record', () => recordOf(entry));
    expect(record).toMatchObject({ request: { message: { content: 'try me' } } });
  });
});
