import { describe, expect, it } from '@jest/globals';
import type { PlatformAnswer } from './platform-answers.ts';
import { acceptabilityOf, MARKERS } from './platform-markers.ts';
import { createPlatformModel, type PlatformModel, type PlatformRequest } from './platform-model.ts';
import {
  DEFAULT_TRAITS,
  describeTraits,
  FAULT_KINDS,
  type FaultKind,
  type PlatformTraits,
  randomTraits,
  type ScheduledFault,
} from './platform-traits.ts';
import { createRandom } from './random.ts';

const SHOP = '11111111-1111-4111-8111-111111111111';
const OTHER_SHOP = '22222222-2222-4222-8222-222222222222';
const UNKNOWN_ID = '99999999-9999-4999-8999-999999999999';
const SHOPS = [
  { shopId: SHOP, apiKey: 'key-1' },
  { shopId: OTHER_SHOP, apiKey: 'key-2' },
];
const STARTED_AT = Date.UTC(2026, 3, 1);

type Body = Record<string, unknown>;

/** A model with a clock that the test moves. */
class Scene {
  at = STARTED_AT;
  readonly model: PlatformModel;

  constructor(traits: Partial<PlatformTraits> = {}, seed = 1) {
    const now = (): number => this.at;
    this.model = createPlatformModel({ random: createRandom(seed), now, shops: SHOPS, traits });
  }

  request(request: Partial<PlatformRequest>): PlatformAnswer {
    const headers = { authorization: 'Bearer key-1', 'x-shop-id': SHOP };
    return this.model.handle({ method: 'GET', path: '/v2026-04/messages/', headers, ...request });
  }

  post(body: unknown, path = 'messages'): Seen {
    return seen(this.request({ method: 'POST', path: `/v2026-04/${path}/`, body }));
  }

  get(path: string): Seen {
    return seen(this.request({ path: `/v2026-04/${path}` }));
  }

  /** Stores a message. @returns the message as the platform answers it */
  send(change: Change = {}): Body {
    const { status, value } = this.post(email(change));
    expect(status).toBe(201);
    return value;
  }

  upload(): string {
    const file = { name: 'a.png', type: 'image/png', size: 3 };
    return String(this.post({ file, permission: 'private' }, 'media').value['id']);
  }
}

interface Seen {
  readonly status: number | string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; {} if it is not JSON. */
  readonly value: Body;
}

function seen(answer: PlatformAnswer): Seen {
  if (answer.kind !== 'answer') return { status: answer.kind, headers: {}, text: '', value: {} };
  const { status, headers, body } = answer;
  const value = body.startsWith('{') ? (JSON.parse(body) as Body) : {};
  return { status, headers, text: body, value };
}

interface Change {
  readonly contact?: Body;
  readonly conversation?: Body;
  readonly message?: Body;
}

let count = 0;

/** A valid email body, with some fields replaced. */
const email = ({ contact, conversation, message }: Change = {}): Record<string, Body> => ({
  contact: { email: 'ann@example.com', name: 'Ann', ...contact },
  conversation: {
    direction: 'inbound',
    type: 'email',
    agent_contact: 'help@shop.example',
    ...conversation,
  },
  message: { content: 'Hello', format: 'TEXT', remote_id: `r-${++count}`, ...message },
});

const listed = (answer: Seen): Body[] => answer.value['results'] as Body[];

describe('authentication (§5)', () => {
  it.each([
    ['no key', { 'x-shop-id': SHOP }, 401],
    ['an unknown key', { authorization: 'Bearer none', 'x-shop-id': SHOP }, 401],
    ['a key that is no bearer token', { authorization: 'Basic key-1', 'x-shop-id': SHOP }, 401],
    ['no shop', { authorization: 'Bearer key-1' }, 400],
    ['a shop that is no uuid', { authorization: 'Bearer key-1', 'x-shop-id': 'one' }, 400],
    ["another shop's key", { authorization: 'Bearer key-2', 'x-shop-id': SHOP }, 403],
    ['an unknown shop', { authorization: 'Bearer key-1', 'x-shop-id': UNKNOWN_ID }, 403],
    ['key and shop', { authorization: 'Bearer key-1', 'x-shop-id': SHOP }, 200],
  ])('%s', (_label, headers, status) => {
    expect(seen(new Scene().request({ headers: { ...headers } })).status).toBe(status);
  });

  it.each([
    ['contacts', { contacts: false }, 'GET', 'contacts', 403],
    ['contacts', { contacts: false }, 'GET', 'messages', 200],
    ['readMessages', { readMessages: false }, 'GET', 'messages', 403],
    ['readMessages', { readMessages: false }, 'GET', `messages/${UNKNOWN_ID}`, 403],
    ['write', { write: false }, 'POST', 'messages', 403],
    ['write', { write: false }, 'POST', 'media', 403],
  ] as const)('without the scope %s: %j %s %s is %i', (_scope, lacking, method, path, status) => {
    const scene = new Scene({ scopes: { ...DEFAULT_TRAITS.scopes, ...lacking } });
    const answer = scene.request({ method, path: `/v2026-04/${path}/`, body: email() });
    expect(seen(answer)).toMatchObject({ status });
  });
});

