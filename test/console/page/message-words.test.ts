import { expect, test } from '@jest/globals';
import {
  checkLines,
  checkWords,
  explainState,
} from '../../../src/console/page/message/message-words.ts';
import { explanationOf, shortReason } from '../../../src/console/page/messages/reasons.ts';
import type { ShownReason } from '../../../src/console/contract.ts';
import { type Reason, sentence } from '../../../src/domain/reasons.ts';

const ENTRY = { detached: false, rawKept: true, attempts: 1 } as const;

const shown = (reason: Reason): ShownReason => ({
  ...{ reason: sentence(reason), reasonCode: reason.code },
  ...(reason.params && { reasonParams: reason.params }),
});
const answered = (status: number | undefined, failure = 'http', answer = 'no'): Reason => ({
  code: 'platform_answered',
  params: { failure, ...(status !== undefined && { status }), path: '/messages/', answer },
});

test.each<[Reason, string]>([
  [{ code: 'dmarc' }, 'Fails DMARC'],
  [{ code: 'loop' }, 'Own mail'],
  [{ code: 'rate_limit', params: { limit: 'perHour' } }, 'Rate limit'],
  [answered(422), 'Refused (422)'],
  [answered(429), 'Asked to wait'],
  [answered(503), 'Platform error (503)'],
  [answered(undefined, 'timeout'), 'No answer'],
  [answered(undefined, 'network'), 'Unreachable'],
  [answered(200, 'not_json'), 'Unusable answer (200)'],
  [answered(401), 'API key refused (401)'],
  [answered(302), 'Redirected (302)'],
  [answered(410), 'Gone (410)'],
  [
    { code: 'gave_up_requests', params: { requests: 40, last: answered(500) } },
    'Gave up after 40 requests',
  ],
  [{ code: 'unclear_answer' }, 'Unclear answer'],
  [{ code: 'contacts_not_readable' }, 'Contacts not readable'],
  [{ code: 'cannot_be_answered' }, 'Cannot be answered'],
  [{ code: 'gave_up', params: { attempts: 12, last: answered(500) } }, 'Gave up after 12'],
  [{ code: 'internal_error', params: { error: 'TypeError' } }, 'Internal error'],
  [{ code: 'other', params: { text: '[erased]' } }, '[erased]'],
])('%j in a row reads %j', (reason, words) => {
  expect(shortReason(shown(reason))).toBe(words);
});

test('no reason needs no words, and one of a later version is shown unchanged', () => {
  expect(explanationOf({})).toBeUndefined();
  expect(shortReason({ reason: 'toString' })).toBe('toString');
  expect(explanationOf({ reason: 'toString' })).toBeUndefined();
});

test('a dead message tells what the platform said, and what to do', () => {
  const entry = explainState({ ...ENTRY, state: 'dead', ...shown(answered(422)) });
  expect(entry.quotedReason).toBe('the platform answered 422 (http) to /messages/: no');
  expect(entry.meaning).toContain('unless you retry it');
  expect(entry.todo).toContain('retry');
});

test('a rule’s name is explained, not quoted', () => {
  const entry = explainState({ ...ENTRY, state: 'held', ...shown({ code: 'several_from' }) });
  expect(entry.quotedReason).toBeUndefined();
  expect(entry.meaning).toContain('several authors');
});

test('what an earlier attempt failed with is no matter of a delivered one', () => {
  expect(explainState({ ...ENTRY, state: 'delivered', ...shown(answered(503)) })).toEqual({
    meaning: 'The platform has accepted it.',
    todo: '',
  });
});

test('a delivered message that cannot be answered says so, and what to do', () => {
  const reason = shown({ code: 'cannot_be_answered' });
  expect(explainState({ ...ENTRY, state: 'delivered', ...reason })).toMatchObject({
    meaning: expect.stringMatching(
      /^The platform has accepted it\. .*contact’s name contains the address/,
    ),
    todo: 'Reply to the sender directly.',
  });
});

test('what a queued message waits for is said, when it is not its own time', () => {
  const said = (waitsFor: 'shop' | 'media' | 'refusal') =>
    explainState({ ...ENTRY, state: 'queued', waitsFor }).meaning;
  expect(said('shop')).toContain('Deliveries of its shop are stopped');
  expect(said('media')).toContain('Attachment uploads of its shop are stopped');
  expect(said('refusal')).toContain('with the same error');
});

test('a lane that goes on without it and a swept original are said', () => {
  const entry = explainState({ ...ENTRY, state: 'queued', detached: true });
  expect(entry.meaning).toContain('may be delivered before it');
  expect(explainState({ ...ENTRY, state: 'dead', rawKept: false })).toMatchObject({ todo: '' });
});

test('the verdict about a sender is told line by line', () => {
  const verdict = {
    spf: 'pass',
    dkim: 'none',
    arc: 'none',
    dmarc: 'fail',
    policy: 'reject',
    aligned: 'none',
  };
  const lines = checkWords(verdict);
  expect(lines.map(({ name, result, tone }) => `${name} ${result} ${tone}`)).toEqual([
    'SPF pass good',
    'DKIM none plain',
    'DMARC fail bad',
    'ARC none plain',
    'Policy reject plain',
    'Confirmed by none warning',
  ]);
  for (const { meaning } of lines) expect(meaning).toMatch(/\.$/);
  for (const claimed of ['verified', 'none', 'quarantine', 'reject', 'temperror']) {
    expect(checkWords({ claimed })).toMatchObject([
      { name: 'Sender outside From', result: claimed, meaning: expect.stringMatching(/: .+\.$/) },
    ]);
  }
  expect(checkWords({ spf: 'hasOwnProperty' })).toMatchObject([{ meaning: '', tone: 'plain' }]);
});

test('what has no result is one line', () => {
  const lines = checkLines({ spf: 'pass', dkim: 'none', dmarc: 'none', arc: 'none' });
  expect(lines.map(({ name, result }) => [name, result])).toEqual([
    ['SPF', 'pass'],
    ['DKIM, DMARC, ARC', 'none'],
  ]);
  expect(lines[1]?.meaning).toBe(
    'The message is not signed. The domain in From publishes no DMARC policy. The message has no ARC seal.',
  );
  expect(checkLines({ spf: 'fail', dkim: 'none' })).toEqual(
    checkWords({ spf: 'fail', dkim: 'none' }),
  );
});
