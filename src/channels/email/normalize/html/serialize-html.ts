import sanitizeHtml from 'sanitize-html';
import type { HtmlElement } from './html-tree.ts';
import { type InlineImage, readImage } from '../parts/attached-files.ts';
import { quoteMark } from './quote-marks.ts';

const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'wbr', 'col']);

export interface CleanHtmlOptions {
  /** Leave out what the client marked as quote or signature. */
  readonly trim: boolean;
  inlineImage(contentId: string): InlineImage | undefined;
}

/**
 * The tree as safe HTML: without scripts, styles, forms, event handlers and remote content. Images
 * become their names, or the placeholders of their addresses; sanitize-html runs last.
 */
export function cleanHtml(root: HtmlElement, options: CleanHtmlOptions): string {
  const out: string[] = [];
  write(root, options, out);
  return sanitizeHtml(out.join(''), {
    allowedTags: [...sanitizeHtml.defaults.allowedTags, 'img'],
    allowedAttributes: {
      a: ['href'],
      img: ['src', 'alt'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan'],
    },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    nestingLimit: 100,
  }).trim();
}

/** Returns false once everything that follows is left out. */
function write(element: HtmlElement, options: CleanHtmlOptions, out: string[]): boolean {
  for (const child of element.children) {
    if (typeof child === 'string') {
      out.push(escapeHtml(child));
      continue;
    }
    const mark = options.trim ? quoteMark(child) : undefined;
    if (mark === 'rest') return false;
    if (mark !== undefined) continue;
    if (child.name === 'img') {
      out.push(imageHtml(child, options));
      continue;
    }
    out.push(openTag(child));
    const goesOn = write(child, options, out);
    if (!VOID.has(child.name)) out.push(`</${child.name}>`);
    if (!goesOn) return false;
  }
  return true;
}

/** An `img` of the message is written only if its address is ours. */
function imageHtml({ attributes }: HtmlElement, options: CleanHtmlOptions): string {
  const image = readImage(attributes, (id) => options.inlineImage(id));
  if (image === undefined) return '';
  const { name, shownAs } = image;
  if (shownAs === undefined) return escapeHtml(`[image: ${name}]`);
  return `<img src="${shownAs}" alt="${escapeAttribute(name)}" />`;
}

function openTag({ name, attributes }: HtmlElement): string {
  const kept = ['href', 'colspan', 'rowspan'].flatMap((key) => {
    const value = attributes[key];
    return value === undefined ? [] : ` ${key}="${escapeAttribute(value)}"`;
  });
  return `<${name}${kept.join('')}>`;
}

export function escapeAttribute(text: string): string {
  return escapeHtml(text).replaceAll('"', '&quot;');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