describe('paths (§4, §9)', () => {
  it.each([
    ['GET', '/v2026-04/messages', 404],
    ['GET', '/v2025-01/messages/', 404],
    ['GET', '/v2026-04/topics/', 404],
    ['GET', '/v2026-04/conversations/', 404],
    ['POST', '/v2026-04/contacts/', 405],
    ['POST', `/v2026-04/messages/${UNKNOWN_ID}/`, 405],
  ] as const)('%s %s is %i', (method, path, status) => {
    expect(seen(new Scene().request({ method, path, body: {} })).status).toBe(status);
  });
});

const fullHeaders = {
  subject: 'Order',
  in_reply_to: '<a@example.com>',
  references: ['<b@example.com>'],
  cc: [{ email: 'bob@example.com', name: 'Bob' }],
  bcc: [{ name: 'Nobody' }],
};

describe('the body of Create message (§4.7)', () => {
  it.each([
    ['no contact', { ...email(), contact: undefined }, 'contact'],
    ['no conversation', { ...email(), conversation: undefined }, 'conversation'],
    ['no message', { ...email(), message: undefined }, 'message'],
    ['no direction', email({ conversation: { direction: undefined } }), 'conversation.direction'],
    ['outbound', email({ conversation: { direction: 'outbound' } }), 'conversation.direction'],
    ['no content', email({ message: { content: undefined } }), 'message.content'],
    ['an unknown type', email({ conversation: { type: 'fax' } }), 'conversation.type'],
    ['no type', email({ conversation: { type: undefined } }), 'conversation.type'],
    ['an unknown format', email({ message: { format: 'RICH_TEXT' } }), 'message.format'],
    ['an id that is no uuid', email({ conversation: { id: '7' } }), 'conversation.id'],
    ['topic', email({ conversation: { topic_id: '7' } }), 'conversation.topic_id'],
    ['a name that is null', email({ contact: { name: null } }), 'contact.name'],
    ['a phone number', email({ contact: { phone: 5 } }), 'contact.phone'],
    ['an address', email({ contact: { email: 'ann' } }), 'contact.email'],
    ['a local time', email({ message: { timestamp: '2026-04-01T10:00:00' } }), 'message.timestamp'],
    ['a file', email({ message: { attachments: ['7'] } }), 'message.attachments.0'],
    ['an unknown file', email({ message: { attachments: [UNKNOWN_ID] } }), 'message.attachments'],
    ['cc', email({ message: { email: { cc: [{ email: 'x' }] } } }), 'message.email.cc.0.email'],
    ['bcc', email({ message: { email: { bcc: [{ email: 1 }] } } }), 'message.email.bcc.0.email'],
    ['references', email({ message: { email: { references: 'x' } } }), 'message.email.references'],
    ['email', email({ conversation: { agent_contact: null } }), 'conversation.agent_contact'],
    [
      'sms',
      email({ conversation: { type: 'sms', agent_contact: undefined } }),
      'conversation.agent_contact',
    ],
    ['chat', email({ conversation: { type: 'web_chat' } }), 'conversation.agent_contact'],
    ['no JSON', undefined, 'body'],
  ])('is refused: %s', (_label, body, field) => {
    const scene = new Scene();
    const { status, value } = scene.post(body && (JSON.parse(JSON.stringify(body)) as unknown));
    expect(status).toBe(422);
    expect(value['errors']).toContainEqual(expect.objectContaining({ field }));
    expect(scene.model.wouldAccept(SHOP, body)).toBe(false);
    expect(scene.model.messages(SHOP)).toHaveLength(0);
    expect(scene.model.posts).toMatchObject([
      { path: 'messages', outcome: 'refused', status: 422 },
    ]);
  });

  it.each([
    ['all fields', email({ message: { timestamp: '2026-04-01T10:00:00Z', email: fullHeaders } })],
    ['nulls', email({ contact: { email: null, phone: null }, message: { remote_id: null } })],
    ['sms', email({ conversation: { type: 'sms', agent_contact: '+14155550100' } })],
    ['chat', email({ conversation: { type: 'web_chat', agent_contact: null } })],
    ['unknown fields', { ...email(), surplus: 1 }],
  ])('is accepted: %s', (_label, body) => {
    const scene = new Scene();
    expect(scene.model.wouldAccept(SHOP, body)).toBe(true);
    expect(scene.post(body).status).toBe(201);
    expect(scene.model.messages(SHOP)).toMatchObject([{ payload: body, at: STARTED_AT }]);
  });

  it.each([
    ['ajv', 'ann@localhost', false],
    ['lenient', 'ann@localhost', true],
    ['lenient', 'ann', false],
    ['none', 'ann', true],
  ] as const)('with addresses read as %s, %s: %s', (emails, address, isAccepted) => {
    const scene = new Scene({ emails });
    const body = email({ contact: { email: address } });
    expect(scene.model.wouldAccept(SHOP, body)).toBe(isAccepted);
    expect(scene.post(body).status).toBe(isAccepted ? 201 : 422);
  });
});

