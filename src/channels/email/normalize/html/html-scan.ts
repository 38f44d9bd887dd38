/**
 * At most this many characters of text, white space aside, can be visible: those outside of tags,
 * comments, styles and scripts. Much cheaper than parsing.
 */
export function textUpperBound(html: string): number {
  /** Ends that are not in the rest of the text: looked for once, not once per tag. */
  const missing = new Set<string>();
  let length = 0;
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    const end = tag === -1 ? html.length : tag;
    for (; at < end; at += 1) if (html.charCodeAt(at) > 0x20) length += 1;
    if (tag === -1) break;
    at = afterTag(html, tag, missing);
  }
  return length;
}

function afterTag(html: string, tag: number, missing: Set<string>): number {
  const opened = 'sStT!'.includes(html.charAt(tag + 1))
    ? /^<(?:style|script|title|!--)/i.exec(html.slice(tag, tag + 8))?.[0].slice(1)
    : undefined;
  const ending = opened === undefined ? '>' : opened === '!--' ? '-->' : `</${opened}`;
  const end = missing.has(ending) ? -1 : html.indexOf(ending, tag + 1);
  if (end === -1) {
    missing.add(ending);
    // What follows may all be visible.
    return tag + 1;
  }
  if (!ending.startsWith('</')) return end + ending.length;
  const bracket = html.indexOf('>', end);
  return bracket === -1 ? html.length : bracket + 1;
}

/**
 * The text between the tags, less comments, styles and scripts, for HTML that cannot be parsed
 * within its bounds. Linear.
 */
export function stripTags(html: string): string {
  const pieces: string[] = [];
  const missing = new Set<string>();
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    if (tag === -1) {
      pieces.push(html.slice(at));
      break;
    }
    if (tag > at) pieces.push(html.slice(at, tag));
    at = afterTag(html, tag, missing);
    if (missing.has('>')) break;
  }
  return pieces
    .map((piece) => piece.replace(/\s+/g, ' ').trim())
    .filter((piece) => piece !== '')
    .join('\n');
}
