/**
 * `text` without the characters at its end that belong to a class. A pattern such as `/[.\s]+$/` takes
 * quadratic time on a text with many of them inside.
 * @param trimmed matches a character, without flags that keep a state
 */
export function withoutEnd(text: string, trimmed: RegExp): string {
  let end = text.length;
  while (end > 0) {
    const start = end - (isLowSurrogate(text.charCodeAt(end - 1)) && end > 1 ? 2 : 1);
    if (!trimmed.test(text.slice(start, end))) break;
    end = start;
  }
  return text.slice(0, end);
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
