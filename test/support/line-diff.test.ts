import { describe, expect, test } from '@jest/globals';
import { lineDiff } from './line-diff.ts';

const text = (letters: string) => letters.replace(/(?<=.)(?=.)/gu, '\n');

describe('the difference of two texts', () => {
  test.each([
    ['nothing', 'abc', 'abc', []],
    ['a line that changed', 'abc', 'axc', ['  a', '- b', '+ x', '  c']],
    ['a line that came', 'ac', 'abc', ['  a', '+ b', '  c']],
    ['a line that went', 'abc', 'ac', ['  a', '- b', '  c']],
    [
      'lines far from any change',
      'abcdefg',
      'xbcdefy',
      ['- a', '+ x', '  b', '  …', '  f', '- g', '+ y'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(lineDiff(text(before), text(after), 1)).toEqual(expected);
  });

  test('everything, when there was nothing', () => {
    expect(lineDiff('', 'a')).toEqual(['- ', '+ a']);
  });

  test('two long texts with nothing in common', () => {
    const before = Array.from({ length: 4000 }, (_, line) => `a${line}`).join('\n');
    const after = Array.from({ length: 4000 }, (_, line) => `b${line}`).join('\n');
    expect(lineDiff(before, after)).toHaveLength(8000);
  });
});
