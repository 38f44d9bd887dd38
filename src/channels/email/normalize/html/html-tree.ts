import { Parser } from 'htmlparser2';
import { cleanText } from '../../../../runtime/clean-text.ts';
import { isSeen, type Look, lookOf, PLAIN_LOOK } from './hidden-text.ts';
import { StyleSheets } from './style-sheets.ts';

/**
 * The depth of the tree, which is walked recursively; real mail nests tables about 40 levels deep.
 * Deeper elements are written into the one at this depth, with line breaks around blocks.
 */
const MAX_DEPTH = 400;
/** Links, pictures and emphasis below that depth keep their meaning. */
const MAX_MEANING_DEPTH = MAX_DEPTH + 50;
const MEANING: ReadonlySet<string> = new Set(
  'a area img b strong i em s strike del sup sub'.split(' '),
);
/** More elements that are open at once make the parser slow: it keeps them in an array. */
const MAX_OPEN = 3000;

/** An element with its visible content, without comments, scripts and hidden content. */
export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (HtmlElement | string)[];
}

/** Elements whose text is not content. `head` is not skipped, because some mail never closes it. */
const SKIPPED: ReadonlySet<string> = new Set(
  `script style title template iframe object embed applet svg math select datalist textarea audio
  video canvas noframes xmp`.split(/\s+/),
);