describe('conversations (§4.7 rules 1 to 3)', () => {
  it('appends to the conversation that is named, and starts one otherwise', () => {
    const scene = new Scene();
    const first = scene.send();
    const second = scene.send({ conversation: { id: first['conversation_id'] } });
    const third = scene.send();
    expect(second['conversation_id']).toBe(first['conversation_id']);
    expect(third['conversation_id']).not.toBe(first['conversation_id']);
    expect(third['contact_id']).toBe(first['contact_id']);
    expect(scene.model.conversations(SHOP).map(({ messages }) => messages.length)).toEqual([2, 1]);
  });

  it.each([404, 422] as const)('answers %i to one that the shop does not have', (status) => {
    const scene = new Scene({ unknownConversation: status });
    const { conversation_id: id } = scene.send();
    const headers = { authorization: 'Bearer key-2', 'x-shop-id': OTHER_SHOP };
    const body = email({ conversation: { id } });
    const path = '/v2026-04/messages/';
    expect(seen(scene.request({ method: 'POST', path, headers, body })).status).toBe(status);
    expect(scene.model.wouldAccept(OTHER_SHOP, body)).toBe(false);
    expect(scene.post(email({ conversation: { id: UNKNOWN_ID } })).status).toBe(status);
  });

  it.each([
    ['in_reply_to', { in_reply_to: '<first@example.com>' }],
    ['references', { references: ['<unknown@example.com>', '<first@example.com>'] }],
    ['an ancestor of both', { references: ['<root@example.com>'] }],
  ])('threads email by %s', (_label, headers) => {
    const scene = new Scene();
    const references = ['<root@example.com>'];
    const first = scene.send({
      message: { remote_id: '<first@example.com>', email: { references } },
    });
    const reply = scene.send({ message: { email: headers } });
    expect(reply['conversation_id']).toBe(first['conversation_id']);
    const unrelated = scene.send({ message: { email: { references: ['<new@example.com>'] } } });
    expect(unrelated['conversation_id']).not.toBe(first['conversation_id']);
  });

  it('resolves contacts by email address or phone number', () => {
    const scene = new Scene();
    const people = [
      { email: 'ANN@example.com', phone: '+14155550100' },
      { email: 'ann@example.com', phone: null },
      { email: null, phone: '+14155550100' },
      { email: 'bob@example.com', phone: null },
    ];
    const ids = people.map((contact) => scene.send({ contact })['contact_id']);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toBe(ids[2]);
    expect(listed(scene.get('contacts/?email=ann%40example.com'))).toMatchObject([{ id: ids[0] }]);
    expect(scene.get(`contacts/${String(ids[3])}/`).value).toMatchObject({
      email: 'bob@example.com',
      name: 'Ann',
    });
  });
});

describe('repetitions (§4.7 rule 5)', () => {
  const again = email({ message: { remote_id: 'same' } });
  const otherContent = email({ message: { remote_id: 'same', content: 'Other' } });
  const otherId = email({ message: { remote_id: 'another' } });

  it.each([
    ['remote_id', 'the same', again, 0, 1],
    ['remote_id', 'the same remote_id', otherContent, 0, 1],
    ['remote_id', 'the same content', otherId, 0, 2],
    ['none', 'the same', again, 0, 2],
    ['content', 'the same content', otherId, 300_000, 1],
    ['content', 'the same content too late', otherId, 300_001, 2],
    ['content', 'the same remote_id', otherContent, 0, 2],
  ] as const)('by %s: %s', (dedup, _label, second, laterMs, stored) => {
    const scene = new Scene({ dedup });
    const first = scene.post(again).value;
    scene.at += laterMs;
    const answer = scene.post(second);
    expect(scene.model.messages(SHOP)).toHaveLength(stored);
    expect(answer.status).toBe(stored === 1 ? 200 : 201);
    expect(answer.value['id'] === first['id']).toBe(stored === 1);
    expect(scene.model.posts.map(({ outcome }) => outcome)).toEqual([
      'created',
      stored === 1 ? 'duplicate' : 'created',
    ]);
  });

  it('by content, a repetition may name the conversation that the first began', () => {
    const scene = new Scene({ dedup: 'content' });
    const { conversation_id: id } = scene.send();
    expect(scene.post(email({ conversation: { id } })).status).toBe(200);
  });

  it.each([
    ['message', 200, { content: 'Hello' }],
    ['conflict', 409, { content: 'Hello' }],
    ['empty', 200, {}],
  ] as const)('are answered with: %s', (duplicateAnswer, status, value) => {
    const scene = new Scene({ duplicateAnswer });
    scene.post(again);
    expect(scene.post(again)).toMatchObject({ status, value });
  });
});

