import { NO_TEXT } from '../domain/no-text.ts';
import sanitizeHtml from 'sanitize-html';
import MarkdownIt from 'markdown-it';
import type Token from 'markdown-it/lib/token.mjs';
import { cutText } from '../runtime/clean-text.ts';

/** HTML beyond this length is left out of the text. */
const HTML_MAX_CHARS = 200_000;

/** The `text` of a message: its content without markup (API §2.2). */
export function plainText(content: string, format: 'TEXT' | 'MARKDOWN' | 'HTML'): string {
  if (format === 'TEXT') return content;
  if (format === 'MARKDOWN') return withoutMarkup(content);
  const spaced = content
    .slice(0, HTML_MAX_CHARS)
    .replace(/<(?:br|\/p|\/div|\/li|\/tr)\b[^<>]*>/gi, '\n');
  return unescape(sanitizeHtml(spaced, { allowedTags: [], allowedAttributes: {} })).trim();
}

/** Decodes the entities that sanitize-html leaves in its output. */
function unescape(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Markdown beyond this length keeps its markup. */
const MAX_CHARS = 100_000;
const WORD = /[\p{L}\p{N}]/u;

const markdown = new MarkdownIt({ html: false });
// Links are not followed here, so addresses are kept as they were written.
markdown.validateLink = () => true;
markdown.normalizeLink = (url) => url;
markdown.normalizeLinkText = (url) => url;

/** The line prefix of a list item or a quote. */
interface Prefix {
  /** For the first line; undefined once that is written. */
  marker: string | undefined;
  readonly rest: string;
}

/**
 * Converts Markdown (CommonMark, with tables) to plain text: links become their text and address, and
 * the marks of emphasis, headings and code are removed. Lists and quotes keep their marks, and blocks
 * the blank lines between them; a table row becomes a line.
 */
export function withoutMarkup(text: string): string {
  const end = text.length <= MAX_CHARS ? text.length : text.lastIndexOf('\n', MAX_CHARS) + 1;
  return `${blockText(markdown.parse(text.slice(0, end || MAX_CHARS), {}))}${text.slice(end || MAX_CHARS)}`;
}

function blockText(tokens: readonly Token[]): string {
  const prefixes: Prefix[] = [];
  let text = '';
  let lastLine = 0;
  let cells: string[] | undefined;
  const put = (block: string, [first, end]: readonly [number, number]) => {
    if (text !== '') text += first > lastLine ? '\n\n' : '\n';
    text += block
      .split('\n')
      .map((line) => withPrefixes(prefixes, line))
      .join('\n');
    lastLine = end;
  };
  for (const token of tokens) {
    const lines = token.map ?? ([lastLine, lastLine] as const);
    switch (token.type) {
      case 'blockquote_open':
        prefixes.push({ marker: undefined, rest: '> ' });
        break;
      case 'list_item_open': {
        const marker = `${token.info}${token.markup} `;
        prefixes.push({ marker, rest: ' '.repeat(marker.length) });
        break;
      }
      case 'blockquote_close':
      case 'list_item_close':
        prefixes.pop();
        break;
      case 'tr_open':
        cells = [];
        break;
      case 'tr_close':
        put(cells?.join(' | ') ?? '', lines);
        cells = undefined;
        break;
      case 'inline':
        if (cells === undefined) put(inlineText(token.children ?? []), lines);
        else cells.push(inlineText(token.children ?? []));
        break;
      case 'fence':
      case 'code_block':
        put(token.content.replace(/\n$/, ''), lines);
        break;
      case 'hr':
        put(token.markup, lines);
    }
  }
  return text;
}

function withPrefixes(prefixes: readonly Prefix[], line: string): string {
  let before = '';
  for (const each of prefixes) {
    before += each.marker ?? each.rest;
    each.marker = undefined;
  }
  return line === '' ? before.trimEnd() : `${before}${line}`;
}

/** The text of a paragraph, a heading or a table cell. */
function inlineText(tokens: readonly Token[]): string {
  const kept = marksInWords(tokens);
  const links: { readonly before: string; readonly url: string }[] = [];
  let text = '';
  for (const token of tokens) {
    switch (token.type) {
      case 'text':
      case 'code_inline':
        text += token.content;
        break;
      case 'softbreak':
      case 'hardbreak':
        text += '\n';
        break;
      case 'link_open':
        links.push({ before: text, url: token.attrGet('href') ?? '' });
        text = '';
        break;
      case 'link_close': {
        const link = links.pop();
        if (link !== undefined) text = `${link.before}${linkText(text, link.url)}`;
        break;
      }
      case 'image':
        text += linkText(inlineText(token.children ?? []), token.attrGet('src') ?? '');
        break;
      default:
        if (kept.has(token)) text += token.markup;
    }
  }
  return text;
}

function linkText(words: string, url: string): string {
  const address = url.replace(/^(?:mailto|tel):/i, '');
  return [url, address, ''].includes(words) ? address : `${words} (${address})`;
}

/** Emphasis within a word is kept: in `2*3*4` the author meant a product. */
function marksInWords(tokens: readonly Token[]): ReadonlySet<Token> {
  const open: number[] = [];
  const kept = new Set<Token>();
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'em_open') open.push(at);
    if (token.type !== 'em_close') continue;
    const from = open.pop() ?? at;
    const [before, opening] = tokens.slice(Math.max(0, from - 1), from + 1);
    const isInWord =
      WORD.test(before?.content.at(-1) ?? '') && WORD.test(tokens[at + 1]?.content.at(0) ?? '');
    if (isInWord && opening !== undefined) kept.add(opening).add(token);
  }
  return kept;
}

const TITLE_MAX = 120;
const EXCERPT_MAX = 200;

/** A ticket's name: the subject, else the first line of the text. One line, never empty. */
export function titleOf(subject: string, text: string): string {
  const line = oneLine(subject, TITLE_MAX) || oneLine(/\S.*/.exec(text)?.[0] ?? '', TITLE_MAX);
  return shortened(line, TITLE_MAX) || NO_TEXT;
}

/** The beginning of a text on one line, for lists. */
export function excerptOf(text: string): string {
  return shortened(oneLine(text, EXCERPT_MAX), EXCERPT_MAX);
}

/** Reads only the beginning of a long text, because the rest is cut off anyway. */
const oneLine = (text: string, max: number) =>
  text
    .slice(0, max * 20)
    .replace(/\s+/g, ' ')
    .trim();

/** Cuts between words if possible, else between characters. */
function shortened(line: string, max: number): string {
  if (line.length <= max) return line;
  const space = line.lastIndexOf(' ', max - 1);
  const shown = space > max / 2 ? line.slice(0, space) : cutText(line, max - 1);
  return `${shown}…`;
}
