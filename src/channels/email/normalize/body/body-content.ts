import type { Alternative } from '../parts/body-parts.ts';
import type { BodyMode } from '../../shop.ts';
import type { BodyChoice, QuotesReading, TrimDecision } from '../../../../domain/email-reading.ts';
import { cleanText, cutText } from '../../../../runtime/clean-text.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';
import { joinLines, type Line, phrases, textLines } from '../quotes/lines.ts';
import { escapeLineStart, escapeMarkdown } from '../html/line-writer.ts';
import type { InlineImage } from '../parts/attached-files.ts';
import type { Leaf } from '../parts/read-parts.ts';
import { renderHtml } from '../html/render-html.ts';
import { cleanHtml, escapeHtml } from '../html/serialize-html.ts';
import { type TrimmedLines, trimQuotes } from '../quotes/trim-quotes.ts';
import { decodeText } from './charset.ts';
import {
  type HtmlElement,
  parseHtml,
  stripTags,
  textUpperBound,
  visibleLength,
} from '../html/html-tree.ts';

export type Format = 'TEXT' | 'MARKDOWN' | 'HTML';

/** The part of a trimmed quote that is stored for display; the raw message contains all of it. */
export const MAX_TRIMMED_LENGTH = 20_000;

export interface BodyOptions {
  readonly mode: BodyMode;
  /** Remove quotes and signatures. */
  readonly trim: boolean;
  /** The message's image with this Content-ID. */
  inlineImage(contentId: string): InlineImage | undefined;
  /** Whether the message has an image with a Content-ID. */
  readonly hasInlineImages: boolean;
}

export interface BodyContent {
  /** Empty if there is no text. */
  readonly text: string;
  readonly format: Format;
  /** The same without markup. */
  readonly asText: () => string;
  readonly source: 'plain' | 'html' | 'none';
  readonly why: BodyChoice;
  /** The parts that the text was read from. */
  readonly leaves: readonly Leaf[];
  /** The text removed as quote and signature; only the start of a long one. */
  readonly trimmed: string;
  /** Why nothing was removed although quotes were looked for. */
  readonly kept?: TrimDecision;
  readonly cuts: QuotesReading['cut'];
  readonly stayed: QuotesReading['stayed'];
  /** The number of non-empty lines that were removed. */
  readonly trimmedLines: number;
  /** Parts that are not completely included in the text. */
  readonly cut: readonly Leaf[];
}

/** The body as content. */
export function readBody(alternatives: readonly Alternative[], options: BodyOptions): BodyContent {
  const choices = alternatives.map((each) => chooseBody(each, options));
  const chosen = choices.flatMap(({ sections }) => sections);
  const hasHtml = chosen.some(({ kind }) => kind === 'html');
  const format = !hasHtml || options.mode === 'text' ? 'TEXT' : 'MARKDOWN';
  const lines = chosen.flatMap((each, index) => [
    ...(index > 0 ? [{ text: '' }] : []),
    ...linesOf(each, format, options).map(withoutGlyph),
  ]);
  const {
    lines: kept,
    trimmed: found,
    cuts = [],
    stayed = [],
    why,
  }: TrimmedLines = options.trim ? trimQuotes(lines) : { lines, trimmed: [] };
  const asHtml = hasHtml && options.mode === 'html';
  // In HTML, only whole elements can be removed: those that the client marked, and blockquotes.
  const removed = new Set(found.flatMap(({ element }) => element ?? []));
  for (const { text, element } of kept) if (text !== '' && element) removed.delete(element);
  const trimmed = asHtml ? found.filter(({ element }) => element && removed.has(element)) : found;
  const text = asHtml ? htmlOf(chosen, options, removed) : joinLines(kept, format);
  const shownAs = asHtml ? 'HTML' : format;
  return {
    text,
    format: shownAs,
    asText: () => (shownAs === 'TEXT' ? text : joinLines(kept, 'TEXT')),
    source: chosen.length === 0 ? 'none' : hasHtml ? 'html' : 'plain',
    why: choices[0]?.why ?? 'none',
    ...(why !== undefined && { kept: why }),
    cuts,
    stayed,
    leaves: chosen.map(({ leaf }) => leaf),
    trimmed: cutText(joinLines(trimmed, 'TEXT'), MAX_TRIMMED_LENGTH),
    trimmedLines: trimmed.filter(({ text }) => text.trim() !== '').length,
    cut: chosen.filter(({ cut }) => cut).map(({ leaf }) => leaf),
  };
}

/** Raised and middle dots of rare scripts: trackers of opened mail (Streak) leave one alone. */
const GLYPH = /[\u119e\u1427\u18df\u2e31\u2e33\ua78f]/;