it.each([
  ['message', { content: 'Hello', conversation_id: expect.any(String) }],
  ['data', { data: { content: 'Hello' } }],
  ['message-envelope', { message: { content: 'Hello' } }],
  ['ok', { ok: true }],
  ['no-conversation-id', { content: 'Hello', conversation_id: null }],
  ['id-only', { id: expect.any(String) }],
  ['empty', {}],
] as const)('answers a new message with: %s', (newMessageAnswer, value) => {
  const scene = new Scene({ newMessageAnswer, createdStatus: 202 });
  expect(scene.post(email())).toMatchObject({ status: 202, value });
});

it('hides remote_id when the platform does not keep it', () => {
  const scene = new Scene({ keepsRemoteId: false });
  const sent = scene.send();
  expect(scene.get(`messages/${String(sent['id'])}/`).value['remote_id']).toBeNull();
  expect(scene.model.messages(SHOP)[0]?.remoteId).toMatch(/^r-/);
});

it.each([
  ['django', { contact: { email: [expect.any(String)] } }],
  ['pointer', { errors: [{ field: 'contact.email', message: expect.any(String) }] }],
  ['code', { detail: 'Invalid', code: 'invalid_request', request_id: expect.any(String) }],
  ['html', {}],
  ['empty', {}],
] as const)('refuses in the shape: %s', (errorBodies, value) => {
  const scene = new Scene({ errorBodies, validationStatus: 400 });
  const [first, second] = [1, 2].map(() => scene.post(email({ contact: { email: 'x' } })));
  expect(first).toMatchObject({ status: 400, value });
  expect(first?.text === second?.text).toBe(errorBodies !== 'code');
  expect(first?.text === '').toBe(errorBodies === 'empty');
});

describe('media (§4.8)', () => {
  it('can be attached until its lifetime ends', () => {
    const scene = new Scene({ mediaLifetimeMs: 1_000 });
    const body = email({ message: { attachments: [scene.upload()] } });
    scene.at += 999;
    expect(scene.model.wouldAccept(SHOP, body)).toBe(true);
    scene.at += 1;
    expect(scene.model.wouldAccept(SHOP, body)).toBe(false);
    expect(scene.post(body).status).toBe(422);
    expect(scene.model.uploads(SHOP)).toMatchObject([{ name: 'a.png', permission: 'private' }]);
  });

  it('is public unless said otherwise, and needs a file', () => {
    const scene = new Scene();
    const file = { name: 'a.png', type: 'image/png', size: 3 };
    expect(scene.post({ file }, 'media').value).toMatchObject({
      type: 'image/png',
      original_name: 'a.png',
      permission: 'public',
    });
    expect(scene.post({}, 'media').status).toBe(422);
    expect(scene.post({ file, permission: 'secret' }, 'media').status).toBe(422);
  });
});

