const BLOCKS: ReadonlySet<string> = new Set([
  'address',
  'article',
  'aside',
  'body',
  'caption',
  'center',
  'dd',
  'details',
  'dialog',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figcaption',
  'figure',
  'footer',
  'form',
  'head',
  'header',
  'html',
  'legend',
  'main',
  'nav',
  'search',
  'section',
  'summary',
  'table',
  'tbody',
  'td',
  'tfoot',
  'th',
  'thead',
  'ul',
  'ol',
  'li',
  'tr',
  'p',
  'pre',
  'blockquote',
  'hr',
]);

/** Elements that stand on lines of their own (HTML §15.3). */
export function isBlock(name: string): boolean {
  return BLOCKS.has(name) || isHeading(name);
}

export function isHeading(name: string): boolean {
  return name.length === 2 && name >= 'h1' && name <= 'h6';
}
