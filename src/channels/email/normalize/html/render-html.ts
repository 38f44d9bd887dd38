import { styleOf } from './css-syntax.ts';
import { type HtmlElement, isBlock } from './html-tree.ts';
import { cleanText } from '../../../../runtime/clean-text.ts';
import { type InlineImage, readImage } from '../parts/attached-files.ts';
import { LineWriter } from './line-writer.ts';
import type { Line } from '../quotes/lines.ts';
import { hasWords, isContent, isSpacer } from './pictures.ts';
import { isIndented, quoteMark, startsSignature } from './quote-marks.ts';

interface RenderOptions {
  readonly format: 'TEXT' | 'MARKDOWN';
  /** An image that the HTML refers to by its Content-ID; undefined if unknown. */
  inlineImage(contentId: string): InlineImage | undefined;
}

/**
 * Renders the visible part of an HTML body as lines of Markdown or plain text. Only known
 * constructs are written: links to the web, to mail and telephones, but no remote images and no raw
 * HTML. The recursion is limited by the depth of the tree, which `parseHtml` bounds.
 *
 * No library is used, because those that were tried do not scale: node-html-markdown takes 25 s for
 * 40,000 table rows and minutes for nested divs, turndown twice as long as parsing the whole
 * message.
 */
export function renderHtml(root: HtmlElement, options: RenderOptions): readonly Line[] {
  const writer = new LineWriter(options.format);
  new Renderer(writer, options).children(root);
  return writer.finish();
}

class Renderer {
  readonly #out: LineWriter;
  readonly #options: RenderOptions;
  /** The link around: without words, its address would be lost with a picture. */
  #inLink: 'with words' | 'without words' | undefined;
  /** Within a row of cells that are written on one line. */
  #inRow = false;
  #list: { readonly ordered: boolean; next: number } | undefined;

  constructor(out: LineWriter, options: RenderOptions) {
    this.#out = out;
    this.#options = options;
  }

  children(element: HtmlElement): void {
    for (const child of element.children) {
      if (typeof child === 'string') this.#out.text(child);
      else this.#marked(child);
    }
  }

  #marked(element: HtmlElement): void {
    const mark = quoteMark(element);
    if (mark === undefined && element.name !== 'blockquote') {
      this.#element(element);
      return;
    }
    this.#out.lineBreak();
    this.#out.mark(mark, element, () => {
      this.#element(element);
      this.#out.lineBreak();
    });
  }

  #element(element: HtmlElement): void {
    if (isStruck(element)) this.#out.struck(() => this.#unstruck(element));
    else this.#unstruck(element);
  }

  #unstruck(element: HtmlElement): void {
    const { name } = element;
    const out = this.#out;
    const inner = () => this.children(element);
    switch (name) {
      case 'br':
        out.hardBreak();
        // As an empty line, by which a device line is known in plain text.
        if (startsSignature(element)) out.hardBreak();
        break;
      case 'hr':
        out.rule();
        break;
      case 'img':
        this.#image(element);
        break;
      case 'a':
      case 'area':
        this.#link(element);
        break;
      case 's':
      case 'strike':
      case 'del':
        out.struck(inner);
        break;
      case 'sup':
        out.script('^', inner);
        break;
      case 'sub':
        out.script('_', inner);
        break;
      case 'b':
      case 'strong':
        out.wrapped('**', inner);
        break;
      case 'i':
      case 'em':
        out.wrapped('*', inner);
        break;
      default:
        if (this.#inRow || !isBlock(name)) inner();
        else this.#block(element, inner);
    }
  }

  #block(element: HtmlElement, inner: () => void): void {
    const out = this.#out;
    const heading = /^h([1-6])$/.exec(element.name);
    if (heading !== null) {
      out.paragraph(() => out.heading(Number(heading[1]), inner));
      return;
    }
    switch (element.name) {
      case 'p':
        out.paragraph(inner);
        break;
      case 'pre':
        out.paragraph(() => out.preformatted(inner));
        break;
      case 'blockquote':
        if (isIndented(element)) out.paragraph(inner);
        else out.paragraph(() => out.prefixed('> ', '> ', inner));
        break;
      case 'ul':
      case 'ol':
        this.#listOf(element);
        break;
      case 'li':
        this.#item(element);
        break;
      case 'tr':
        this.#row(element);
        break;
      default:
        out.block(inner);
    }
  }

  #image({ attributes }: HtmlElement): void {
    if (isSpacer(attributes)) return;
    const image = readImage(attributes, (id) => this.#options.inlineImage(id));
    if (image !== undefined) this.#out.image(image);
    else if (this.#inLink === 'without words') this.#out.text('[image]');
    else if (this.#inLink === undefined && isContent(attributes)) this.#out.text('[image]');
  }

  #link(element: HtmlElement): void {
    const target = linkTarget(element.attributes['href'] ?? '');
    if (target === undefined) {
      this.children(element);
      return;
    }
    const outer = this.#inLink;
    this.#inLink = hasWords(element) ? 'with words' : 'without words';
    this.#out.link(target, () => {
      if (element.name === 'area') this.#image(element);
      this.children(element);
    });
    this.#inLink = outer;
  }

  #listOf(element: HtmlElement): void {
    const outer = this.#list;
    const start = Number(element.attributes['start'] ?? '1');
    const ordered = element.name === 'ol';
    this.#list = { ordered, next: Number.isSafeInteger(start) && start >= 0 ? start : 1 };
    const write = () => this.children(element);
    // A list within an item continues the item.
    if (outer === undefined) this.#out.paragraph(write);
    else this.#out.block(write);
    this.#list = outer;
  }

  #item(element: HtmlElement): void {
    const list = this.#list;
    const bullet = list?.ordered === true ? `${String(list.next)}. ` : '- ';
    if (list !== undefined) list.next += 1;
    this.#out.block(() =>
      this.#out.prefixed(bullet, ' '.repeat(bullet.length), () => this.children(element)),
    );
  }

  /** Cells with one line of text each are written on one line; layout tables become blocks. */
  #row(element: HtmlElement): void {
    const cells = rowCells(element);
    if (cells === undefined) {
      this.#out.block(() => this.children(element));
      return;
    }
    this.#out.block(() => {
      this.#inRow = true;
      cells.forEach((cell, index) => {
        if (index > 0) this.#out.separator(' | ');
        if (isStruck(cell)) this.#out.struck(() => this.children(cell));
        else this.children(cell);
      });
      this.#inRow = false;
    });
  }
}