describe('reads', () => {
  it.each([
    ['newest first', 2],
    ['newest first', 5],
    ['oldest first', 2],
    ['oldest first', 1],
  ] as const)('pages %s, %i results each, forward and back (§2.6)', (listOrder, limit) => {
    const scene = new Scene({ listOrder });
    const ids = Array.from({ length: 5 }, () => scene.send()['id']);
    if (listOrder === 'newest first') ids.reverse();
    const pages: Body[] = [scene.get(`messages/?limit=${limit}`).value];
    const follow = (link: unknown): Body => {
      const { pathname, search } = new URL(String(link));
      return seen(scene.request({ path: pathname + search })).value;
    };
    for (let next = pages[0]?.['next']; next !== null; next = pages.at(-1)?.['next']) {
      pages.push(follow(next));
    }
    expect(pages.flatMap((page) => (page['results'] as Body[]).map(({ id }) => id))).toEqual(ids);
    const before = pages.at(-2);
    if (before !== undefined) {
      expect(follow(pages.at(-1)?.['previous'])['results']).toEqual(before['results']);
    }
    expect(pages[0]?.['previous']).toBeNull();
  });

  it('a message that arrives between two pages moves nothing', () => {
    const scene = new Scene();
    const first = scene.send()['id'];
    scene.send();
    const cursor = new URL(String(scene.get('messages/?limit=1').value['next'])).searchParams;
    scene.send();
    expect(listed(scene.get(`messages/?${cursor.toString()}`))).toMatchObject([{ id: first }]);
  });

  it('filters messages by conversation and ticket (§4.5)', () => {
    const scene = new Scene();
    const [one, two] = [scene.send(), scene.send(), scene.send()];
    const c = (message: Body | undefined): string => String(message?.['conversation_id']);
    const ids = (query: string): unknown[] =>
      listed(scene.get(`messages/?${query}`)).map(({ id }) => id);
    expect(ids(`conversation_id=${c(one)}`)).toEqual([one['id']]);
    expect(ids(`conversation_id__in=${c(one)},${c(two)}`)).toEqual([two['id'], one['id']]);
    expect(ids(`ticket_id=${String(two['ticket_id'])}`)).toEqual([two['id']]);
    expect(ids(`conversation_id=${UNKNOWN_ID}`)).toEqual([]);
  });

  it.each([
    'messages/?conversation_id=7',
    'messages/?limit=0',
    'messages/?cursor=x',
    'contacts/?is_archived=maybe',
    'tickets/?created_at__range=yesterday',
    'tickets/?created_at__range=relative:-31d,',
    'tickets/count/?created_at__range=2026-01-01T00:00:00Z,2026-03-01T00:00:00Z',
  ])('refuses the query of %s', (path) => {
    expect(new Scene().get(path).status).toBe(422);
  });

  it('gives no more than the greatest limit', () => {
    const scene = new Scene({ defaultLimit: 1, maxLimit: 2 });
    for (let each = 0; each < 3; each++) scene.send();
    expect(listed(scene.get('messages/'))).toHaveLength(1);
    expect(listed(scene.get('messages/?limit=50'))).toHaveLength(2);
  });

  it('gets each resource by its id, within its shop (§4.3, §4.6, §4.9, §4.11)', () => {
    const scene = new Scene();
    const sent = scene.send();
    const paths = [
      `messages/${String(sent['id'])}/`,
      `conversations/${String(sent['conversation_id'])}/`,
      `contacts/${String(sent['contact_id'])}/`,
      `tickets/${String(sent['ticket_id'])}/`,
    ];
    const headers = { authorization: 'Bearer key-2', 'x-shop-id': OTHER_SHOP };
    for (const path of paths) {
      expect(scene.get(path)).toMatchObject({ status: 200, value: { id: path.split('/')[1] } });
      expect(seen(scene.request({ path: `/v2026-04/${path}`, headers })).status).toBe(404);
    }
    expect(scene.get(`messages/${UNKNOWN_ID}/`).status).toBe(404);
    expect(scene.get(paths[1] ?? '').value).toMatchObject({ type: 'email', direction: 'inbound' });
  });

  it.each([
    ['', 2],
    ['priority=0', 2],
    ['priority__in=1,2', 0],
    [`agent_id=${UNKNOWN_ID}`, 0],
    [`conversation_id=${UNKNOWN_ID}`, 0],
    ['created_at__range=relative:-7d,', 1],
    ['created_at__range=2026-04-01T00:00:00Z,2026-04-02T00:00:00Z', 1],
  ])('lists and counts tickets with %s (§4.2, §4.4)', (query, tickets) => {
    const scene = new Scene();
    scene.send();
    scene.at += 8 * 24 * 3_600_000;
    scene.send();
    expect(listed(scene.get(`tickets/?${query}`))).toHaveLength(tickets);
    expect(scene.get(`tickets/count/?${query}`).value).toEqual({ count: tickets });
  });

  it("shows the agent's replies, which no list of what customers sent has", () => {
    const scene = new Scene({ agentReplies: true });
    const { id } = scene.send();
    expect(listed(scene.get('messages/'))).toMatchObject([
      { role: 'agent', content: expect.stringContaining('Hello') },
      { role: 'contact', id },
    ]);
    expect(scene.model.messages(SHOP)).toHaveLength(1);
  });
});

