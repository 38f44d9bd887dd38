import { parseInline } from './inline.ts';
import type { RichElement, RichNode } from './plain.ts';

/** How deep quotes and lists may be nested; deeper ones are text. */
const MAX_DEPTH = 5;

const FENCE = /^ {0,3}(`{3,}|~{3,})(?:[^`~][^`]*)?$/;
const HEADING = /^ {0,3}#{1,6}\s+(\S.*)$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,8})(?:[-*+•]|(\d{1,9})[.)])(?:[ \t]+|$)/;
const BLANK = /^[ \t]*$/;
/** A longer line is text, so that no pattern has to be matched against it. */
const MAX_MARKED_LINE = 20_000;

/** Parses Markdown as people and language models write it in a chat: line breaks are kept. */
export function parseMarkdown(text: string): RichNode[] {
  const lines = text.replace(/\r\n?/g, '\n').replaceAll('\t', '    ').split('\n');
  return blocks(lines, 0);
}

function blocks(lines: readonly string[], depth: number): RichNode[] {
  const nodes: RichNode[] = [];
  let paragraph: string[] = [];
  const flush = (): void => {
    if (paragraph.length > 0)
      nodes.push({ tag: 'p', children: parseInline(paragraph.join('\n').trim()) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const block = BLANK.test(line) ? undefined : blockAt(lines, at, depth, paragraph.length > 0);
    if (block) {
      flush();
      nodes.push(block.node);
      at = block.next;
    } else {
      if (BLANK.test(line)) flush();
      else paragraph.push(line);
      at += 1;
    }
  }
  flush();
  return nodes;
}

interface Block {
  readonly node: RichElement;
  /** The index of the first line after the block. */
  readonly next: number;
}

function blockAt(
  lines: readonly string[],
  at: number,
  depth: number,
  inParagraph: boolean,
): Block | undefined {
  const line = lines[at] ?? '';
  if (line.length > MAX_MARKED_LINE) return undefined;
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return codeBlock(lines, at, fence);
  const heading = HEADING.exec(line)?.[1];
  if (heading !== undefined)
    return { node: { tag: 'h', children: parseInline(withoutHashes(heading)) }, next: at + 1 };
  if (line.includes('|') && isTable(lines[at + 1])) return table(lines, at);
  if (RULE.test(line)) return { node: { tag: 'hr', children: [] }, next: at + 1 };
  if (depth >= MAX_DEPTH) return undefined;
  if (QUOTE.test(line)) return quote(lines, at, depth);
  const item = ITEM.exec(line);
  // "1986. What a year" within a paragraph is not a list.
  if (item && !(inParagraph && item[2] !== undefined && item[2] !== '1'))
    return list(lines, at, depth, item[2]);
  return undefined;
}

/** Whether a line looks like a table's delimiter row (GitHub Flavored Markdown §4.10). */
const isTable = (line = ''): boolean =>
  /^[ |:-]+$/.test(line) && line.includes('|') && line.includes('-');

/** The table extends as far as lines contain a bar. */
function table(lines: readonly string[], at: number): Block {
  let next = at;
  while (lines[next]?.includes('|')) next += 1;
  const children = lines.slice(at, next).map((line, nth): RichElement => {
    const cells = line
      .trim()
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|/);
    const cell = (text: string): RichElement => ({
      tag: nth === 0 ? 'th' : 'td',
      children: parseInline(text.trim()),
    });
    return { tag: 'tr', children: cells.map(cell) };
  });
  children.splice(1, 1);
  return { node: { tag: 'table', children }, next };
}

const withoutHashes = (heading: string): string => {
  const text = heading.trimEnd();
  let end = text.length;
  while (text.charAt(end - 1) === '#') end -= 1;
  return end < text.length && (end === 0 || text.charAt(end - 1) === ' ')
    ? text.slice(0, end).trimEnd()
    : text;
};

/** A block without an end extends to the end of the text, which may have been cut off. */
function codeBlock(lines: readonly string[], at: number, fence: string): Block {
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] ?? '', fence)) end += 1;
  const text = lines.slice(at + 1, end).join('\n');
  return { node: { tag: 'pre', children: [text] }, next: end + 1 };
}

const closes = (line: string, fence: string): boolean => {
  const text = line.trim();
  return text.startsWith(fence) && text === fence.charAt(0).repeat(text.length);
};

function quote(lines: readonly string[], at: number, depth: number): Block {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? '')) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ''));
  return { node: { tag: 'blockquote', children: blocks(inner, depth + 1) }, next: end };
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** A list of items of one kind; indented lines belong to the item above them. */
function list(lines: readonly string[], first: number, depth: number, start?: string): Block {
  const base = indentOf(lines[first] ?? '');
  const items: RichElement[] = [];
  let at = first;
  while (at < lines.length) {
    const marker = ITEM.exec(lines[at] ?? '');
    const fits = marker && (marker[2] !== undefined) === (start !== undefined);
    if (!fits || RULE.test(lines[at] ?? '') || Math.abs(indentOf(lines[at] ?? '') - base) > 1)
      break;
    const width = marker[0].length;
    const inner = [(lines[at] ?? '').slice(width)];
    at += 1;
    while (at < lines.length && belongs(lines, at, base)) {
      const line = lines[at] ?? '';
      inner.push(line.slice(Math.min(width, indentOf(line))));
      at += 1;
    }
    items.push({ tag: 'li', children: tight(blocks(inner, depth + 1)) });
    at = nextItem(lines, at);
  }
  const children = items;
  return start === undefined
    ? { node: { tag: 'ul', children }, next: at }
    : { node: { tag: 'ol', start: Number(start), children }, next: at };
}

/** Whether a line continues the item above it. */
function belongs(lines: readonly string[], at: number, base: number): boolean {
  const line = lines[at] ?? '';
  if (BLANK.test(line)) {
    const next = lines[at + 1] ?? '';
    return !BLANK.test(next) && indentOf(next) > base + 1;
  }
  if (indentOf(line) > base + 1) return true;
  // A lazy continuation line of the item's paragraph, unless it starts another block.
  const follows = !BLANK.test(lines[at - 1] ?? '');
  return follows && ![ITEM, FENCE, HEADING, RULE, QUOTE].some((pattern) => pattern.test(line));
}

/** A single blank line between two items does not end the list. */
const nextItem = (lines: readonly string[], at: number): number =>
  BLANK.test(lines[at] ?? '') && ITEM.test(lines[at + 1] ?? '') ? at + 1 : at;

/** Unwraps an item's first paragraph, which needs no space around it. */
const tight = (children: readonly RichNode[]): readonly RichNode[] =>
  children.flatMap((child, i) =>
    i === 0 && typeof child !== 'string' && child.tag === 'p' ? child.children : [child],
  );
