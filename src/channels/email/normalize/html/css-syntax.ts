/** The parts of CSS Syntax Level 3 that mail needs; every function is linear in the length of the CSS. */

/** A comment, the marks around an old style sheet, a string, an unquoted URL, an escape. */
const NOT_PLAIN =
  /\/\*[^]*?(?:\*\/|$)|<!--|-->|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|(?<![\w-])url\(\s*[^"'\s)](?:[^)\\]|\\[^])*\)?|\\([0-9a-f]{1,6})(?:\r\n|\s)?|\\[^\n]?/gi;

/**
 * The same CSS without comments, strings and escapes: every bracket and semicolon that is left is
 * structure (CSS Syntax §4.3). An escaped character that is no part of a name becomes U+FFFD.
 */
export function plainCss(css: string): string {
  return css.replace(NOT_PLAIN, (found, hex: string | undefined) => {
    if (found.startsWith('"') || found.startsWith("'")) return '""';
    if (!found.startsWith('\\')) return /^url/i.test(found) ? 'url()' : ' ';
    const code = hex === undefined ? found.codePointAt(1) : Number.parseInt(hex, 16);
    const character = code === undefined || code > 0x10ffff ? '' : String.fromCodePoint(code);
    return /^[\w\u0080-\u{10ffff}-]$/u.test(character) ? character : '\ufffd';
  });
}

/** Selectors with a block in braces, an at-rule, or a declaration. */
interface Statement {
  readonly head: string;
  readonly block?: string;
}

const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/**
 * Splits plain CSS after each block, and at semicolons outside of brackets; between the rules of a
 * sheet, a semicolon ends only an at-rule (CSS Syntax §5.5).
 */
export function* statements(css: string, isSheet: boolean): Generator<Statement> {
  if (!isSheet && !/[()[\]{}]/.test(css)) {
    for (const head of css.split(';')) yield { head };
    return;
  }
  const closers: string[] = [];
  let start = 0;
  let brace = -1;
  let isAtRule: boolean | undefined;
  for (const { 0: mark, index } of css.matchAll(/[()[\]{};]/g)) {
    const closer = CLOSERS.get(mark);
    if (closer !== undefined) {
      if (closers.length === 0 && mark === '{') brace = index;
      closers.push(closer);
      continue;
    }
    const isClosed = mark === closers.at(-1);
    if (isClosed) closers.pop();
    if (closers.length > 0) continue;
    if (isClosed && mark === '}') {
      yield { head: css.slice(start, brace), block: css.slice(brace + 1, index) };
    } else if (mark === ';' && (!isSheet || (isAtRule ??= /^\s*@/.test(css.slice(start, index))))) {
      yield { head: css.slice(start, index) };
    } else {
      continue;
    }
    start = index + 1;
    isAtRule = undefined;
  }
  if (brace < start) yield { head: css.slice(start) };
  else yield { head: css.slice(start, brace), block: css.slice(brace + 1) };
}

interface Declaration {
  readonly name: string;
  /** In lower case, with single spaces. */
  readonly value: string;
  readonly isImportant: boolean;
}

/** The declarations of a style attribute or of a rule's block; nested rules are left out. */
export function* declarations(plain: string): Generator<Declaration> {
  for (const { head, block } of statements(plain.toLowerCase(), false)) {
    const colon = head.indexOf(':');
    if (block !== undefined || colon === -1) continue;
    const [value = '', mark, ...others] = head.slice(colon + 1).split('!');
    if (others.length > 0 || (mark !== undefined && mark.trim() !== 'important')) continue;
    yield {
      name: head.slice(0, colon).trim(),
      value: value.trim().replace(/\s+/g, ' '),
      isImportant: mark !== undefined,
    };
  }
}

/**
 * The declarations of a style attribute; the last one counts, or the last one that is important
 * (CSS Cascade §6.1).
 */
export function styleOf(style: string): ReadonlyMap<string, string> {
  const declared = new Map<string, string>();
  const important = new Set<string>();
  for (const { name, value, isImportant } of declarations(plainCss(style))) {
    if (important.has(name) && !isImportant) continue;
    if (isImportant) important.add(name);
    declared.set(name, value);
  }
  return declared;
}
