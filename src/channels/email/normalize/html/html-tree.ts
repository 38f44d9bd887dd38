import {
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  html as standard,
  parse,
  parseFragment,
} from 'parse5';
import { cleanText } from '../../../../runtime/clean-text.ts';
import { isSeen, type Look, lookInTable, lookOf, PLAIN_LOOK } from './hidden-text.ts';
import { shownValue } from './form-controls.ts';
import { isElsewhere, StyleSheets } from './style-sheets.ts';

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
/** A browser opens `b` and the like again in each paragraph, so a few tags can make many elements. */
const MAX_ELEMENTS = 50_000;

/** An element with its visible content, without comments, scripts and hidden content. */
export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (HtmlElement | string)[];
}

/** Elements whose text is not content. */
const SKIPPED: ReadonlySet<string> = new Set(
  `script style title template iframe object embed math datalist audio video noembed noframes`.split(
    /\s+/,
  ),
);
/** Elements within a drawing that are not drawn where they stand (SVG 2 §5 and §14). */
const UNDRAWN: ReadonlySet<string> = new Set(
  'defs desc metadata symbol clipPath mask marker pattern'.split(' '),
);
/** Of a drawing, only the text of these is seen. */
const DRAWN_TEXT: ReadonlySet<string> = new Set(['text', 'foreignObject']);

