/** What a reply may be made of. Nothing else is ever drawn, whatever it was written in. */
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
  /** Of a link, checked by `safeUrl`. */
  readonly href?: string;
  /** The first number of an ordered list. */
  readonly start?: number;
}

/** A string is text. */
export type RichNode = string | RichElement;

export const BREAK: RichElement = { tag: 'br', children: [] };
