import { describe, expect, test } from '@jest/globals';
import { isEmojiAlone, reactionOf } from '../../src/domain/reactions.ts';

describe('emoji alone', () => {
  test.each(['👍', '👍🏽 ❤️\n', '👩‍👩‍👧', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '🇩🇪', '❤', '‼️'])('%s is', (text) => {
    expect(isEmojiAlone(text)).toBe(true);
  });

  test.each(['', ' ', '👍 ok', '1️⃣', '4711', '👍?', '…', '\u200d'])('%j is not', (text) => {
    expect(isEmojiAlone(text)).toBe(false);
  });
});

describe('a reaction that is written as a text', () => {
  test.each([
    ['Liked “Your parcel left today.”', '👍'],
    ['Loved “First\nsecond “third””', '❤️'],
    ['Disliked „Ihr Paket ist da.“', '👎'],
    ['Laughed at “x”', '😂'],
    ['Emphasised “x”', '‼️'],
    ['Questioned «x»\n', '❓'],
    ['Loved an image', '❤️'],
    ['Reacted 👍🏽 to “x”', '👍🏽'],
    ['🎉 to “x”', '🎉'],
    ['Reacted ❤️ to an image', '❤️'],
    ['\u200a\u200b👍\u200b to \u200a“\u200ax\u200a”\u200a', '👍'],
    ['👍\n\nJane Roe reacted to your message:', '👍'],
    ['[like] Jane Roe reacted to your message:', '👍'],
    [
      '[sad]  Jane Roe reacted to your message: \n________________________________\nFrom: Acme',
      '😢',
    ],
    ['\\[heart] Jane Roe reacted to your message:', '❤️'],
    ['[image: celebrate] Jane Roe reacted to your message:', '🎉'],
    ['![sad](https://x.example/a.png) Jane Roe reacted to your message:', '😢'],
    ['👍 Jane Roe reacted via Gmail <https://www.google.com/gmail/about/?utm_source=x#app>', '👍'],
    ['😮\n\nJane Roe reacted via [Gmail](https://www.google.com/gmail/about/)', '😮'],
  ])('%j', (text, emoji) => {
    expect(reactionOf(text)).toBe(emoji);
  });

  test.each([
    '👍',
    'Liked it',
    'Liked "the lamp"',
    'Liked “the lamp”, but it broke',
    'Liked “this lamp” and “that lamp”',
    '👍 to “this” but 👎 to “that”',
    'I liked “the lamp”',
    'Removed a like from “x”',
    '👍 to all of you',
    'Reacted badly to “penicillin”',
    '[like] Jane Roe reacted to your message:\nIt is broken.',
    'Jane Roe reacted to your message:',
    '[nothing] Jane Roe reacted to your message:',
    '1️⃣ to “x”',
  ])('none: %j', (text) => {
    expect(reactionOf(text)).toBeUndefined();
  });

  test.each([
    ['“'.repeat(9000), 'Liked '],
    ['👍'.repeat(4500), ''],
    [' reacted'.repeat(1000), '👍 '],
    ['\n'.repeat(9000), '👍'],
  ])('takes little time whatever it is', (text, start) => {
    const started = performance.now();
    for (let n = 0; n < 20; n += 1) reactionOf(`${start}${text}x`);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

test('words that the answered message does not have are the person’s own', () => {
  expect(reactionOf('Loved “Aurora”', '> Which lamp did you order?')).toBeUndefined();
  expect(reactionOf('Loved “Which lamp\ndid you order?”', '> Which lamp\n> did you order?')).toBe(
    '❤️',
  );
  expect(reactionOf('👍 to “Which lamp…”', '> Which lamp did you order?')).toBe('👍');
});
