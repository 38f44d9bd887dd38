import { BREAK, link, parsePlain, type RichNode, type RichTag, safeUrl } from './plain.ts';

const TAGS: Readonly<Record<string, RichTag>> = {
  P: 'p',
  DIV: 'p',
  H1: 'h',
  H2: 'h',
  H3: 'h',
  H4: 'h',
  H5: 'h',
  H6: 'h',
  B: 'b',
  STRONG: 'b',
  I: 'i',
  EM: 'i',
  S: 's',
  DEL: 's',
  STRIKE: 's',
  CODE: 'code',
  PRE: 'pre',
  UL: 'ul',
  OL: 'ol',
  LI: 'li',
  BLOCKQUOTE: 'blockquote',
  TR: 'p',
};
/** Removed with their content. Of other unknown elements the content is kept. */
const DROPPED = new Set(
  'SCRIPT STYLE TEMPLATE SVG MATH IFRAME OBJECT EMBED NOSCRIPT TITLE HEAD TEXTAREA SELECT AUDIO VIDEO CANVAS'.split(
    ' ',
  ),
);
const TEXT_NODE = 3;
const ELEMENT_NODE = 1;
/** Of deeper elements only the text is kept. */
const MAX_DEPTH = 40;

/**
 * Converts a reply in HTML to the allowed elements. The parser's document is inert: it runs no
 * script and fetches nothing. Only texts, list numbers and checked link addresses are taken from
 * it.
 */
export function parseHtml(html: string): RichNode[] {
  let body: HTMLElement;
  try {
    body = new DOMParser().parseFromString(html, 'text/html').body;
  } catch {
    // A page that requires trusted types forbids the parser.
    return parsePlain(html.replace(/<[^<>]*>/g, ' ').trim());
  }
  return childrenOf(body, 0);
}

const childrenOf = (parent: Node, depth: number): RichNode[] => {
  const nodes: RichNode[] = [];
  for (const child of parent.childNodes) for (const node of read(child, depth)) nodes.push(node);
  return nodes;
};

function read(node: Node, depth: number): readonly RichNode[] {
  if (node.nodeType === TEXT_NODE) return textOf(node, depth);
  if (node.nodeType !== ELEMENT_NODE || !(node instanceof Element)) return [];
  const name = node.nodeName.toUpperCase();
  if (DROPPED.has(name)) return [];
  if (name === 'BR') return [BREAK];
  if (name === 'HR') return [{ tag: 'hr', children: [] }];
  if (name === 'IMG') return [picture(node), ' '];
  if (depth > MAX_DEPTH) return [node.textContent];
  if (name === 'PRE') return [{ tag: 'pre', children: [node.textContent] }];
  const children = childrenOf(node, depth + 1);
  if (name === 'A') {
    const href = safeUrl(node.getAttribute('href') ?? '');
    return href === undefined ? children : [{ tag: 'a', href, children }];
  }
  if (name === 'TD' || name === 'TH') return [...children, ' '];
  const tag = TAGS[name];
  if (tag === undefined) return children;
  // A `div` around blocks would only add space.
  if (name === 'DIV' && children.some(isBlock)) return children;
  if (children.length === 0) return [];
  const start = Number(node.getAttribute('start'));
  return [{ tag, children, ...(tag === 'ol' && start > 1 && { start }) }];
}

const isBlock = (node: RichNode): boolean =>
  typeof node !== 'string' && /^(p|h|pre|ul|ol|blockquote|hr)$/.test(node.tag);

/** Collapses white space, and drops it between blocks. */
function textOf(node: Node, depth: number): readonly RichNode[] {
  const text = (node.nodeValue ?? '').replace(/\s+/g, ' ');
  if (text.trim() === '' && (depth === 0 || node.parentNode?.nodeName !== 'P'))
    return text === '' ? [] : [' '];
  const inLink = Boolean(node.parentElement?.closest('a,code'));
  return inLink ? [text] : parsePlain(text);
}

/** A picture becomes a link: fetching it would tell its host that the reply was read. */
function picture(image: Element): RichNode {
  const address = image.getAttribute('src') ?? '';
  const words = [image.getAttribute('alt')?.trim(), address.slice(0, 80)].find(Boolean);
  return link(address, words ?? '');
}
