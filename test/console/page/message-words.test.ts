import { expect, test } from '@jest/globals';
import { checkWords, situation } from '../../../src/console/page/message/message-words.ts';
import { explain, shortReason } from '../../../src/console/page/messages/reasons.ts';

const STANDS = { detached: false, rawKept: true, attempts: 1 } as const;

test.each([
  ['dmarc', 'Fails DMARC'],
  ['loop', 'Own mail'],
  ['loop: perHour', 'Too many'],
  ['the platform answered 422 to /messages/: {"detail":"no"}', 'Refused (422)'],
  ['the platform answered 429 (http) to /messages/', 'Asked to wait'],
  ['the platform answered 503 (http) to /messages/', 'Platform error (503)'],
  ['the platform answered timeout to /messages/', 'No answer'],
  ['the platform answered 401 (http) to /messages/', 'Refused (401)'],
  ['the platform answered 302 (http) to /messages/', 'Refused (302)'],
  ['the platform answered 410 (http) to /messages/', 'Refused (410)'],
  ['gave up after 40 requests; the platform answered 500', 'Gave up after 40 requests'],
  ['the platform does not say whether it took the message', 'Unclear answer'],
  ['contacts cannot be looked up', 'Contacts not readable'],
  ['cannot be answered: the platform refused the address', 'Cannot be answered'],
  ['gave up after 12 attempts; the platform answered 500', 'Gave up after 12'],
  ['it failed here: TypeError', 'Failed here'],
  ['something that nobody foresaw', 'something that nobody foresaw'],
  ['toString', 'toString'],
])('%j in a row reads %j', (reason, words) => {
  expect(shortReason(reason)).toBe(words);
});

test('no reason needs no words', () => {
  expect(explain(undefined)).toBeUndefined();
  expect(explain('')).toBeUndefined();
});

test('a dead message tells what the platform said, and what to do', () => {
  const reason = 'the platform answered 422 to /messages/: {"detail":"too long"}';
  const stands = situation({ ...STANDS, state: 'dead', reason });
  expect(stands.because).toBe(reason);
  expect(stands.meaning).toContain('you decide');
  expect(stands.todo).toContain('retry');
});

test('a rule’s name is explained, not quoted', () => {
  const stands = situation({ ...STANDS, state: 'held', reason: 'several_from' });
  expect(stands.because).toBeUndefined();
  expect(stands.meaning).toContain('more than one author');
});

test('what an earlier attempt failed with is no matter of a delivered one', () => {
  const reason = 'the platform answered 503 (http) to /messages/';
  expect(situation({ ...STANDS, state: 'delivered', reason })).toEqual({
    meaning: 'The platform has it.',
    todo: '',
  });
});

test('a delivered message that cannot be answered says so, and what to do', () => {
  const reason = 'cannot be answered: the platform refused the address';
  expect(situation({ ...STANDS, state: 'delivered', reason })).toMatchObject({
    meaning: expect.stringMatching(/^The platform has it\. .*address stands in the contact’s name/),
    todo: 'Write to the person yourself.',
  });
});

test('what a queued message waits for is said, when it is not its own time', () => {
  const said = (waitsFor: 'shop' | 'media' | 'refusal') =>
    situation({ ...STANDS, state: 'queued', waitsFor }).meaning;
  expect(said('shop')).toContain('when its shop takes messages again');
  expect(said('media')).toContain('when its shop takes attachments again');
  expect(said('refusal')).toContain('refused in the same words');
});

test('a lane that goes on without it and a swept original are said', () => {
  const stands = situation({ ...STANDS, state: 'queued', detached: true });
  expect(stands.meaning).toContain('does not hold its lane back');
  expect(situation({ ...STANDS, state: 'dead', rawKept: false })).toMatchObject({ todo: '' });
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
    'Vouched for by none warning',
  ]);
  for (const { meaning } of lines) expect(meaning).toMatch(/\.$/);
  for (const claimed of ['verified', 'none', 'quarantine', 'reject', 'temperror']) {
    expect(checkWords({ claimed })).toMatchObject([
      { name: 'Named outside From', result: claimed, meaning: expect.stringMatching(/: .+\.$/) },
    ]);
  }
  expect(checkWords({ spf: 'hasOwnProperty' })).toMatchObject([{ meaning: '', tone: 'plain' }]);
});
