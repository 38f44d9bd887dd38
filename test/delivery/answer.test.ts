import { sentence } from '../../src/domain/reasons.ts';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import {
  type AnswerKind,
  Forbidden,
  Later,
  mayHaveArrived,
  readAnswer,
  Refused,
} from '../../src/delivery/answer.ts';
import { PlatformError, type PlatformErrorCode } from '../../src/platform-api/errors.ts';

interface About {
  readonly code?: PlatformErrorCode;
  readonly answer?: string;
  readonly retryAfterMs?: number;
}
const error = (status?: number, about: About = {}) =>
  new PlatformError({ code: 'http', method: 'POST', path: '/messages/', status, ...about });

describe('what an answer says', () => {
  test.each<[string, PlatformError, AnswerKind, AnswerKind]>([
    ['no answer', error(undefined, { code: 'network' }), 'later', 'later'],
    ['no answer in time', error(undefined, { code: 'timeout' }), 'later', 'later'],
    ['an answer without an end', error(undefined, { code: 'too_large' }), 'later', 'later'],
    ['HTML under 200', error(200, { code: 'not_json' }), 'later', 'later'],
    ['another JSON under 200', error(200, { code: 'unexpected' }), 'later', 'later'],
    ['408', error(408), 'later', 'later'],
    ['425', error(425), 'later', 'later'],
    ['429', error(429), 'later', 'later'],
    ['500', error(500), 'later', 'later'],
    ['503', error(503), 'later', 'later'],
    ['401', error(401), 'forbidden', 'forbidden'],
    ['403', error(403), 'forbidden', 'forbidden'],
    ['405', error(405), 'forbidden', 'forbidden'],
    ['302', error(302), 'forbidden', 'forbidden'],
    ['308', error(308), 'forbidden', 'forbidden'],
    ['404', error(404), 'forbidden', 'gone'],
    ['410', error(410), 'forbidden', 'gone'],
    ['an id that no URL can have', error(undefined, { code: 'invalid' }), 'gone', 'gone'],
    ['400', error(400), 'refused', 'refused'],
    ['409 without the message', error(409), 'refused', 'refused'],
    ['413', error(413), 'refused', 'refused'],
    ['415', error(415), 'refused', 'refused'],
    ['422', error(422), 'refused', 'refused'],
    ['418', error(418), 'refused', 'refused'],
  ])('%s', (_, answer, ofACollection, ofAResource) => {
    expect(readAnswer(answer)).toBe(ofACollection);
    expect(readAnswer(answer, true)).toBe(ofAResource);
  });

  test.each([
    ['a reset', error(undefined, { code: 'network' }), true],
    ['a timeout', error(undefined, { code: 'timeout' }), true],
    ['an abort', error(undefined, { code: 'aborted' }), true],
    ['HTML under 200', error(200, { code: 'not_json' }), true],
    ['500', error(500), true],
    ['504', error(504), true],
    ['400', error(400), false],
    ['401', error(401), false],
    ['429', error(429), false],
    ['no request', error(undefined, { code: 'invalid' }), false],
  ])('after %s the platform may have the message: %#', (_, answer, may) => {
    expect(mayHaveArrived(answer)).toBe(may);
  });
});

describe('the words of a refusal', () => {
  const wordsOf = (status: number, answer: unknown) =>
    new Refused(error(status, { answer: JSON.stringify(answer) })).words;

  test.each<[string, unknown, string]>([
    ['nothing but a status', {}, '422'],
    ['a code', { code: 'invalid_choice' }, '422 invalid_choice'],
    ['named fields', { contact: { email: ['Enter Ann'] } }, '422 contact.email'],
    [
      'both, of the local platform’s form',
      { error: { code: 'bad', message: 'Ann is no', fields: { 'contact.email': 'Ann' } } },
      '422 bad contact.email',
    ],
  ])('are made of %s', (_, answer, words) => {
    expect(wordsOf(422, answer)).toBe(words);
  });

  test('are the same for two who are refused for the same reason, whatever is quoted', () => {
    const quoting = (who: string) => ({
      ...{ detail: `${who} is not a customer`, code: `no customer ${who}` },
      errors: [{ field: 'contact.email', message: `unknown: ${who}` }],
    });
    expect(wordsOf(400, quoting('ann'))).toBe(wordsOf(400, quoting('bob')));
    expect(wordsOf(400, quoting('ann'))).not.toBe(wordsOf(422, quoting('ann')));
  });
});

describe('what failed an attempt', () => {
  const quoted = 'Ann Smith may not write';
  test.each([
    ['later', new Later('messages', error(503, { answer: quoted }))],
    ['forbidden', new Forbidden('media', error(403, { answer: quoted }), false)],
    ['refused', new Refused(error(400, { answer: quoted }))],
  ])('%s: the platform’s words are for operators, and not in the message', (_, failure) => {
    expect(sentence(failure.reason)).toContain(quoted);
    expect(failure.message).toMatch(/^the platform answered \d+ \(http\) to \/messages\/$/);
    expect(failure.stack).not.toContain(quoted);
    expect(inspect(failure.cause)).not.toContain(quoted);
  });

  test('a long answer is shown by its beginning', () => {
    const { reason } = new Refused(error(400, { answer: 'x'.repeat(5000) }));
    expect(sentence(reason).length).toBeLessThan(400);
  });

  test.each([
    [429, {}, { isThrottled: true, timedOut: false }],
    [503, { retryAfterMs: 7000 }, { isThrottled: false, retryAfterMs: 7000 }],
    [undefined, { code: 'timeout' }, { isThrottled: false, timedOut: true }],
  ] as const)('later, by %s %j', (status, about, expected) => {
    expect(new Later('messages', error(status, about))).toMatchObject(expected);
  });
});
