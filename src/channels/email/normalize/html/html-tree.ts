import { Parser } from 'htmlparser2';
import { cleanText } from '../../../../runtime/clean-text.ts';

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
  readonly zeroFont: boolean;
  readonly invisible: boolean;
}

/**
 * Parses HTML into a tree of its visible content: elements hidden by their inline style
 * (display:none, visibility:hidden, opacity:0, font-size:0, a box without height) or by `hidden`
 * are left out with their content. Linear; undefined if more than 3,000 elements are open at once.
 */
export function parseHtml(html: string): HtmlElement | undefined {
  const root: HtmlElement = { name: '', attributes: {}, children: [] };
  const open: Open[] = [
    { element: root, depth: 0, breaksLine: false, zeroFont: false, invisible: false },
  ];
  /** The depth within a skipped element; 0 outside. */
  let skipping = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (skipping > 0) {
          skipping += 1;
          if (skipping + open.length > MAX_OPEN) throw new TooDeep();
          return;
        }
        const parent = open[open.length - 1];
        if (parent === undefined) return;
        const seen = visibility(attributes, parent.zeroFont);
        const isPicture = name === 'img' || name === 'area';
        const isUnseen = isPicture && (seen.invisible ?? parent.invisible);
        if (seen.gone || isUnseen || SKIPPED.has(name)) {
          skipping = 1;
          return;
        }
        if (open.length > MAX_OPEN) throw new TooDeep();
        open.push({
          ...place(name, attributes, parent),
          zeroFont: seen.zeroFont ?? parent.zeroFont,
          invisible: seen.invisible ?? parent.invisible,
        });
      },
      ontext(text) {
        const parent = open[open.length - 1];
        if (skipping > 0 || parent === undefined || parent.zeroFont || parent.invisible) return;
        const siblings = parent.element.children;
        const last = siblings[siblings.length - 1];
        if (typeof last === 'string') siblings[siblings.length - 1] = last + text;
        else siblings.push(text);
      },
      onclosetag() {
        if (skipping > 0) skipping -= 1;
        else if (open.length > 1 && open.pop()?.breaksLine) breakLine(open[open.length - 1]);
      },
    },
    { decodeEntities: true },
  );
  try {
    parser.end(html);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
  cleanTexts(root);
  return root;
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

/** What an element's inline style says about its visibility. */
interface Visibility {
  /** Nothing inside can be visible, whatever its own style. */
  readonly gone: boolean;
  /** Inherited, but descendants can override it: newsletters set `font-size:0` on every cell. */
  readonly zeroFont?: boolean;
  readonly invisible?: boolean;
}

/** Declarations that can hide an element; a style without any of them is not parsed. */
const MAY_HIDE = /display|visibility|opacity|overflow|font(?:-size)?\s*:\s*[+.]?0/i;
/** A style that may disguise such a declaration with comments or escapes. */
const DISGUISED = /\/\*|\\/;

/** @param inZeroFont whether an ancestor's font size is zero: a size here shows the text again */
function visibility(attributes: Readonly<Record<string, string>>, inZeroFont: boolean): Visibility {
  const style = attributes['style'];
  if (attributes['hidden'] !== undefined) return { gone: true };
  if (style === undefined) return { gone: false };
  if (!inZeroFont && !MAY_HIDE.test(style) && !DISGUISED.test(style)) return { gone: false };
  const declared = styleOf(style);
  const overflowHidden = declared.get('overflow') === 'hidden';
  const flat = isZero(declared.get('max-height')) || isZero(declared.get('height'));
  if (
    declared.get('display') === 'none' ||
    isZero(declared.get('opacity')) ||
    (overflowHidden && flat)
  ) {
    return { gone: true };
  }
  const font = declared.get('font-size') ?? shorthandSize(declared.get('font'));
  const visible = declared.get('visibility');
  return {
    gone: false,
    ...(font !== undefined && !isRelative(font) && { zeroFont: isZero(font) }),
    ...(visible !== undefined && { invisible: visible === 'hidden' || visible === 'collapse' }),
  };
}

/**
 * The declarations of an inline style, with names and values in lower case; the last one counts,
 * or the last one that is important (CSS Cascade §6.1).
 */
export function styleOf(style: string): ReadonlyMap<string, string> {
  const declared = new Map<string, string>();
  const important = new Set<string>();
  for (const part of plainStyle(style).toLowerCase().split(';')) {
    const colon = part.indexOf(':');
    if (colon === -1) continue;
    const name = part.slice(0, colon).trim();
    const [value = '', mark] = part.slice(colon + 1).split('!', 2);
    const isImportant = mark?.trim() === 'important';
    if (important.has(name) && !isImportant) continue;
    if (isImportant) important.add(name);
    declared.set(name, value.trim());
  }
  return declared;
}

/** Removes comments and escapes (CSS Syntax §4.3.2, §4.3.7), which a browser ignores. */
function plainStyle(style: string): string {
  if (!DISGUISED.test(style)) return style;
  const [first = '', ...others] = style.split('/*');
  const pieces = others.map((piece) => {
    const end = piece.indexOf('*/');
    return end === -1 ? '' : piece.slice(end + 2);
  });
  return [first, ...pieces]
    .join(' ')
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, code: string) => {
      const point = Number.parseInt(code, 16);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '';
    })
    .replaceAll('\\', '');
}

/** Whether a length is relative to the parent's; relative to zero, it stays zero. */
function isRelative(length: string): boolean {
  return /(?:%|(?<!r)em|ex|ch|larger|smaller|inherit)$/.test(length) && !isZero(length);
}

function isZero(value: string | undefined): boolean {
  return (
    value !== undefined &&
    /^[+-]?0{1,10}(?:\.0{0,10})?(?:[a-z]{1,4}|%)?$|^\.0{1,10}(?:[a-z]{1,4}|%)?$/.test(value)
  );
}

/** `font: 0/0 a`: newsletters use this to hide their preview text. */
function shorthandSize(font: string | undefined): string | undefined {
  return font === undefined ? undefined : /^([+.]?0[a-z0-9.%]{0,10})[\s/]/.exec(font)?.[1];
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
