import {
  ADDRESS,
  BREAK,
  link,
  linkOf,
  MAX_LINKED,
  type RichElement,
  type RichNode,
  type RichTag,
  safeUrl,
} from './plain.ts';

const EMPHASIS: Readonly<Record<string, RichTag>> = {
  '**': 'b',
  __: 'b',
  '*': 'i',
  _: 'i',
  '~~': 's',
};
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00a0',
};
/**
 * The tokens of inline Markdown, by group: an escaped character, the backticks of code, emphasis, a
 * link or picture with its text and address, an address in angle brackets, an entity; and addresses
 * and line breaks. No part looks past the next bracket, quote or bound, so that matching takes
 * linear time.
 */
const TOKEN = [
  '\\\\([!-/:-@[-`{-~])',
  '(`+)',
  '(\\*\\*|__|~~|[*_])',
  '!?\\[([^[\\]]{0,1000})\\]\\(\\s?<?([^\\s()<>[\\]]{0,2000}(?:\\([^\\s()<>[\\]]{0,99}\\)[^\\s()<>[\\]]{0,999})?)>?(?:\\s"[^"\\n]{0,200}")?\\)',
  '<((?:https?:|mailto:|tel:)[^\\s<>]{1,2000})>',
  '&(amp|lt|gt|quot|nbsp);',
  '<br\\s?/?>|\\n',
  ADDRESS,
].join('|');

const isSpace = (char: string): boolean => /^\s?$/.test(char);
const isWord = (char: string): boolean => /[\p{L}\p{N}]/u.test(char);

/** An opened element that is not closed yet. */
interface Open {
  readonly marker: string;
  readonly nodes: RichNode[];
}

const NOTHING: Open = { marker: '', nodes: [] };

/**
 * Parses emphasis, code, links and line breaks of one block of Markdown, in one pass. Each marker
 * is open at most once, so that every node is moved a bounded number of times.
 */
export function parseInline(text: string, isLabel = false): RichNode[] {
  if (text.length > MAX_LINKED) return [text];
  const token = new RegExp(TOKEN, 'gi');
  const stack: Open[] = [{ marker: '', nodes: [] }];
  /** Lengths of backtick runs that have no closing run. */
  const unclosed = new Set<number>();
  let done = 0;
  const push = (...nodes: readonly RichNode[]): void => {
    const top = stack.at(-1)?.nodes;
    for (const node of nodes) if (node !== '') top?.push(node);
  };
  /** Elements without an end become text: their marker, and what follows it. */
  const unwind = (depth: number): void => {
    while (stack.length > depth) {
      const { marker, nodes } = stack.pop() ?? NOTHING;
      push(marker, ...nodes);
    }
  };

  const code = (ticks: string, start: number): number => {
    const span = unclosed.has(ticks.length) ? undefined : codeSpan(text, ticks, start);
    if (span === undefined) {
      unclosed.add(ticks.length);
      return 0;
    }
    push(span.node);
    return span.length;
  };

  const emphasis = (found: string, start: number): number => {
    const sign = found.charAt(0);
    const top = stack.at(-1)?.marker ?? '';
    // In "***both***" the closing run ends the inner element first.
    const marker = top === sign && text.charAt(start + 2) === sign ? sign : found;
    const before = text.charAt(start - 1);
    const after = text.charAt(start + marker.length);
    const depth = stack.findIndex((open) => open.marker === marker);
    if (sign === '_' && isWord(before) && isWord(after)) return 0;
    if (depth > 0 && !isSpace(before)) {
      unwind(depth + 1);
      const { nodes } = stack.pop() ?? NOTHING;
      push({ tag: EMPHASIS[marker] ?? 'i', children: nodes });
    } else if (depth < 0 && !isSpace(after)) {
      stack.push({ marker, nodes: [] });
    } else return 0;
    return marker.length;
  };

  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [all, escaped, ticks, marker, label, target = '', angled, entity] = found;
    const at = found.index;
    push(text.slice(done, at));
    done = at;
    let length = all.length;
    if (escaped !== undefined) push(escaped);
    else if (ticks !== undefined) length = code(ticks, at);
    else if (marker !== undefined) length = emphasis(marker, at);
    else if (label !== undefined) {
      const href = safeUrl(target);
      const children = parseInline(label || target, true);
      push(...(href === undefined ? children : [{ tag: 'a', href, children } as const]));
    } else if (angled !== undefined) push(link(angled, angled));
    else if (entity !== undefined) push(ENTITIES[entity.toLowerCase()] ?? all);
    else if (/^[<\n]/.test(all)) push(BREAK);
    else if (isLabel) push(all);
    else {
      const { node, length: shown } = linkOf(all);
      push(node);
      length = shown;
    }
    // A token without a meaning here is text.
    done += length;
    token.lastIndex = length > 0 ? done : at + (ticks ?? marker ?? ' ').length;
  }
  push(text.slice(done));
  unwind(1);
  return stack[0]?.nodes ?? [];
}

/** The code span whose backticks begin at `start`; undefined when they are not closed. */
function codeSpan(
  text: string,
  ticks: string,
  start: number,
): { readonly node: RichElement; readonly length: number } | undefined {
  const run = /`+/g;
  run.lastIndex = start + ticks.length;
  for (let found = run.exec(text); found; found = run.exec(text)) {
    if (found[0].length !== ticks.length) continue;
    const inner = text.slice(start + ticks.length, found.index).replaceAll('\n', ' ');
    const content = /^ .* $/.test(inner) && inner.trim() ? inner.slice(1, -1) : inner;
    return { node: { tag: 'code', children: [content] }, length: run.lastIndex - start };
  }
  return undefined;
}
