import { expect, test } from '@jest/globals';
import type { SessionEvent } from '../../../src/channels/chat/events.ts';
import { backoffMs } from '../../../src/widget/engine/timing.ts';
import { classifySession } from '../../../src/widget/engine/tab-visitor.ts';
import { newId } from '../../../src/widget/engine/outbox.ts';
import { refusalOf } from '../../../src/widget/engine/connection.ts';

const stored = (visitorId: string, token = `token of ${visitorId}`) => ({
  ...{ visitorId, token, verified: false },
});
const session = (visitorId: string, lastSeq = 0): SessionEvent => ({
  ...{ token: 'new', visitorId, lastSeq, seenSeq: 0, verified: false },
  limits: { text: 1, files: 1, fileBytes: 1 },
});
const asked = (visitorId?: string, more: { identity?: string; lastSeq?: number } = {}) => ({
  ...{ key: 'demo', ...more },
  ...(visitorId !== undefined && { token: `token of ${visitorId}` }),
});

test.each([
  ['the first session', asked(), undefined, undefined, session('a'), 'same'],
  ['one of many', asked('a'), stored('a'), stored('a'), session('a'), 'same'],
  ['a new token by another tab', asked('a'), stored('a', 'x'), stored('a'), session('a'), 'same'],
  ['a token not known', asked('a'), stored('a'), stored('a'), session('b'), 'other'],
  ['an identity', asked('a', { identity: 'jwt' }), stored('a'), stored('a'), session('b'), 'other'],
  ['another tab was first', asked(), stored('a'), undefined, session('b'), 'stale'],
  ['another tab has identified', asked('a'), stored('b'), stored('a'), session('a'), 'stale'],
  ['another tab has logged out', asked('a'), undefined, stored('a'), session('a'), 'stale'],
  ['lost lines', asked('a', { lastSeq: 9 }), stored('a'), stored('a'), session('a', 8), 'reset'],
  ['no lost lines', asked('a', { lastSeq: 9 }), stored('a'), stored('a'), session('a', 9), 'same'],
] as const)(
  'a session is taken as what it is: %s',
  (_case, question, inStorage, shown, answer, greeting) => {
    const which = { asked: question, stored: inStorage, shown, session: answer };
    expect(classifySession(which)).toBe(greeting);
  },
);

test.each<[string, unknown, unknown]>([
  ['the handshake', { data: { code: 'bad_identity' } }, { code: 'bad_identity' }],
  [
    'a limit',
    { data: { code: 'rate_limited', retryAfter: 3 } },
    { code: 'rate_limited', retryAfter: 3 },
  ],
  ['the request', { context: { responseText: '{"code":4,"message":"busy"}' } }, { code: 'busy' }],
  ['nonsense', { context: { responseText: '<html>' } }, undefined],
  ['an unknown word', { data: { code: 'tired' } }, undefined],
  ['the network', new Error('websocket error'), undefined],
  ['nothing', undefined, undefined],
])('a refusal of %s is understood', (_case, error, refusal) => {
  expect(refusalOf(error)).toEqual(refusal);
});

test('the backoff doubles up to a limit, and half of it is random', () => {
  const limits = { minMs: 1_000, maxMs: 30_000 };
  const longest = [0, 1, 2, 3, 4, 5, 500].map((attempt) => backoffMs(attempt, limits, () => 1));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(backoffMs(2, limits, () => 0)).toBe(2_000);
});

test('ids are random UUIDs', () => {
  const ids = Array.from({ length: 100 }, newId);
  for (const id of ids) {
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  }
  expect(new Set(ids).size).toBe(100);
});
