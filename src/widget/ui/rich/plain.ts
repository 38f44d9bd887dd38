/** The elements that a reply may have, in every format. Nothing else is rendered. */
export type RichTag =
  | 'p'
  | 'h'
  | 'b'
  | 'i'
  | 's'
  | 'code'
  | 'pre'
  | 'ul'
  | 'ol'
  | 'li'
  | 'blockquote'
  | 'a'
  | 'table'
  | 'tr'
  | 'th'
  | 'td'
  | 'br'
  | 'hr';

export interface RichElement {
  readonly tag: RichTag;
  readonly children: readonly RichNode[];
  /** A link's address, checked by `safeUrl`. */
  readonly href?: string;
  /** The first number of an ordered list. */
  readonly start?: number;
}

/** A string is text. */
export type RichNode = string | RichElement;

const INLINE: ReadonlySet<string> = new Set(['b', 'i', 's', 'code', 'a']);

/** The words of a text, without its markup. */
export const textOf = (node: RichNode): string =>
  typeof node === 'string'
    ? node
    : node.children.map(textOf).join('') + (INLINE.has(node.tag) ? '' : ' ');

export const BREAK: RichElement = { tag: 'br', children: [] };

/** A longer text is shown as it is. */
export const MAX_LINKED = 20_000;

/** Turns the addresses in plain text into links, and keeps its line breaks. */
export function parsePlain(text: string): RichNode[] {
  if (text.length > MAX_LINKED) return [text];
  const token = new RegExp(`\\n|${ADDRESS}`, 'gi');
  const nodes: RichNode[] = [];
  let done = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    if (found.index > done) nodes.push(text.slice(done, found.index));
    const { node, length } = found[0] === '\n' ? { node: BREAK, length: 1 } : linkOf(found[0]);
    nodes.push(node);
    done = token.lastIndex = found.index + Math.max(1, length);
  }
  if (done < text.length) nodes.push(text.slice(done));
  return nodes;
}

const SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:']);
const MAX_URL = 2_000;

/**
 * A web or mail address in a text, as the source of a pattern; the part before an `@` is bounded, so
 * that a search takes linear time.
 */
export const ADDRESS = `\\b(?:https?://|www\\.)[^\\s<>"\`|\\\\^{}]+|\\b[\\w.+-]{1,64}@[\\w-]+(?:\\.[\\w-]+)+`;

/** The address of a link that is safe to follow; undefined for others, and for relative ones. */
export function safeUrl(address: string): string | undefined {
  try {
    const url = new URL(address.trim());
    return SCHEMES.has(url.protocol) && url.href.length <= MAX_URL ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A link, or only its text when the address is not safe. */
export function link(address: string, text: string): RichElement | string {
  const href = safeUrl(address);
  return href === undefined ? text : { tag: 'a', href, children: [text] };
}

/** A match of `ADDRESS`, as a link and the length of its text. */
export function linkOf(found: string): { readonly node: RichElement | string; length: number } {
  const shown = found.slice(0, lengthOfAddress(found));
  const isWeb = /^(https?:|www\.)/i.test(shown);
  const scheme = isWeb ? (/^w/i.test(shown) ? 'https://' : '') : 'mailto:';
  return { node: link(scheme + shown, shown), length: shown.length };
}

/**
 * Leaves out the sentence's punctuation, and a closing bracket that was opened before the address.
 */
function lengthOfAddress(found: string): number {
  let open = 0;
  for (const char of found) open += char === '(' ? 1 : char === ')' ? -1 : 0;
  let end = found.length;
  for (; end > 0; end -= 1) {
    const last = found.charAt(end - 1);
    if (last === ')' && open < 0) open += 1;
    else if (!/[.,;:!?'*_~\]]/.test(last)) break;
  }
  return end;
}