const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside body caption center dd details dialog div dl dt fieldset figcaption figure
  footer form head header html legend main nav search section summary table tbody td tfoot th thead
  ul ol li tr p pre blockquote hr h1 h2 h3 h4 h5 h6`.split(/\s+/),
);

/** Whether the element starts on a new line (HTML §15.3). */
export function isBlock(name: string): boolean {
  return BLOCKS.has(name);
}

class TooDeep extends Error {
  override name = 'TooDeep';
}

/** An element whose end tag has not come yet. */
interface Open {
  /** Where its content is written: itself, or the element at the maximum depth. */
  readonly element: HtmlElement;
  readonly depth: number;
  /** It is not in the tree; a line ends where it ends. */
  readonly breaksLine: boolean;
  readonly look: Look;
  /** A closed `details` shows only its first `summary`. */
  closed: 'before summary' | 'after summary' | undefined;
}

interface Tag {
  readonly name: string;
  readonly attributes: HtmlElement['attributes'];
}
/** A start tag, a text, or the end of an element. */
type Piece = Tag | string | undefined;

/**
 * Parses HTML into a tree of its visible content: what its attributes, its inline styles or the
 * rules of its `style` elements hide is left out (hidden-text.ts). Linear; undefined if more than
 * 3,000 elements are open at once.
 */
export function parseHtml(html: string): HtmlElement | undefined {
  const sheets = new StyleSheets();
  try {
    const root = treeOf(readPieces(html, sheets), sheets);
    cleanTexts(root);
    return root;
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
}

/** The pieces of a document in order. A rule also counts for what is above its `style` element. */
function readPieces(html: string, sheets: StyleSheets): readonly Piece[] {
  const pieces: Piece[] = [];
  let open = 0;
  /** The content of the `style` element that is open; undefined outside. */
  let css: string[] | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        open += 1;
        if (open > MAX_OPEN) throw new TooDeep();
        if (name === 'style' && isForScreens(attributes)) css = [];
        pieces.push({ name, attributes });
      },
      ontext(text) {
        if (css === undefined) pieces.push(text);
        else css.push(text);
      },
      onclosetag(name) {
        open -= 1;
        if (name === 'style' && css !== undefined) sheets.add(css.join(''));
        css = undefined;
        pieces.push(undefined);
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return pieces;
}

/** Whether a `style` element counts in any window, rather than in some or in print. */
function isForScreens({ media = '', type = '' }: HtmlElement['attributes']): boolean {
  return (
    ['', 'all', 'screen'].includes(media.trim().toLowerCase()) &&
    ['', 'text/css'].includes(type.trim().toLowerCase())
  );
}

function treeOf(pieces: readonly Piece[], sheets: StyleSheets): HtmlElement {
  const root: HtmlElement = { name: '', attributes: {}, children: [] };
  const open: Open[] = [
    { element: root, depth: 0, breaksLine: false, look: PLAIN_LOOK, closed: undefined },
  ];
  /** The depth within a skipped element; 0 outside. */
  let skipping = 0;
  for (const piece of pieces) {
    const parent = open[open.length - 1];
    if (parent === undefined) break;
    if (piece === undefined) {
      if (skipping > 0) skipping -= 1;
      else if (open.length > 1 && open.pop()?.breaksLine) breakLine(open[open.length - 1]);
    } else if (skipping > 0) {
      if (typeof piece !== 'string') skipping += 1;
    } else if (typeof piece === 'string') {
      if (parent.closed === undefined && isSeen(parent.look)) addText(parent.element, piece);
    } else {
      const opened = openTag(piece, parent, sheets);
      if (opened === undefined) skipping = 1;
      else open.push(opened);
    }
  }
  return root;
}

/** The element with its look; undefined if it is not shown. */
function openTag({ name, attributes }: Tag, parent: Open, sheets: StyleSheets): Open | undefined {
  if (SKIPPED.has(name) || (parent.closed !== undefined && name !== 'summary')) return undefined;
  if (parent.closed === 'after summary') return undefined;
  if (parent.closed !== undefined) parent.closed = 'after summary';
  const look = lookOf(name, attributes, sheets.declared(name, attributes), parent.look);
  const isPicture = name === 'img' || name === 'area';
  if (look === undefined || (isPicture && look.isInvisible)) return undefined;
  const isClosed = name === 'details' && attributes['open'] === undefined;
  const { element, depth, breaksLine } = place(name, attributes, parent);
  return { element, depth, breaksLine, look, closed: isClosed ? 'before summary' : undefined };
}

function addText(element: HtmlElement, text: string): void {
  const siblings = element.children;
  const last = siblings[siblings.length - 1];
  if (typeof last === 'string') siblings[siblings.length - 1] = last + text;
  else siblings.push(text);
}

/** Adds a visible element to the tree, or only its content if it is too deep. */
function place(
  name: string,
  attributes: HtmlElement['attributes'],
  parent: Open,
): Pick<Open, 'element' | 'depth' | 'breaksLine'> {
  const block = isBlock(name);
  if (parent.depth < (MEANING.has(name) ? MAX_MEANING_DEPTH : MAX_DEPTH)) {
    const element: HtmlElement = { name, attributes, children: [] };
    parent.element.children.push(element);
    return { element, depth: parent.depth + 1, breaksLine: false };
  }
  if (block || name === 'br') breakLine(parent);
  return { element: parent.element, depth: parent.depth, breaksLine: block };
}

function breakLine(open: Open | undefined): void {
  const last = open?.element.children.at(-1);
  if (typeof last !== 'string' && last?.name === 'br') return;
  open?.element.children.push({ name: 'br', attributes: {}, children: [] });
}

/**
 * After entities are decoded and neighbours joined, because a joiner is judged by its neighbours.
 */
function cleanTexts(root: HtmlElement): void {
  const stack = [root];
  for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
    const { children } = element;
    for (const [index, child] of children.entries()) {
      if (typeof child === 'string') children[index] = cleanText(child);
      else stack.push(child);
    }
  }
}

/** The length of the visible text without white space. */
export function visibleLength(root: HtmlElement): number {
  let length = 0;
  const stack: (HtmlElement | string)[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') length += node.replace(/\s+/g, '').length;
    else for (const child of node.children) stack.push(child);
  }
  return length;
}

/**
 * An upper bound for the visible text without white space: the characters outside of tags,
 * comments, styles and scripts. Much cheaper than parsing.
 */
export function textUpperBound(html: string): number {
  /**
   * End marks that do not occur in the rest of the text, so that each is searched for only once.
   */
  const missing = new Set<string>();
  let length = 0;
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    const end = tag === -1 ? html.length : tag;
    for (; at < end; at += 1) if (html.charCodeAt(at) > 0x20) length += 1;
    if (tag === -1) break;
    at = afterTag(html, tag, missing);
  }
  return length;
}

function afterTag(html: string, tag: number, missing: Set<string>): number {
  const opened = 'sStT!'.includes(html.charAt(tag + 1))
    ? /^<(?:style|script|title|!--)/i.exec(html.slice(tag, tag + 8))?.[0].slice(1)
    : undefined;
  const ending = opened === undefined ? '>' : opened === '!--' ? '-->' : `</${opened}`;
  const end = missing.has(ending) ? -1 : html.indexOf(ending, tag + 1);
  if (end === -1) {
    missing.add(ending);
    // The rest may all be visible.
    return tag + 1;
  }
  if (!ending.startsWith('</')) return end + ending.length;
  const bracket = html.indexOf('>', end);
  return bracket === -1 ? html.length : bracket + 1;
}

/**
 * The text between tags, without comments, styles and scripts, for HTML that cannot be parsed
 * within its limits. Each block is a line. Linear.
 */
export function stripTags(html: string): string {
  const lines: string[] = [];
  let line = '';
  const missing = new Set<string>();
  for (let at = 0; at < html.length && !missing.has('>');) {
    const found = html.indexOf('<', at);
    const tag = found === -1 ? html.length : found;
    line += html.slice(at, tag);
    const name = /^<\/?([a-z][a-z0-9]{0,20})/i.exec(html.slice(tag, tag + 24))?.[1]?.toLowerCase();
    if (name === 'br' || (name !== undefined && isBlock(name))) {
      lines.push(line);
      line = '';
    }
    at = tag === html.length ? tag : afterTag(html, tag, missing);
  }
  return [...lines, line]
    .map((each) => decodeEntities(each).replace(/\s+/g, ' ').trim())
    .filter((each) => each !== '')
    .join('\n');
}

/** The text of HTML without tags. */
function decodeEntities(html: string): string {
  if (!html.includes('&')) return html;
  let decoded = '';
  new Parser({ ontext: (text) => void (decoded += text) }).end(html.replaceAll('<', '&lt;'));
  return decoded;
}