const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside body caption center dd details dialog div dl dt fieldset figcaption figure
  footer form head header html legend main nav search section summary table tbody td tfoot th thead
  ul ol li tr p pre listing plaintext xmp blockquote hr h1 h2 h3 h4 h5 h6`.split(/\s+/),
);

/** Whether the element starts on a new line (HTML §15.3). */
export function isBlock(name: string): boolean {
  return BLOCKS.has(name);
}

/** Elements whose content is shown like that of another one. */
const WRITTEN_AS: ReadonlyMap<string, string> = new Map([
  ['textarea', 'pre'],
  ['text', 'div'],
]);

type Node = DefaultTreeAdapterTypes.Node;
type ParentNode = DefaultTreeAdapterTypes.ParentNode;
type Element = DefaultTreeAdapterTypes.Element;

interface Place {
  /** Where an element's content is written: itself, or the element at the maximum depth. */
  readonly element: HtmlElement;
  readonly depth: number;
  /** It is not in the tree; a line ends where it ends. */
  readonly breaksLine: boolean;
}
/** An element whose content is being read. */
interface Open extends Place {
  readonly nodes: Iterator<Node, undefined>;
  readonly look: Look;
  readonly isInLink: boolean;
  /** Within a drawing, outside of its texts. */
  readonly isDrawing: boolean;
  /** A closed `details` shows only its first `summary`. */
  closed: 'before summary' | 'after summary' | undefined;
}

class TooManyElements extends Error {
  override name = 'TooManyElements';
}

/**
 * Parses HTML as a browser does into a tree of its visible content: what its attributes, its inline
 * styles or the rules of its `style` elements hide is left out (hidden-text.ts). Linear; undefined
 * for more than 50,000 elements.
 */
export function parseHtml(html: string): HtmlElement | undefined {
  let elements = 0;
  try {
    const document = parse(html, {
      scriptingEnabled: false,
      sourceCodeLocationInfo: true,
      treeAdapter: {
        ...defaultTreeAdapter,
        // A `table` ends a paragraph, as it does in the pages of mail programs.
        getDocumentMode: () => standard.DOCUMENT_MODE.NO_QUIRKS,
        createElement(name, namespace, attributes) {
          elements += 1;
          if (elements > MAX_ELEMENTS) throw new TooManyElements();
          return defaultTreeAdapter.createElement(name, namespace, attributes);
        },
      },
    });
    const root = treeOf(document);
    cleanTexts(root);
    return root;
  } catch (error) {
    if (error instanceof TooManyElements) return undefined;
    throw error;
  }
}

/** The rules of a document. A rule also counts for what is above its `style` element. */
function sheetsOf(document: ParentNode): StyleSheets {
  const sheets = new StyleSheets();
  const stack: Node[] = [document];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!('childNodes' in node)) continue;
    if (node.nodeName === 'style' && 'attrs' in node) {
      const attributes = attributesOf(node);
      const css = node.childNodes.map((child) => ('value' in child ? child.value : ''));
      if (isRead(attributes)) sheets.add(css.join(''), isConditional(attributes));
    } else {
      for (const child of node.childNodes.toReversed()) stack.push(child);
    }
  }
  return sheets;
}

const attributesOf = ({ attrs }: Element): HtmlElement['attributes'] =>
  Object.fromEntries(attrs.map(({ name, value }) => [name, value]));

/** Whether a `style` element is CSS that can count here. */
function isRead({ media = '', type = '' }: HtmlElement['attributes']): boolean {
  return !isElsewhere(media) && ['', 'text/css'].includes(type.trim().toLowerCase());
}

/** Whether it counts only in some windows. */
function isConditional({ media = '' }: HtmlElement['attributes']): boolean {
  return !['', 'all', 'screen'].includes(media.trim().toLowerCase());
}

function treeOf(document: DefaultTreeAdapterTypes.Document): HtmlElement {
  const root: HtmlElement = { name: '', attributes: {}, children: [] };
  const top = {
    element: root,
    depth: 0,
    breaksLine: false,
    look: PLAIN_LOOK,
    isInLink: false,
    isDrawing: false,
  };
  const open: Open[] = [{ ...top, nodes: document.childNodes.values(), closed: undefined }];
  const opener = new Opener(document);
  for (let parent = open.at(-1); parent !== undefined; parent = open.at(-1)) {
    const node = parent.nodes.next().value;
    if (node === undefined) {
      open.pop();
      if (parent.breaksLine) breakLine(open.at(-1));
    } else if ('value' in node) {
      const isText = parent.closed === undefined && !parent.isDrawing;
      if (isText && isSeen(parent.look)) addText(parent.element, node.value);
    } else if ('attrs' in node) {
      const opened = opener.open(node, parent);
      if (opened !== undefined) open.push(opened);
    }
  }
  return root;
}

/** Writes the elements of a document into the tree, with their looks. */
class Opener {
  readonly #sheets: StyleSheets;
  readonly #isQuirky: boolean;
  /** Links that are without an end tag, or around what is, by where in the HTML another tag ended it. */
  readonly #cutLinks = new Map<number | undefined, HtmlElement>();

  constructor(document: DefaultTreeAdapterTypes.Document) {
    this.#sheets = sheetsOf(document);
    this.#isQuirky = document.mode === standard.DOCUMENT_MODE.QUIRKS;
  }

  /** The element in the tree; undefined if it is not shown. */
  open(node: Element, parent: Open): Open | undefined {
    const { tagName: name, sourceCodeLocation: source } = node;
    if (SKIPPED.has(name) || (parent.closed !== undefined && name !== 'summary')) return undefined;
    if (parent.closed === 'after summary') return undefined;
    const isSvg = node.namespaceURI === standard.NS.SVG;
    if (isSvg && (UNDRAWN.has(name) || (name === 'text' && isAboveEdge(node)))) return undefined;
    if (parent.closed !== undefined) parent.closed = 'after summary';
    const attributes = attributesOf(node);
    const inherited = this.#isQuirky && name === 'table' ? lookInTable(parent.look) : parent.look;
    const look = lookOf(name, attributes, this.#sheets.declared(name, attributes), inherited);
    const isPicture = name === 'img' || name === 'area';
    if (look === undefined || (isPicture && (look.isInvisible || look.isAway))) return undefined;
    const value = shownValue(node);
    if (value !== undefined) {
      if (isSeen(look)) addText(parent.element, value);
      return undefined;
    }
    const link = parent.isInLink ? undefined : this.#emptyLink(source?.startOffset);
    const around = link === undefined ? parent : place('a', link.attributes, parent);
    const placed = place(WRITTEN_AS.get(name) ?? name, attributes, around);
    const cut = name === 'a' ? placed : link === undefined ? undefined : around;
    if (cut !== undefined && source?.endTag === undefined)
      this.#cutLinks.set(source?.endOffset, cut.element);
    const isClosed = name === 'details' && attributes['open'] === undefined;
    return {
      nodes: node.childNodes.values(),
      ...placed,
      look,
      isInLink: parent.isInLink || name === 'a' || link !== undefined,
      isDrawing: isSvg
        ? !DRAWN_TEXT.has(name) && (name === 'svg' || parent.isDrawing)
        : parent.isDrawing,
      closed: isClosed ? 'before summary' : undefined,
    };
  }

  /** The link that an element at this place ended before the first word; the element is its content. */
  #emptyLink(offset: number | undefined): HtmlElement | undefined {
    const link = offset === undefined ? undefined : this.#cutLinks.get(offset);
    return link !== undefined && visibleLength(link) === 0 ? link : undefined;
  }
}

/** What can move a text or the upper edge of its drawing. */
const MOVING = /^(?:y|dy|transform|style|class|id|overflow|\S*baseline)$/;
const MAX_AROUND = 20;

/**
 * Whether nothing moves the text of a drawing: its baseline is the upper edge, above which nothing
 * shows. Drawing programs place a `tspan` in it or the group around it.
 */
function isAboveEdge(text: Element): boolean {
  const around: DefaultTreeAdapterTypes.ParentNode[] = [];
  let outer: DefaultTreeAdapterTypes.ParentNode | null = text;
  while (outer !== null && 'attrs' in outer && around.length < MAX_AROUND) {
    around.push(outer);
    outer = outer.tagName === 'svg' ? null : outer.parentNode;
  }
  const inner = text.childNodes.slice(0, MAX_AROUND);
  return ![...around, ...inner].some((node) => 'attrs' in node && node.attrs.some(moves));
}

const moves = ({ name, value }: Element['attrs'][number]): boolean =>
  MOVING.test(name) || (name === 'viewBox' && value.includes('-'));

function addText(element: HtmlElement, text: string): void {
  const siblings = element.children;
  const last = siblings[siblings.length - 1];
  if (typeof last === 'string') siblings[siblings.length - 1] = last + text;
  else siblings.push(text);
}

/** Adds a visible element to the tree, or only its content if it is too deep. */
function place(name: string, attributes: HtmlElement['attributes'], parent: Place): Place {
  const block = isBlock(name);
  if (parent.depth < (MEANING.has(name) ? MAX_MEANING_DEPTH : MAX_DEPTH)) {
    const element: HtmlElement = { name, attributes, children: [] };
    parent.element.children.push(element);
    return { element, depth: parent.depth + 1, breaksLine: false };
  }
  if (block || name === 'br') breakLine(parent);
  return { element: parent.element, depth: parent.depth, breaksLine: block };
}

function breakLine(open: Place | undefined): void {
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
 * An upper bound for the visible text without white space, the values of fields aside: the
 * characters outside of tags, comments, styles and scripts. Much cheaper than parsing.
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

const COMMENT_END = /--!?>/g;

function indexOfEnding(html: string, ending: string, from: number): number {
  if (ending !== '-->') return html.indexOf(ending, from);
  COMMENT_END.lastIndex = from;
  return COMMENT_END.exec(html)?.index ?? -1;
}

function afterTag(html: string, tag: number, missing: Set<string>): number {
  const opened = 'sStT!'.includes(html.charAt(tag + 1))
    ? /^<(?:style|script|title|!--)/i.exec(html.slice(tag, tag + 8))?.[0].slice(1)
    : undefined;
  const ending = opened === undefined ? '>' : opened === '!--' ? '-->' : `</${opened}`;
  const end = missing.has(ending) ? -1 : indexOfEnding(html, ending, tag + 1);
  if (end === -1) {
    missing.add(ending);
    // The rest may all be visible.
    return tag + 1;
  }
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
  const [text] = parseFragment(html.replaceAll('<', '&lt;')).childNodes;
  return text !== undefined && 'value' in text ? text.value : '';
}