/** Text that is struck out by style: Word and most editors write it so. */
function isStruck({ attributes: { style } }: HtmlElement): boolean {
  if (style?.includes('line-through') !== true) return false;
  const declared = styleOf(style);
  return ['text-decoration', 'text-decoration-line'].some(
    (name) => declared.get(name)?.includes('line-through') === true,
  );
}

/** The maximum length of an address that is read and written. */
const MAX_HREF_LENGTH = 8000;

/**
 * The target of a link to the web, to mail or to a telephone. Outlook replaces links by its own;
 * the original is in the parameter `url`.
 */
function linkTarget(href: string): string | undefined {
  if (href.length > MAX_HREF_LENGTH) return undefined;
  // URL §4.4 removes these; the web's scheme is what a mail program assumes.
  const written = cleanText(href.replace(/[\t\r\n]/g, '')).trim();
  const schemed = written
    .replace(/^\/\/(?=[^/\s])/, 'https://')
    .replace(/^(?=www\.[^\s])/i, 'http://');
  const target = withoutSafeLink(schemed);
  return /^(?:https?:\/\/|mailto:|tel:)[^\s]/i.test(target) ? target : undefined;
}

function withoutSafeLink(href: string): string {
  if (!/^https:\/\/[\w-]{1,60}\.safelinks\.protection\.outlook\.com\//i.test(href)) return href;
  const inner = new URL(href).searchParams.get('url');
  return inner !== null && /^https?:\/\/[^\s]/i.test(inner) ? inner : href;
}

const MAX_CELLS = 20;

/**
 * The cells of a table row with data: at least two non-empty cells, each with a single line of
 * text. Undefined for a row of a layout table.
 */
function rowCells(row: HtmlElement): readonly HtmlElement[] | undefined {
  const cells: HtmlElement[] = [];
  for (const child of row.children) {
    if (typeof child === 'string') continue;
    if (child.name !== 'td' && child.name !== 'th') return undefined;
    const shape = shapeOf(child);
    if (shape === 'blocks') return undefined;
    if (shape === 'line') cells.push(child);
    if (cells.length > MAX_CELLS) return undefined;
  }
  return cells.length >= 2 ? cells : undefined;
}

/** Outlook puts a paragraph into each cell, so a single block still counts as a line. */
function shapeOf(cell: HtmlElement): 'empty' | 'line' | 'blocks' {
  let pieces = 0;
  let blocks = 0;
  let text = false;
  const stack: HtmlElement[] = [cell];
  for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
    for (const child of element.children) {
      pieces += 1;
      if (pieces > 50) return 'blocks';
      if (typeof child === 'string') {
        text ||= child.trim() !== '';
        continue;
      }
      if (child.name === 'br' || child.name === 'table') return 'blocks';
      if (child.name === 'img') text = true;
      if (isBlock(child.name)) blocks += 1;
      if (blocks > 1) return 'blocks';
      stack.push(child);
    }
  }
  return text ? 'line' : 'empty';
}
