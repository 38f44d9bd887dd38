import sanitizeHtml from 'sanitize-html';
import type { HtmlElement } from '../normalize/html/html-tree.ts';
import { contentHtml, escapeAttribute, escapeHtml } from '../normalize/html/serialize-html.ts';

/** Returns an image of the message by its Content-ID, as a `data:` URL. */
export type EmbeddedImage = (contentId: string) => string | undefined;

/** The attributes that are kept; all others are removed. */
const KEPT = 'style align valign bgcolor color width dir lang colspan rowspan'.split(' ');
const MAX_ATTRIBUTE = 2000;
const MAX_ALT = 200;
const MAX_SHOWN_URL = 300;
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

const SIZE = [/^-?\d{1,4}(?:\.\d{1,3})?(?:px|pt|em|rem|ex|%)?$/i, /^auto$/i, /^normal$/i];
const SIZES = [
  /^(?:-?\d[\d.]*(?:px|pt|r?em|ex|%)?|auto)(?: +(?:-?\d[\d.]*(?:px|pt|r?em|ex|%)?|auto)){0,3}$/i,
];
const COLOR = [/^#[0-9a-f]{3,8}$/i, /^[a-z]{3,24}$/i, /^rgba?\([\d\s.,%/]{1,60}\)$/i];
const WORDS = [/^[a-z-]{1,24}$/i];
/** `border: 1px solid #ccc`; nothing with a bracket, which could be `url(`. */
const BORDER = [/^[\w.#%-]{1,24}(?:\s+[\w.#%-]{1,24}){0,3}$/i];
const FONTS = [/^[\w\s"',-]{1,200}$/];

const ALLOWED: readonly (readonly [properties: string, forms: RegExp[]])[] = [
  ['color background background-color border-color', COLOR],
  ['font-family', FONTS],
  ['font-weight', [...WORDS, /^\d{3}$/]],
  ['font-size vertical-align', [...SIZE, ...WORDS]],
  ['font-style text-align text-decoration text-transform white-space border-collapse', WORDS],
  ['line-height letter-spacing width max-width height', SIZE],
  ['margin-top margin-right margin-bottom margin-left', SIZE],
  ['padding-top padding-right padding-bottom padding-left', SIZE],
  ['margin padding border-radius border-spacing', SIZES],
  ['border border-top border-right border-bottom border-left', BORDER],
];
const STYLES = Object.fromEntries(
  ALLOWED.flatMap(([properties, forms]) => properties.split(' ').map((name) => [name, forms])),
);

/**
 * The visible part of the message, as a separate document. It loads nothing: images of the message
 * are embedded, and remote ones are named with their host. It links nowhere: the target of a link
 * is shown beside it. sanitize-html runs last.
 */
export function viewDocument(root: HtmlElement, embedded: EmbeddedImage): string {
  const body = sanitizeHtml(shownHtml(root, embedded), {
    allowedTags: [...sanitizeHtml.defaults.allowedTags.filter((tag) => tag !== 'a'), 'img', 'font'],
    allowedAttributes: {
      '*': ['style', 'align', 'valign', 'bgcolor', 'dir', 'lang'],
      img: ['src', 'alt'],
      font: ['color'],
      table: ['width'],
      td: ['colspan', 'rowspan', 'width'],
      th: ['colspan', 'rowspan', 'width'],
    },
    allowedClasses: { span: ['link', 'target', 'blocked'] },
    allowedStyles: { '*': STYLES },
    allowedSchemes: [],
    allowedSchemesByTag: { img: ['data'] },
    allowProtocolRelative: false,
    nestingLimit: 100,
  });
  return `${HEAD}${body}</body></html>\n`;
}

const HEAD = `<!doctype html>
<html><head><meta charset="utf-8"><title>Message</title><style>
html { color-scheme: light; background: #fff; color: #1a1a1a; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 12px; overflow-wrap: anywhere; }
img { max-width: 100%; }
pre { white-space: pre-wrap; }
.link { text-decoration: underline; }
.target { font-size: 85%; color: #595959; background: #fff; }
.target::before { content: " \\2039"; }
.target::after { content: "\\203a "; }
.blocked { display: inline-block; border: 1px dashed #767676; color: #595959; background: #fff;
  padding: 2px 6px; font-size: 85%; }
</style></head><body>`;

function shownHtml(root: HtmlElement, embedded: EmbeddedImage): string {
  const special = (node: HtmlElement | string): string | undefined => {
    if (typeof node === 'string') return undefined;
    if (node.name === 'img') return image(node, embedded);
    return node.name === 'a' || node.name === 'area' ? link(node, embedded) : undefined;
  };
  return contentHtml(root, KEPT, special, MAX_ATTRIBUTE);
}

/** Keeps the text and shows the target beside it, unless both are the same. */
function link(element: HtmlElement, embedded: EmbeddedImage): string {
  const href = element.attributes['href']?.trim() ?? '';
  const text = shownHtml(element, embedded);
  const html = `<span class="link">${text}</span>`;
  const target = escapeHtml(href.slice(0, MAX_SHOWN_URL));
  if (href === '' || href.startsWith('#') || text.trim() === target) return html;
  return `${html}<span class="target">${target}</span>`;
}

function image({ attributes }: HtmlElement, embedded: EmbeddedImage): string {
  const src = attributes['src']?.trim() ?? '';
  const alt = attributes['alt']?.trim().slice(0, MAX_ALT) ?? '';
  const contentId = /^cid:(.{1,255})$/is.exec(src)?.[1];
  const url = contentId === undefined ? own(src) : embedded(contentId.trim());
  if (url !== undefined) return `<img src="${url}" alt="${escapeAttribute(alt)}">`;
  const host = hostOf(src);
  const from = host === undefined ? 'not shown' : `from ${host} not loaded`;
  const told = alt === '' ? `picture ${from}` : `picture ${from}: ${alt}`;
  return `<span class="blocked">${escapeHtml(told)}</span>`;
}

const own = (src: string): string | undefined => (DATA_IMAGE.test(src) ? src : undefined);

function hostOf(src: string): string | undefined {
  const absolute = src.startsWith('//') ? `https:${src}` : src;
  if (!URL.canParse(absolute)) return undefined;
  const { protocol, host } = new URL(absolute);
  return protocol === 'http:' || protocol === 'https:' ? host.slice(0, 100) : undefined;
}
