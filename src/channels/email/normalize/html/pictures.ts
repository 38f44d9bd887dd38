import { styleOf } from './css-syntax.ts';
import type { HtmlElement } from './html-tree.ts';

type Attributes = Readonly<Record<string, string>>;

/** The width and height of an image in pixels, as far as they are declared. */
function sizeOf({ width, height, style }: Attributes): readonly number[] {
  const declared = style === undefined ? undefined : styleOf(style);
  return [declared?.get('width') ?? width, declared?.get('height') ?? height]
    .map((length) => /^\s*(\d{1,5})(?:\.\d{1,4})?(?:px)?\s*$/.exec(length ?? '')?.[1])
    .filter((pixels) => pixels !== undefined)
    .map(Number);
}

/** An image one pixel high or wide is a layout spacer or a tracking pixel. */
export function isSpacer(attributes: Attributes): boolean {
  return sizeOf(attributes).some((pixels) => pixels <= 1);
}

/** A smaller image is an icon. */
const CONTENT_PIXELS = 48;
const PHOTO_NAME = /^https?:\/\/[^?#]{1,1000}\.(?:jpe?g|png|webp|heic|avif)(?:$|[?#])/i;

/** Whether an image on the web that has no words is content rather than decoration. */
export function isContent(attributes: Attributes): boolean {
  const { src = '', alt } = attributes;
  // An empty `alt` declares it to be decoration (HTML §4.8.4.4.8).
  if (alt !== undefined || !/^https?:/i.test(src)) return false;
  const size = sizeOf(attributes);
  return size.length > 0 ? size.every((pixels) => pixels >= CONTENT_PIXELS) : PHOTO_NAME.test(src);
}

/** More nodes than a link has whose only content is a picture. */
const MAX_LINK_NODES = 200;

/** Whether a link shows words, its own or those of a picture. */
export function hasWords(link: HtmlElement): boolean {
  const nodes: (HtmlElement | string)[] = [link];
  for (let steps = 0; steps < MAX_LINK_NODES; steps += 1) {
    const node = nodes.pop();
    if (node === undefined) return false;
    if (typeof node === 'string') {
      if (node.trim() !== '') return true;
      continue;
    }
    const words = node.name === 'img' || node.name === 'area' ? node.attributes['alt'] : undefined;
    if (words !== undefined && words.trim() !== '') return true;
    for (const child of node.children) nodes.push(child);
  }
  return true;
}
