import { ADDRESS, BREAK, link, linkOf, type RichNode, type RichTag, safeUrl } from './plain.ts';

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
 * What is more than a letter, by group: an escaped sign, the backticks of code, emphasis, a link or
 * picture with its words and address, an address in angles, an entity; and addresses and breaks.
 * No part looks past the next bracket, quote or bound, so that all of them together stay linear.
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

/** Something that was opened and waits for its end. */
interface Open {
  readonly marker: string;
  readonly nodes: RichNode[];
}

const NOTHING: Open = { marker: '', nodes: [] };

/**
 * Emphasis, code, links and line breaks of one block of Markdown, in one pass: of each marker at
 * most one is open, so that every node moves up a bounded number of times.
 */
export function parseInline(text: string, isLabel = false): RichNode[] {
  const token = new RegExp(TOKEN, 'gi');
  const stack: Open[] = [{ marker: '', nodes: [] }];
  /** Lengths of backticks of which no more come. */
  const unclosed = new Set<number>();
  let done = 0;
  const push = (...nodes: readonly RichNode[]): void => {
    const top = stack.at(-1)?.nodes;
    for (const node of nodes) if (node !== '') top?.push(node);
  };
  /** What has no end is what it looks like: its marker, and what came after. */
  const unwind = (depth: number): void => {
    while (stack.length > depth) {
      const { marker, nodes } = stack.pop() ?? NOTHING;
      push(marker, ...nodes);
    }
  };

  const code = (ticks: string, start: number): number => {
    if (unclosed.has(ticks.length)) return 0;
    const run = /`+/g;
    run.lastIndex = start + ticks.length;
    for (let found = run.exec(text); found; found = run.exec(text)) {
      if (found[0].length !== ticks.length) continue;
      const inner = text.slice(start + ticks.length, found.index).replaceAll('\n', ' ');
      push({ tag: 'code', children: [/^ .*\S.* $/.test(inner) ? inner.slice(1, -1) : inner] });
      return run.lastIndex - start;
    }
    unclosed.add(ticks.length);
    return 0;
  };

  const emphasis = (found: string, start: number): number => {
    const sign = found.charAt(0);
    const top = stack.at(-1)?.marker ?? '';
    // The three of "***both***" close the inner one first.
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
    // Where nothing was made of it, its first signs are text.
    done += length;
    token.lastIndex = length > 0 ? done : at + (ticks ?? marker ?? ' ').length;
  }
  push(text.slice(done));
  unwind(1);
  return stack[0]?.nodes ?? [];
}