it.each([
  ['a contact', { name: 'Called', contact: { email: 'ann@example.com' } }, 201],
  ['a metric', { name: 'Called', metric: { metric_name: 'calls', value: 1 } }, 201],
  ['neither', { name: 'Called' }, 422],
  ['no name', { contact: {} }, 422],
])('Create event with %s (§4.1)', (label, body, status) => {
  const scene = new Scene();
  const answer = scene.post(body, 'events');
  expect(answer.status).toBe(status);
  expect(scene.model.events(SHOP)).toHaveLength(status === 201 ? 1 : 0);
  expect('contact' in answer.value).toBe(label === 'a contact');
});

describe('markers', () => {
  const removals: Record<string, Change> = {
    '[[422:contact.email]]': { contact: { email: null } },
    '[[422:contact.name]]': { contact: { name: undefined } },
    '[[422:cc]]': { message: { email: { cc: [] } } },
    '[[413-attachments]]': { message: { attachments: [] } },
    '[[415-html]]': { message: { format: 'TEXT' } },
  };
  const statuses: Record<string, number | string> = {
    '[[500]]': 500,
    '[[422]]': 422,
    '[[400]]': 400,
    '[[403]]': 403,
    '[[409-other]]': 409,
    '[[dup-other]]': 200,
    '[[hang]]': 'silence',
    '[[422:contact.email]]': 422,
    '[[422:contact.name]]': 422,
    '[[422:cc]]': 422,
    '[[413-attachments]]': 413,
    '[[415-html]]': 415,
    '[[flaky]]': 500,
    '[[lost-once]]': 'reset',
  };

  it.each(MARKERS.map((marker) => [marker.text, marker] as const))('%s', (text, marker) => {
    const scene = new Scene();
    const rich = {
      content: `Hello ${text}`,
      format: 'HTML',
      attachments: [scene.upload()],
      email: { cc: [{ email: 'bob@example.com' }] },
      remote_id: 'marked',
    };
    const body = email({ message: rich });
    const acceptable = marker.acceptable(body as never);
    expect(acceptabilityOf(body as never)).toBe(acceptable);
    expect(scene.model.wouldAccept(SHOP, body)).toBe(acceptable === 'always');
    expect(scene.post(body).status).toBe(statuses[text]);
    expect(scene.model.messages(SHOP)).toHaveLength(text === '[[lost-once]]' ? 1 : 0);
    const { contact, message } = removals[text] ?? {};
    const reduced = email({ ...(contact && { contact }), message: { ...rich, ...message } });
    for (let attempt = 0; attempt < 3; attempt++) scene.post(reduced);
    expect(scene.model.messages(SHOP)).toHaveLength(acceptable === 'never' ? 0 : 1);
    if (acceptable === 'ladder') expect(marker.acceptable(reduced as never)).toBe('always');
  });

  it('[[dup-other]] shows a message that reads know', () => {
    const scene = new Scene();
    const { value } = scene.post(email({ message: { content: '[[dup-other]]' } }));
    expect(value['content']).not.toContain('dup-other');
    expect(scene.get(`messages/${String(value['id'])}/`).value).toEqual(value);
    expect(listed(scene.get('messages/'))).toEqual([]);
  });

  it('[[403]] never shows the same page twice', () => {
    const scene = new Scene();
    const post = (): Seen => scene.post(email({ message: { content: '[[403]]' } }));
    expect(post().text).not.toBe(post().text);
  });
});

