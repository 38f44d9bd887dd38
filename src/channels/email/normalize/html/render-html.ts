import type { HtmlElement } from './html-tree.ts';
import { isBlock, isHeading } from './html-elements.ts';
import { type InlineImage, readImage } from './inline-image.ts';
import { linkTarget } from './html-links.ts';
import { LineWriter } from './line-writer.ts';
import type { Line } from '../quotes/lines.ts';
import { quoteMark } from './quote-marks.ts';
import { rowCells } from './table-rows.ts';

export interface RenderOptions {
  readonly format: 'TEXT' | 'MARKDOWN';
  /** An image that the HTML shows by its Content-ID; undefined when unknown. */
  inlineImage(contentId: string): InlineImage | undefined;
}

/**
 * Turns the visible part of an HTML body into lines of Markdown or plain text. Only what is known
 * here comes out: links to the web, to mail and telephones, no remote images, no raw HTML.
 * Recursion is as deep as the tree, which `parseHtml` bounds.
 *
 * Own code because nothing that was tried holds: node-html-markdown takes 25 s for 40,000 table
 * rows and minutes for nested divs, turndown twice as long as the whole parse of the message.
 */
export function renderHtml(root: HtmlElement, options: RenderOptions): readonly Line[] {
  const writer = new LineWriter(options.format);
  new Renderer(writer, options).children(root);
  return writer.finish();
}

class Renderer {
  readonly #out: LineWriter;
  readonly #options: RenderOptions;
  /** Inside of a row of cells that stay on one line. */
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
    if (mark === undefined) {
      this.#element(element);
      return;
    }
    this.#out.lineBreak();
    this.#out.mark(mark, () => {
      this.#element(element);
      this.#out.lineBreak();
    });
  }

  #element(element: HtmlElement): void {
    const { name } = element;
    const out = this.#out;
    const inner = () => this.children(element);
    switch (name) {
      case 'br':
        out.hardBreak();
        break;
      case 'hr':
        out.rule();
        break;
      case 'img':
        this.#image(element);
        break;
      case 'a':
        this.#link(element);
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
    if (isHeading(element.name)) {
      out.paragraph(() => out.heading(Number(element.name.slice(1)), inner));
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
        out.paragraph(() => out.prefixed('> ', '> ', inner));
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
  }

  #link(element: HtmlElement): void {
    const target = linkTarget(element.attributes['href'] ?? '');
    if (target === undefined) this.children(element);
    else this.#out.link(target, () => this.children(element));
  }

  #listOf(element: HtmlElement): void {
    const outer = this.#list;
    const start = Number(element.attributes['start'] ?? '1');
    const ordered = element.name === 'ol';
    this.#list = { ordered, next: Number.isSafeInteger(start) && start >= 0 ? start : 1 };
    const write = () => this.children(element);
    // A list inside of an item continues it.
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

  /** Cells with a line of text each stay on one line; layout tables come apart into blocks. */
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
        this.children(cell);
      });
      this.#inRow = false;
    });
  }
}

/** A picture of a pixel's height or width holds a layout apart, or counts readers. */
function isSpacer(attributes: Readonly<Record<string, string>>): boolean {
  return [attributes['width'], attributes['height']].some(
    (length) => length !== undefined && /^\s*[01](?:px)?\s*$/.test(length),
  );
}
