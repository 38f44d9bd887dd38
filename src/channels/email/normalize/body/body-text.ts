import { decodeText } from './charset.ts';
import { cleanText } from '../../../../runtime/clean-text.ts';
import { joinFlowed } from './flowed.ts';
import { type HtmlElement, parseHtml } from '../html/html-tree.ts';
import { stripTags } from '../html/html-scan.ts';
import type { Leaf } from '../parts/read-parts.ts';

/** HTML beyond this is not looked at: no letter that a person wrote is that long. */
const MAX_HTML_LENGTH = 512 * 1024;

export interface PlainText {
  readonly text: string;
  /** Not all of it was read; the part has to be attached. */
  readonly cut: boolean;
}

export interface HtmlText {
  readonly tree: HtmlElement;
  /** Not all of it was read; the part has to be attached. */
  readonly cut: boolean;
}

export function readPlain(leaf: Leaf): PlainText {
  const { cut, text } = decodeLeaf(leaf, false);
  const { format, delsp } = leaf.parameters;
  const lines = text.replace(/\r\n?/g, '\n');
  const flowed = format?.toLowerCase() === 'flowed';
  const joined = flowed ? joinFlowed(lines, delsp?.toLowerCase() === 'yes') : lines;
  return { text: cleanText(joined), cut };
}

/** The HTML as text, up to the length that is looked at. */
export function decodeHtml(leaf: Leaf): PlainText {
  const { cut, text } = decodeLeaf(leaf, true);
  return { text: text.slice(0, MAX_HTML_LENGTH), cut: cut || text.length > MAX_HTML_LENGTH };
}

export function readHtml({ text, cut }: PlainText): HtmlText {
  const tree = parseHtml(text);
  if (tree !== undefined) return { tree, cut };
  return { tree: { name: '', attributes: {}, children: [cleanText(stripTags(text))] }, cut: true };
}

function decodeLeaf({ content, parameters }: Leaf, html: boolean): PlainText {
  const cut = content.size > content.start.byteLength;
  const { text } = decodeText(content.start, parameters['charset'], { html, truncated: cut });
  return { text, cut };
}
