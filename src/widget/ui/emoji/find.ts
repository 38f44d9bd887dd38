/** An emoji, and the words that it is found by. */
export interface Known {
  readonly emoji: string;
  readonly name: string;
  /** Name and further words, folded, each after a space. */
  readonly words: string;
}

/** @param text a line for each: the emoji, its name and further words, with tabs between them */
export function readWords(text: string): readonly Known[] {
  return text.split('\n').map((line) => {
    const [emoji = '', name = '', more = ''] = line.split('\t');
    return { emoji, name, words: folded(` ${name} ${more}`) };
  });
}

/**
 * Those of which each word of the query begins a word; in languages without spaces, is in one.
 * In the given order, those first whose name is just this or begins so.
 */
export function findEmoji(all: readonly Known[], query: string): readonly Known[] {
  const asked = folded(query).trim();
  const parts = asked.split(/\s+/).map((word) => (UNSPACED.test(word) ? word : ` ${word}`));
  const found = all.filter(({ words }) => parts.every((part) => words.includes(part)));
  const rankOf = ({ name, words }: Known): number => {
    if (folded(name) === asked) return 0;
    return words.startsWith(` ${asked}`) ? 1 : 2;
  };
  return found.toSorted((one, other) => rankOf(one) - rankOf(other));
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Letters that have no accent to Unicode. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ł: 'l', ø: 'o', đ: 'd', ı: 'i', æ: 'ae', œ: 'oe', ß: 'ss' },
};

/** Without case and accents. */
const folded = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[łøđıæœß]/g, (letter) => PLAIN[letter] ?? letter)
    // The words are written in either of the two Japanese alphabets: as katakana.
    .replaceAll(/[\u3041-\u3096]/g, (kana) =>
      String.fromCodePoint((kana.codePointAt(0) ?? 0) + 0x60),
    );