function withoutGlyph(line: Line): Line {
  const end = line.text.trimEnd();
  if (!GLYPH.test(end.slice(-1))) return line;
  const text = withoutEnd(end, GLYPH);
  // At the end of a word it is a letter.
  if (text === '') return { ...line, text, hardBreak: false };
  return text === text.trimEnd() ? line : { ...line, text: text.trimEnd() };
}

function linesOf(
  chosen: Chosen,
  format: 'TEXT' | 'MARKDOWN',
  options: BodyOptions,
): readonly Line[] {
  if (chosen.kind === 'html') {
    return renderHtml(chosen.tree, { format, inlineImage: (id) => options.inlineImage(id) });
  }
  return plainLines(namedImages(chosen.text, options), format);
}

/** Plain text as lines of content. */
export function plainLines(plain: string, format: 'TEXT' | 'MARKDOWN'): readonly Line[] {
  const lines = textLines(plain);
  if (format === 'TEXT') return lines;
  return lines.map(({ text, delimiter }) => ({
    // Quote marks have the same meaning in Markdown as in mail.
    text: text.startsWith('>') ? text : escapeLineStart(escapeMarkdown(text)),
    hardBreak: text !== '',
    ...(delimiter === true && { delimiter }),
  }));
}

function htmlOf(
  chosen: readonly Chosen[],
  options: BodyOptions,
  removed: ReadonlySet<object>,
): string {
  const parts = chosen.map((each) =>
    each.kind === 'html'
      ? cleanHtml(each.tree, { removed, inlineImage: (id) => options.inlineImage(id) })
      : plainHtml(each.text.trim()),
  );
  return parts.filter((part) => part !== '').join('\n');
}

export function plainHtml(text: string): string {
  return `<p>${escapeHtml(text).replaceAll('\n', '<br />')}</p>`;
}

/** Outlook's plain text contains `[cid:image001.png@01D0]` in place of an image. */
function namedImages(text: string, options: BodyOptions): string {
  if (!text.includes('[cid:')) return text;
  return text.replace(/\[cid:([^\][\s]{1,255})\]/g, (found, id: string) => {
    const image = options.inlineImage(id);
    return image === undefined ? found : `[image: ${image.name}]`;
  });
}

/** With less than this share of the HTML's visible text, the plain text is a stub. */
const SUBSTANTIAL = 0.3;
/** Typical stub texts in common languages. */
export const STUB_WORDS =
  phrases(`in your browser|view online|view this email|view it online|web version|
  html version|html-enabled|does not support html|doesn't support html|im browser|webversion|
  html-format|dans votre navigateur|version en ligne|en el navegador|en su navegador|nel browser|
  nel tuo browser|in je browser|in uw browser|no navegador|no seu navegador|w przeglądarce|
  i din webbläsare|i din browser|i nettleseren|selaimessa|v prohlížeči|tarayıcı|в браузере|
  ブラウザで|在浏览器中|`);
const MAX_STUB_LENGTH = 400;

/** A section of the body in the chosen form. */
type Chosen =
  | ({ readonly kind: 'plain'; readonly leaf: Leaf } & PlainText)
  | ({ readonly kind: 'html'; readonly leaf: Leaf } & HtmlText);

interface Choice {
  readonly sections: readonly Chosen[];
  readonly why: BodyChoice;
}

/**
 * `auto` and `text`: the plain text unless it is a stub, or does not show where the images are;
 * `html`: the HTML if there is one. A stub is empty, says "view in browser", or has less than 30 %
 * of the HTML's visible text.
 */
function chooseBody(alternative: Alternative, options: BodyOptions): Choice {
  const plain = alternative.plain.map(chosenPlain);
  if (alternative.html.length === 0) return { sections: plain, why: 'only_form' };
  const preferred = whyHtml(plain, alternative.html, options);
  const asPlain: Choice = { sections: plain, why: 'plain_text' };
  const written = preferred === undefined ? sum(plain, ({ text }) => textLength(text)) : 0;
  // Sufficient even if every byte of the HTML were a letter, so it need not be decoded.
  if (preferred === undefined && written >= SUBSTANTIAL * sum(alternative.html, bytesOf)) {
    return asPlain;
  }
  const forms = alternative.html.map(decodeForm);
  if (preferred !== undefined) return { sections: forms.map(toChosen), why: preferred };
  // Sufficient even if none of the HTML were hidden, so it need not be parsed.
  if (written >= SUBSTANTIAL * sum(forms, ({ text }) => textUpperBound(text))) return asPlain;
  const html = forms.map(toChosen);
  const isStub = written < SUBSTANTIAL * sum(html, shownLength);
  return isStub ? { sections: html, why: 'plain_is_stub' } : asPlain;
}

