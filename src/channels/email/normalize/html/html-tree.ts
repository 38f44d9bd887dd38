import { Parser } from 'htmlparser2';
import { cleanText } from '../../../../runtime/clean-text.ts';
import { visibility } from './html-visibility.ts';

/** Real mail nests tables about 40 deep; beyond this it is an attack on whoever walks the tree. */
const MAX_DEPTH = 400;

/** An element with what of it is visible. Comments, scripts and hidden content are not in it. */
export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (HtmlElement | string)[];
}

/** Elements whose text is not content. `head` stays: some mail never closes it. */
const SKIPPED: ReadonlySet<string> = new Set([
  'script',
  'style',
  'title',
  'template',
  'iframe',
  'object',
  'embed',
  'applet',
  'svg',
  'math',
  'select',
  'datalist',
  'textarea',
  'audio',
  'video',
  'canvas',
  'map',
  'noframes',
  'xmp',
]);

class TooDeep extends Error {
  override name = 'TooDeep';
}

interface Open {
  readonly element: HtmlElement;
  readonly zeroFont: boolean;
  readonly invisible: boolean;
}

/**
 * Parses HTML into a tree of what a person would see: elements hidden by their own inline style
 * (display:none, visibility:hidden, opacity:0, font-size:0, a box of no height) or by `hidden` are
 * left out with all that is in them. Linear; undefined when it is nested too deep to be mail.
 */
export function parseHtml(html: string): HtmlElement | undefined {
  const root: HtmlElement = { name: '', attributes: {}, children: [] };
  const open: Open[] = [{ element: root, zeroFont: false, invisible: false }];
  /** Depth inside of something that is left out; 0 outside. */
  let skipping = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (skipping > 0) {
          skipping += 1;
          if (skipping + open.length > MAX_DEPTH) throw new TooDeep();
          return;
        }
        const parent = open[open.length - 1];
        if (parent === undefined) return;
        const seen = visibility(attributes, parent.zeroFont);
        if (seen.gone || SKIPPED.has(name)) {
          skipping = 1;
          return;
        }
        if (open.length > MAX_DEPTH) throw new TooDeep();
        const element: HtmlElement = { name, attributes, children: [] };
        parent.element.children.push(element);
        open.push({
          element,
          zeroFont: seen.zeroFont ?? parent.zeroFont,
          invisible: seen.invisible ?? parent.invisible,
        });
      },
      ontext(text) {
        const parent = open[open.length - 1];
        if (skipping > 0 || parent === undefined || parent.zeroFont || parent.invisible) return;
        const siblings = parent.element.children;
        const last = siblings[siblings.length - 1];
        if (typeof last === 'string') siblings[siblings.length - 1] = last + text;
        else siblings.push(text);
      },
      onclosetag() {
        if (skipping > 0) skipping -= 1;
        else if (open.length > 1) open.pop();
      },
    },
    { decodeEntities: true },
  );
  try {
    parser.end(html);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
  cleanTexts(root);
  return root;
}

/** Once entities are decoded and neighbours joined: a joiner is judged by what stands beside it. */
function cleanTexts(root: HtmlElement): void {
  const stack = [root];
  for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
    const { children } = element;
    for (const [index, child] of children.entries()) {
      if (typeof child === 'string') children[index] = cleanText(child);
      else stack.push(child);
    }
  }
}

/** How much text the tree shows, white space aside; counting ends at `enough`. */
export function visibleLength(root: HtmlElement, enough = Infinity): number {
  let length = 0;
  const stack: (HtmlElement | string)[] = [root];
  for (let node = stack.pop(); node !== undefined && length < enough; node = stack.pop()) {
    if (typeof node === 'string') length += node.replace(/\s+/g, '').length;
    else for (const child of node.children) stack.push(child);
  }
  return length;
}
