import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { explain, explainStop } from '../../src/domain/reason-explanations.ts';
import {
  CODES,
  codesBeginning,
  platformWords,
  type Reason,
  reasonDetail,
  reasonOf,
  sentence,
  withoutQuotes,
} from '../../src/domain/reasons.ts';

const refused: Reason = {
  code: 'platform_answered',
  params: { failure: 'http', status: 422, path: '/messages/', answer: 'Ann may not write' },
};
const gaveUp: Reason = { code: 'gave_up', params: { attempts: 12, last: refused } };

/** Each reason that has parameters, and its sentence. */
const DETAILED: readonly (readonly [Reason, string])[] = [
  [
    { code: 'rate_limit', params: { limit: 'perHour' } },
    'over the limit for one sender: loop.perHour',
  ],
  [refused, 'the platform answered 422 (http) to /messages/: Ann may not write'],
  [
    { code: 'platform_answered', params: { failure: 'timeout', path: '/media/' } },
    'the platform answered timeout to /media/',
  ],
  [gaveUp, `gave up after 12 attempts; ${sentence(refused)}`],
  [
    { code: 'gave_up_requests', params: { requests: 40, last: { code: 'unclear_answer' } } },
    'gave up after 40 requests; the platform does not say whether it took the message',
  ],
  [{ code: 'internal_error', params: { error: 'TypeError' } }, 'it failed here: TypeError'],
  [
    { code: 'channel_not_configured', params: { channel: 'sms' } },
    'the shop has no sms in the configuration',
  ],
  [{ code: 'media_failed', params: { medium: 'ME1', failure: 'http_404' } }, 'Media ME1: http_404'],
  [{ code: 'other', params: { text: '[erased]' } }, '[erased]'],
];

test.each(DETAILED)('%j is said in one sentence', (reason, words) => {
  expect(sentence(reason)).toBe(words);
});

const answered = (answer?: string, status?: number): Reason => ({
  code: 'platform_answered',
  params: {
    failure: status === undefined ? 'timeout' : 'http',
    ...(status !== undefined && { status }),
    path: '/messages/',
    ...(answer !== undefined && { answer }),
  },
});

test.each([
  ['{"error":{"code":"auth","message":"The key has expired."}}', 'The key has expired.'],
  ['{"detail":"Not \\u0022here\\u0022"}', 'Not "here"'],
  ['{"error":"unauthorized"}', 'unauthorized'],
  ['{"message":"cut off in the midd', '{"message":"cut off in the midd'],
  ['<html><h1>502 Bad\n Gateway</h1></html>', '502 Bad Gateway'],
  ['  ', undefined],
  [undefined, undefined],
  ['x'.repeat(300), `${'x'.repeat(200)}…`],
])('of the answer %j, the platform’s own words are %j', (answer, words) => {
  expect(platformWords(answered(answer, 401))).toBe(words);
  const last = answered(answer, 401);
  expect(platformWords({ code: 'gave_up', params: { attempts: 3, last } })).toBe(words);
});

test.each([
  [401, 'API key refused (401)', 'apiKey'],
  [403, 'Access refused (403)', 'firewall'],
  [404, 'Not found (404)', 'URL'],
  [301, 'Redirected (301)', 'URL'],
  [429, 'Asked to wait', 'No action'],
  [503, 'Platform error (503)', 'operators'],
  [200, 'Unusable answer (200)', 'URL'],
  [undefined, 'No answer', 'reaches it'],
])('deliveries that stopped after %j: %s', (status, cause, todo) => {
  const stop = explainStop(answered('no', status));
  expect(stop).toEqual({ cause, todo: expect.stringContaining(todo) });
});

test('every code is of letters and underscores, and on the page of reasons', () => {
  const page = readFileSync('docs/reasons.md', 'utf8');
  for (const code of CODES) {
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
    expect(page).toContain(`| \`${code}\``);
  }
});

test('every code is explained, except an erased one', () => {
  const detailed = new Map(DETAILED.map(([reason]) => [reason.code, reason]));
  for (const code of CODES) {
    const reason = detailed.get(code) ?? reasonOf(code, undefined);
    expect(reason).toBeDefined();
    if (reason && code !== 'other') expect(explain(reason)?.meaning).toMatch(/\S/);
  }
  expect(explain({ code: 'other', params: { text: 'x' } })).toBeUndefined();
});

describe('what may be logged', () => {
  test.each([refused, gaveUp])('%j without what it quotes', (reason) => {
    expect(JSON.stringify(withoutQuotes(reason))).not.toContain('Ann');
    expect(JSON.stringify(reasonDetail(reason))).not.toContain('Ann');
  });

  test('is the code with its plain parameters', () => {
    expect(reasonDetail({ code: 'dmarc' })).toEqual({ reason: 'dmarc' });
    expect(reasonDetail(gaveUp)).toEqual({ reason: 'gave_up', attempts: 12 });
    expect(reasonDetail(refused)).toEqual({
      ...{ reason: 'platform_answered', failure: 'http', status: 422, path: '/messages/' },
    });
    expect(reasonDetail({ code: 'other', params: { text: 'Ann' } })).toEqual({
      ...{ reason: 'other', text: '' },
    });
  });
});

describe('a reason that was read', () => {
  test.each([...DETAILED.map(([reason]) => reason), { code: 'bounce' } as const])(
    '%j is that reason',
    (reason) => {
      expect(reasonOf(reason.code, reason.params)).toEqual(reason);
    },
  );

  test.each([
    ['toString', {}],
    ['of_a_later_version', {}],
    ['gave_up', undefined],
    [undefined, {}],
    [7, {}],
  ])('%j with %j is unknown', (code, params) => {
    expect(reasonOf(code, params)).toBeUndefined();
  });
});

describe('a filter', () => {
  test.each([
    ['auto_reply', ['auto_reply'], []],
    ['auto', ['auto_generated', 'auto_reply'], []],
    ['loop', ['loop'], []],
    ['over', ['rate_limit'], []],
    ['over the limit for one sender: loop.per', [], ['rate_limit']],
    ['no such', ['no_such_contact'], []],
    ['the platform', ['unclear_answer', 'platform_answered'], []],
    ['the platform answered 4', [], ['platform_answered']],
    ['gave up after', ['gave_up', 'gave_up_requests'], []],
    ['gave up after 40 r', [], ['gave_up', 'gave_up_requests']],
  ])('by %j means the codes %j, and some of %j', (text, always, perhaps) => {
    const found = codesBeginning(text);
    expect(new Set(found.always)).toEqual(new Set(always));
    // An erased reason may begin with it.
    expect(found.perhaps.filter((code) => code !== 'other')).toEqual(perhaps);
  });

  test('finds every reason by the beginning of its code and of its sentence', () => {
    for (const [reason, words] of DETAILED) {
      for (const text of [reason.code.slice(0, 4), words.slice(0, 3), words]) {
        const { always, perhaps } = codesBeginning(text);
        expect([...always, ...perhaps]).toContain(reason.code);
      }
    }
  });
});
