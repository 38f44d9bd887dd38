/**
 * Joins the soft-broken lines of `format=flowed` text (RFC 3676 §4): a line that ends in a space
 * goes on in the next one of the same quote depth, the signature delimiter aside. libmime's own
 * does not know of quotes, and joins the marks into the text.
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

/** RFC 3676 §4.4: a space that only protects the line's start. */
function unstuffed(content: string): string {
  return content.startsWith(' ') ? content.slice(1) : content;
}
