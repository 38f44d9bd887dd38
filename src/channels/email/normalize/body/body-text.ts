import { decodeText } from './charset.ts';
import { cleanText } from '../../../../runtime/clean-text.ts';
import { type HtmlElement, parseHtml, stripTags } from '../html/html-tree.ts';
import type { Leaf } from '../parts/read-parts.ts';

/** HTML beyond this length is not read: no letter is that long. */
const MAX_HTML_LENGTH = 512 * 1024;

export interface PlainText {
  readonly text: string;
  /** It was not read completely, so the part has to be attached. */
  readonly cut: boolean;
}

export interface HtmlText {
  readonly tree: HtmlElement;
  /** It was not read completely, so the part has to be attached. */
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

/** The HTML as text, up to the maximum length. */
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
  const text = decodeText(content.start, parameters['charset'], { html, truncated: cut });
  return { text, cut };
}

/**
 * Joins the soft-broken lines of `format=flowed` text (RFC 3676 §4): a line that ends in a space
 * continues on the next line of the same quote depth, except for the signature delimiter. libmime's
 * own implementation ignores quotes and joins the quote marks into the text.
 */
export function joinFlowed(text: string, deleteSpace: boolean): string {
  const out: string[] = [];
  let paragraph: { readonly depth: number; readonly pieces: string[] } | undefined;
  const close = () => {
    if (paragraph === undefined) return;
    const { depth, pieces } = paragraph;
    out.push(`${'>'.repeat(depth)}${depth > 0 ? ' ' : ''}${pieces.join('')}`);
    paragraph = undefined;
  };
  for (const line of text.split('\n')) {
    const depth = quoteDepth(line);
    const content = unstuffed(line.slice(depth));
    const soft = content.endsWith(' ') && content !== '-- ';
    if (paragraph !== undefined && (paragraph.depth !== depth || content === '-- ')) close();
    paragraph ??= { depth, pieces: [] };
    paragraph.pieces.push(soft && deleteSpace ? content.slice(0, -1) : content);
    if (!soft) close();
  }
  close();
  return out.join('\n');
}

function quoteDepth(line: string): number {
  let depth = 0;
  while (line.charCodeAt(depth) === 0x3e) depth += 1;
  return depth;
}

/** RFC 3676 §4.4: removes a space that only protects the start of the line. */
function unstuffed(content: string): string {
  return content.startsWith(' ') ? content.slice(1) : content;
}
