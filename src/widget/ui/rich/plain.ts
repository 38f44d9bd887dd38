import { ADDRESS, linkOf } from './links.ts';
import { BREAK, type RichNode } from './node.ts';

/** Plain text with its addresses made into links; line breaks stay. */
export function parsePlain(text: string): RichNode[] {
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