/** Why the HTML is read whatever its length; undefined if the plain text may do. */
function whyHtml(
  plain: readonly PlainText[],
  html: readonly Leaf[],
  options: BodyOptions,
): BodyChoice | undefined {
  if (plain.length === 0) return 'only_form';
  if (options.mode === 'html') return 'configured';
  if (saysNothing(plain)) return 'plain_is_stub';
  const places = options.hasInlineImages && placesMoreImages(html, plain, options);
  return places ? 'html_places_images' : undefined;
}

const CID = /(?<=[\s"'=(])cid:([^"'\s<>)]*)/gi;

/** Whether the HTML shows the place of an image that the plain text does not name. */
function placesMoreImages(
  html: readonly Leaf[],
  plain: readonly PlainText[],
  options: BodyOptions,
): boolean {
  const said = plain.map(({ text }) => text).join('\n');
  return html.some((leaf) =>
    [...decodeHtml(leaf).text.matchAll(CID)].some(([, id = '']) => {
      const image = options.inlineImage(id);
      return image !== undefined && !said.includes(`[cid:${id}`) && !said.includes(image.name);
    }),
  );
}

interface Decoded extends PlainText {
  readonly leaf: Leaf;
}

function decodeForm(leaf: Leaf): Decoded {
  return { leaf, ...(leaf.contentType === 'text/html' ? decodeHtml(leaf) : readPlain(leaf)) };
}

function toChosen(form: Decoded): Chosen {
  const { leaf } = form;
  return leaf.contentType === 'text/html'
    ? { kind: 'html', leaf, ...readHtml(form) }
    : { kind: 'plain', ...form };
}

function chosenPlain(leaf: Leaf): Extract<Chosen, { kind: 'plain' }> {
  return { kind: 'plain', leaf, ...readPlain(leaf) };
}

function saysNothing(plain: readonly PlainText[]): boolean {
  const text = plain
    .map((each) => each.text)
    .join('\n')
    .trim();
  if (text === '') return true;
  if (text.length > MAX_STUB_LENGTH) return false;
  const lower = text.toLowerCase();
  return STUB_WORDS.some((words) => lower.includes(words));
}

/** No charset has more UTF-16 units than bytes. */
const bytesOf = ({ content }: Leaf): number => content.size;

function shownLength(chosen: Chosen): number {
  return chosen.kind === 'html' ? visibleLength(chosen.tree) : textLength(chosen.text);
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** Without white space, as in `textUpperBound`. */
function textLength(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x20 && code !== 0xa0 && code !== 0x3000) length += 1;
  }
  return length;
}

/** HTML beyond this length is not read, because no person writes that much. */
const MAX_HTML_LENGTH = 512 * 1024;

interface PlainText {
  readonly text: string;
  /** It was not read completely, so the part has to be attached. */
  readonly cut: boolean;
}

interface HtmlText {
  readonly tree: HtmlElement;
  /** It was not read completely, so the part has to be attached. */
  readonly cut: boolean;
}

export function readPlain(leaf: Leaf): PlainText {
  const { cut, text } = decodeLeaf(leaf, false);
  const { format, delsp } = leaf.parameters;
  const lines = text.replace(/\r\n?/g, '\n');
  const flowed = format?.toLowerCase() === 'flowed';
  const joined = flowed ? joinFlowed(lines, delsp?.toLowerCase() === 'yes') : lines;
  return { text: cleanText(joined), cut };
}

/** The HTML as text, up to the maximum length. */
export function decodeHtml(leaf: Leaf): PlainText {
  const { cut, text } = decodeLeaf(leaf, true);
  return { text: text.slice(0, MAX_HTML_LENGTH), cut: cut || text.length > MAX_HTML_LENGTH };
}

export function readHtml({ text, cut }: PlainText): HtmlText {
  const tree = parseHtml(text);
  if (tree !== undefined) return { tree, cut };
  return { tree: { name: '', attributes: {}, children: [cleanText(stripTags(text))] }, cut: true };
}

function decodeLeaf({ content, parameters }: Leaf, html: boolean): PlainText {
  const cut = content.size > content.start.byteLength;
  const text = decodeText(content.start, parameters['charset'], { html, truncated: cut });
  return { text, cut };
}

/**
 * Joins the soft-broken lines of `format=flowed` text (RFC 3676 §4): a line that ends in a space
 * continues on the next line of the same quote depth, except for the signature delimiter. libmime's
 * own implementation ignores quotes and joins the quote marks into the text.
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

/** RFC 3676 §4.4: removes a space that only protects the start of the line. */
function unstuffed(content: string): string {
  return content.startsWith(' ') ? content.slice(1) : content;
}
