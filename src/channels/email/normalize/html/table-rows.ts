import { isBlock } from './html-elements.ts';
import type { HtmlElement } from './html-tree.ts';

const MAX_CELLS = 20;

/**
 * The cells of a table row that holds data: at least two that are not empty, each with nothing but
 * a line of text. Undefined for a row of a layout table.
 */
export function rowCells(row: HtmlElement): readonly HtmlElement[] | undefined {
  const cells: HtmlElement[] = [];
  for (const child of row.children) {
    if (typeof child === 'string') continue;
    if (child.name !== 'td' && child.name !== 'th') return undefined;
    const shape = shapeOf(child);
    if (shape === 'blocks') return undefined;
    if (shape === 'line') cells.push(child);
    if (cells.length > MAX_CELLS) return undefined;
  }
  return cells.length >= 2 ? cells : undefined;
}

/** Outlook puts a paragraph into each cell: one block that is alone still is a line. */
function shapeOf(cell: HtmlElement): 'empty' | 'line' | 'blocks' {
  let pieces = 0;
  let blocks = 0;
  let text = false;
  const stack: HtmlElement[] = [cell];
  for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
    for (const child of element.children) {
      pieces += 1;
      if (pieces > 50) return 'blocks';
      if (typeof child === 'string') {
        text ||= child.trim() !== '';
        continue;
      }
      if (child.name === 'br' || child.name === 'table') return 'blocks';
      if (child.name === 'img') text = true;
      if (isBlock(child.name)) blocks += 1;
      if (blocks > 1) return 'blocks';
      stack.push(child);
    }
  }
  return text ? 'line' : 'empty';
}
