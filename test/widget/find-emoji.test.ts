import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findEmoji, readWords } from '../../src/widget/ui/emoji/find.ts';
const SRC = join(import.meta.dirname, '../../src');

const FOLDER = join(SRC, 'widget/ui/emoji/words');
const known = (language: string) =>
  readWords(readFileSync(join(FOLDER, `${language}.txt`), 'utf8').trimEnd());

test('the widget has the words of all its languages', () => {
  const texts = readdirSync(join(SRC, 'widget/texts')).map((file) => file.replace('.json', ''));
  expect(readdirSync(FOLDER)).toEqual(texts.map((language) => `${language}.txt`));
  const emoji = known('en').map((each) => each.emoji);
  expect(emoji.length).toBeGreaterThan(1_300);
  expect(new Set(emoji).size).toBe(emoji.length);
  for (const language of texts) {
    const own = known(language);
    expect(own.map((each) => each.emoji)).toEqual(emoji);
    expect(own.filter(({ name }) => name === '')).toEqual([]);
  }
});

describe('emoji are found', () => {
  test.each([
    ['en', 'happy', '😀'],
    ['en', '  HAPPY  ', '😀'],
    ['en', 'truck delivery', '🚚'],
    ['en', 'deliv', '🚚'],
    ['de', 'Lastwagen', '🚚'],
    ['de', 'glucklich', '😇'],
    ['fr', 'cœur', '❤️'],
    ['es', 'corazon', '❤️'],
    ['pl', 'serce', '❤️'],
    ['pt', 'coracao', '❤️'],
    ['ja', 'トラック', '🚚'],
    ['ja', 'ハート', '❤️'],
    ['ar', 'قلب', '❤️'],
    ['en', 'thanks', '🙏'],
    ['de', 'danke', '🙏'],
    ['fr', 'merci', '🙏'],
    ['pl', 'lzy', '😂'],
    ['ja', 'はーと', '❤️'],
  ])('in %s by "%s"', (language, query, emoji) => {
    const found = findEmoji(known(language), query).map((each) => each.emoji);
    expect(found).toContain(emoji);
    expect(found.length).toBeLessThan(120);
  });

  test('first by the name, and not within a word', () => {
    const found = findEmoji(known('en'), 'fire').map(({ name }) => name);
    expect(found.slice(0, 3)).toEqual(['fire', 'fire engine', 'fireworks']);
    expect(findEmoji(known('en'), 'art').map(({ name }) => name)).not.toContain('red heart');
    expect(findEmoji(known('en'), 'xyzzy')).toEqual([]);
  });
});
