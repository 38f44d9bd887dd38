import sanitizeHtml from 'sanitize-html';
import type { HtmlElement } from './html-tree.ts';
import { type InlineImage, readImage } from '../parts/attached-files.ts';
import { hasWords, isContent, isSpacer } from './pictures.ts';
import { quoteMark } from './quote-marks.ts';

const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'wbr', 'col']);

export interface CleanHtmlOptions {
  /** The elements to leave out: quotes and signatures. */
  readonly removed: ReadonlySet<object>;
  inlineImage(contentId: string): InlineImage | undefined;
}

/**
 * The tree as safe HTML: without scripts, styles, forms, event handlers and remote content. An image
 * is replaced by its name, or has a placeholder as its address; one with neither is `[image]` if it
 * is content or all that a link shows, and is left out otherwise. sanitize-html runs last.
 */
export function cleanHtml(root: HtmlElement, options: CleanHtmlOptions): string {
  /** From the mark `rest` on, everything is left out. */
  let ended = false;
  /** Images of links without words, whose addresses would be lost with them. */
  const inBareLink = new Set<HtmlElement>();
  const html = contentHtml(root, ['href', 'colspan', 'rowspan'], (node) => {
    if (ended || typeof node === 'string') return ended ? '' : undefined;
    const isRemoved = options.removed.has(node);
    ended = isRemoved && quoteMark(node) === 'rest';
    if (isRemoved) return '';
    if (node.name === 'a' && !hasWords(node))
      imagesIn(node).forEach((each) => inBareLink.add(each));
    return node.name === 'img' ? imageHtml(node, inBareLink.has(node), options) : undefined;
  });
  return sanitizeHtml(html, {
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

/**
 * The content of an element as HTML that is not safe yet.
 * @param attributes the attributes that are kept, each up to `maxLength` characters
 * @param special what is written in place of a text or an element; undefined to write it as it is
 */
export function contentHtml(
  root: HtmlElement,
  attributes: readonly string[],
  special: (node: HtmlElement | string) => string | undefined,
  maxLength = Infinity,
): string {
  const out: string[] = [];
  const write = (element: HtmlElement): void => {
    for (const child of element.children) {
      const html = special(child);
      if (html !== undefined) {
        out.push(html);
      } else if (typeof child === 'string') {
        out.push(escapeHtml(child));
      } else {
        out.push(openTag(child, attributes, maxLength));
        write(child);
        if (!VOID.has(child.name)) out.push(`</${child.name}>`);
      }
    }
  };
  write(root);
  return out.join('');
}

function openTag(element: HtmlElement, attributes: readonly string[], maxLength: number): string {
  const kept = attributes.flatMap((key) => {
    const value = element.attributes[key]?.slice(0, maxLength);
    return value === undefined ? [] : ` ${key}="${escapeAttribute(value)}"`;
  });
  return `<${element.name}${kept.join('')}>`;
}

/** The images of a link, which has few elements if it has no words. */
const imagesIn = ({ children }: HtmlElement): readonly HtmlElement[] =>
  children.flatMap((child) =>
    typeof child === 'string' ? [] : child.name === 'img' ? [child] : imagesIn(child),
  );

/** An `img` of the message is written only if its address is ours. */
function imageHtml(
  { attributes }: HtmlElement,
  isInBareLink: boolean,
  options: CleanHtmlOptions,
): string {
  if (isSpacer(attributes)) return '';
  const image = readImage(attributes, (id) => options.inlineImage(id));
  if (image === undefined) return isInBareLink || isContent(attributes) ? '[image]' : '';
  const { name, shownAs } = image;
  if (shownAs === undefined) return escapeHtml(`[image: ${name}]`);
  return `<img src="${shownAs}" alt="${escapeAttribute(name)}" />`;
}

export function escapeAttribute(text: string): string {
  return escapeHtml(text).replaceAll('"', '&quot;');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
