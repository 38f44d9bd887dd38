import { describe, expect, it, test } from '@jest/globals';
import { asksToStop, keywordWithinMarks } from '../../src/domain/opt-out-words.ts';

describe('a keyword with marks around it', () => {
  it.each([
    ['Stop.', 'stop'],
    ['(unsubscribe)', 'stop'],
    ['REVOKE!!', 'stop'],
    ['OptOut \u{1F64F}', 'stop'],
    ['\u201CStart\u201D', 'start'],
    ['Yes!', 'start'],
    ['unstop.', 'start'],
    ['Cancel.', undefined],
    ['End.', undefined],
    ['Quit.', undefined],
    ['Stop. Now.', undefined],
    ['ST\u041EP.', undefined],
    ['', undefined],
  ])('%j means %s', (text, meaning) => expect(keywordWithinMarks(text)).toBe(meaning));
});

test.each([
  ...['opt-out', 'ARRÊT', 'arret', 'alto!', 'Stop texting me.', 'don’t text me', 'dont text me'],
  ...['Remove me', 'REMOVE', 'Stopp', 'Abmelden!', 'baja', 'I don’t want these messages.'],
])('%j asks for no more messages', (text) => expect(asksToStop(text)).toBe(true));

test.each([
  'stop the order',
  'alto y claro por favor',
  'remove me from the order 17 and send it',
  'the stop',
  '',
])('%j is a message', (text) => expect(asksToStop(text)).toBe(false));

test('a long text is a message, whatever it is made of', () => {
  for (const filler of ['.', ' ', 'a', '\u200b', '!a']) {
    expect(asksToStop(filler.repeat(1_000_000))).toBe(false);
  }
});