describe('scheduled faults', () => {
  const fault = (change: Partial<ScheduledFault>): ScheduledFault => ({
    fromMs: 1_000,
    toMs: 2_000,
    scope: 'all',
    paths: 'all',
    kind: '500',
    rate: 1,
    ...change,
  });

  const kinds: Record<FaultKind, [status: number | string, stored: number, outcome: string]> = {
    'black hole': ['silence', 0, 'failed'],
    refused: ['refused', 0, 'failed'],
    reset: ['reset', 0, 'failed'],
    'commit then reset': ['reset', 1, 'lost'],
    'commit then silence': ['silence', 1, 'lost'],
    '500': [500, 0, 'failed'],
    '502 html': [502, 0, 'failed'],
    '503 retry-after': [503, 0, 'failed'],
    '429': [429, 0, 'refused'],
    slow: [201, 1, 'created'],
    '401': [401, 0, 'refused'],
    '403': [403, 0, 'refused'],
    '404 all': [404, 0, 'refused'],
    '404 conversations': [201, 1, 'created'],
    'html 200': [200, 0, 'failed'],
    redirect: [302, 0, 'failed'],
    'error 200': [200, 0, 'failed'],
    'status 200': [200, 0, 'failed'],
    'failure 201': [201, 0, 'failed'],
    'stranger 409': [409, 0, 'refused'],
    'commit then error 200': [200, 1, 'lost'],
    'commit then bare 200': [200, 1, 'created'],
    'wrong read': [201, 1, 'created'],
    patience: [429, 0, 'refused'],
  };

  it.each(FAULT_KINDS)('%s', (kind) => {
    const scene = new Scene({ faults: [fault({ kind })] });
    const [status, stored, outcome] = kinds[kind];
    scene.at += 1_000;
    expect(scene.post(email()).status).toBe(status);
    expect(scene.model.messages(SHOP)).toHaveLength(stored);
    expect(scene.model.posts).toMatchObject([{ outcome }]);
    scene.at += 1_000;
    expect(scene.post(email()).status).toBe(201);
  });

  it('404 conversations misroutes what names a conversation', () => {
    const scene = new Scene({ faults: [fault({ kind: '404 conversations' })] });
    const { conversation_id: id } = scene.send();
    scene.at += 1_000;
    expect(scene.get(`conversations/${String(id)}/`).status).toBe(404);
    expect(scene.post(email({ conversation: { id } })).status).toBe(404);
    expect(scene.get('messages/').status).toBe(200);
  });

  it('503 says when to try again, in seconds or as a date', () => {
    const scene = new Scene({ faults: [fault({ kind: '503 retry-after' })] });
    scene.at += 1_000;
    const values = Array.from({ length: 30 }, () => scene.get('messages/').headers['retry-after']);
    expect(values).toContainEqual(expect.stringMatching(/^\d+$/));
    expect(values).toContainEqual(expect.stringMatching(/ GMT$/));
  });

  it('slow answers come after more than the usual time', () => {
    const scene = new Scene({ faults: [fault({ kind: 'slow' })] });
    scene.at += 1_000;
    expect(scene.request({})).toMatchObject({ kind: 'answer', status: 200 });
    const answer = scene.request({});
    expect(answer.kind === 'answer' && answer.afterMs).toBeGreaterThanOrEqual(5_000);
  });

  it.each([
    ['messages', { paths: 'messages' }, ['GET messages', 'POST messages']],
    ['media', { paths: 'media' }, ['POST media']],
    ['reads', { paths: 'reads' }, ['GET messages', 'GET contacts']],
    ['posts', { paths: 'posts' }, ['POST messages', 'POST media']],
    ['this shop', { scope: SHOP }, ['GET messages', 'GET contacts', 'POST messages', 'POST media']],
    ['another shop', { scope: OTHER_SHOP }, []],
    ['nothing', { rate: 0 }, []],
  ] as const)('concern %s', (_label, change, hit) => {
    const scene = new Scene({ faults: [fault(change)] });
    scene.at += 1_000;
    const all = ['GET messages', 'GET contacts', 'POST messages', 'POST media'];
    const hits = all.filter((request) => {
      const [method, collection] = request.split(' ') as ['GET' | 'POST', string];
      return seen(scene.request({ method, path: `/v2026-04/${collection}/` })).status === 500;
    });
    expect(hits).toEqual(hit);
  });

  it('hit about the share of requests that their rate says', () => {
    const scene = new Scene({ faults: [fault({ rate: 0.3 })] });
    scene.at += 1_000;
    const hits = Array.from({ length: 1_000 }, () => scene.get('messages/').status === 500);
    expect(hits.filter(Boolean).length).toBeGreaterThan(240);
    expect(hits.filter(Boolean).length).toBeLessThan(360);
  });

  it('end when they are healed, and so says the health of a shop', () => {
    const faults = [fault({ scope: SHOP }), fault({ scope: SHOP, fromMs: 5_000, toMs: 9_000 })];
    const scene = new Scene({ faults });
    const { model } = scene;
    expect(scene.model.healthySince(SHOP)).toBe(STARTED_AT + 9_000);
    expect(scene.model.healthySince(OTHER_SHOP)).toBe(STARTED_AT);
    expect([999, 1_000, 1_999, 2_000].map((ms) => model.healthyAt(SHOP, STARTED_AT + ms))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(scene.model.healthyAt(OTHER_SHOP, STARTED_AT + 1_000)).toBe(true);
    scene.at += 1_500;
    expect(scene.get('messages/').status).toBe(500);
    scene.model.heal();
    expect(scene.get('messages/').status).toBe(200);
    expect(scene.model.healthySince(SHOP)).toBe(STARTED_AT + 1_500);
    expect(scene.model.healthyAt(SHOP, STARTED_AT + 6_000)).toBe(true);
  });

  it('without the scope to write, a shop is never healthy', () => {
    const { model } = new Scene({ scopes: { ...DEFAULT_TRAITS.scopes, write: false } });
    expect(model.healthyAt(SHOP, STARTED_AT)).toBe(false);
    expect(model.healthySince(SHOP)).toBe(Infinity);
    expect(model.wouldAccept(SHOP, email())).toBe(false);
  });
});

it('a proxy empties POST answers before and after the platform acts, and no others', () => {
  const scene = new Scene({ proxyEmptyRate: 1 });
  for (let each = 0; each < 200; each++) {
    expect(scene.post(email())).toMatchObject({ status: 200, text: '' });
  }
  expect(scene.get('messages/').text).not.toBe('');
  const lost = scene.model.posts.filter(({ outcome }) => outcome === 'lost');
  expect(scene.model.messages(SHOP)).toHaveLength(lost.length);
  expect(lost.length).toBeGreaterThan(60);
  expect(lost.length).toBeLessThan(140);
});

it('answers 429 to more requests of a shop in a second than it allows', () => {
  const scene = new Scene({ maxPerSecond: 2 });
  const statuses = [1, 2, 3].map(() => scene.get('messages/').status);
  expect(statuses).toEqual([200, 200, 429]);
  expect(scene.get('messages/').headers['retry-after']).toBe('1');
  scene.at += 1_000;
  expect(scene.get('messages/').status).toBe(200);
});

describe('randomness', () => {
  it('gives the same answers for the same seed, and others for another', () => {
    const run = (seed: number): string => {
      const traits = randomTraits(createRandom(seed).fork('traits'), SHOPS, 60_000);
      const scene = new Scene(traits, seed);
      const answers: PlatformAnswer[] = [];
      for (let each = 0; each < 200; each++) {
        scene.at += 300;
        const body = email({ message: { remote_id: `d-${each % 90}`, content: `Text ${each}` } });
        answers.push(scene.request({ method: 'POST', body }), scene.request({}));
      }
      return JSON.stringify([traits, answers, scene.model.posts, scene.model.messages(SHOP)]);
    };
    const runs = Array.from({ length: 20 }, (_none, seed) => run(seed));
    expect(Array.from({ length: 20 }, (_none, seed) => run(seed))).toEqual(runs);
    expect(new Set(runs).size).toBe(20);
  });

  it('draws traits that are plain, describable and different', () => {
    const all = Array.from({ length: 2_000 }, (_none, seed) =>
      randomTraits(createRandom(seed), SHOPS, 60_000),
    );
    for (const traits of all) {
      expect(JSON.parse(JSON.stringify(traits))).toEqual(traits);
      for (const { fromMs, toMs } of traits.faults) expect(fromMs).toBeLessThan(toMs);
    }
    const drawn = (of: (traits: PlatformTraits) => unknown): number => new Set(all.map(of)).size;
    expect(drawn(({ newMessageAnswer }) => newMessageAnswer)).toBe(7);
    expect(drawn(({ errorBodies }) => errorBodies)).toBe(5);
    expect(drawn(({ dedup }) => dedup)).toBe(3);
    expect(drawn(({ faults }) => faults.length)).toBe(5);
    expect(new Set(all.flatMap(({ faults }) => faults.map(({ kind }) => kind))).size).toBe(24);
    expect(drawn(({ maxPerSecond }) => maxPerSecond === undefined)).toBe(2);
    expect(drawn(describeTraits)).toBeGreaterThan(1_990);
  });

  it('describes the traits in a few lines', () => {
    expect(describeTraits(DEFAULT_TRAITS)).toMatchInlineSnapshot(`
      "answers: new 201 message, duplicate message, unknown conversation 404, invalid 422, error bodies pointer, emails ajv
      dedup: remote_id; remote_id shown; the key lacks nothing; media kept forever
      lists: newest first, 50 of at most 100 results, without the agent's replies
      network: 20..200 ms, proxy empties 0, no rate limit
      fault: none"
    `);
  });

  it('forks streams that the draws of others do not shift', () => {
    const one = createRandom(7);
    const untouched = createRandom(7).fork('a').uuid();
    one.fraction();
    one.fork('b').fraction();
    expect(one.fork('a').uuid()).toBe(untouched);
    expect(one.fork('b').uuid()).not.toBe(untouched);
    expect(one.fork('a').fork('a').uuid()).not.toBe(untouched);
  });

  it('draws within its bounds, and evenly', () => {
    const random = createRandom(3);
    const faces = Array.from({ length: 6 }, () => 0);
    for (let draw = 0; draw < 60_000; draw++) {
      const face = random.between(1, 6) - 1;
      faces[face] = (faces[face] ?? NaN) + 1;
    }
    expect(faces).toHaveLength(6);
    for (const often of faces) expect(Math.abs(often - 10_000)).toBeLessThan(500);
    expect(random.uuid()).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(() => random.pick([])).toThrow(RangeError);
    expect(random.chance(0)).toBe(false);
    expect(random.chance(1)).toBe(true);
  });
});
