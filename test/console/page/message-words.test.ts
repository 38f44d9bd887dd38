import { expect, test } from '@jest/globals';
import { checkWords, explainState } from '../../../src/console/page/message/message-words.ts';
import { explain, shortReason } from '../../../src/console/page/messages/reasons.ts';

const ENTRY = { detached: false, rawKept: true, attempts: 1 } as const;

test.each([
  ['dmarc', 'Fails DMARC'],
  ['loop', 'Own mail'],
  ['loop: perHour', 'Rate limit'],
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
  ['it failed here: TypeError', 'Internal error'],
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
  const entry = explainState({ ...ENTRY, state: 'dead', reason });
  expect(entry.quotedReason).toBe(reason);
  expect(entry.meaning).toContain('unless you retry it');
  expect(entry.todo).toContain('retry');
});

test('a rule’s name is explained, not quoted', () => {
  const entry = explainState({ ...ENTRY, state: 'held', reason: 'several_from' });
  expect(entry.quotedReason).toBeUndefined();
  expect(entry.meaning).toContain('several authors');
});

test('what an earlier attempt failed with is no matter of a delivered one', () => {
  const reason = 'the platform answered 503 (http) to /messages/';
  expect(explainState({ ...ENTRY, state: 'delivered', reason })).toEqual({
    meaning: 'The platform has accepted it.',
    todo: '',
  });
});

test('a delivered message that cannot be answered says so, and what to do', () => {
  const reason = 'cannot be answered: the platform refused the address';
  expect(explainState({ ...ENTRY, state: 'delivered', reason })).toMatchObject({
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
