import type { Alternative } from '../parts/body-parts.ts';
import { type BodyMode, type Chosen, chooseBody } from './choose-body.ts';
import { cutText } from '../../../../runtime/clean-text.ts';
import { type Line, joinLines, textLines } from '../quotes/lines.ts';
import { escapeLineStart, escapeMarkdown } from '../html/markdown-syntax.ts';
import type { InlineImage } from '../html/inline-image.ts';
import type { Leaf } from '../parts/read-parts.ts';
import { renderHtml } from '../html/render-html.ts';
import { cleanHtml, escapeHtml } from '../html/serialize-html.ts';
import { trimQuotes } from '../quotes/trim-quotes.ts';

export type Format = 'TEXT' | 'MARKDOWN' | 'HTML';

/** What is kept to show of a trimmed quote; the raw message has all of it. */
const MAX_TRIMMED_LENGTH = 20_000;

export interface BodyOptions {
  readonly mode: BodyMode;
  /** Take quotes and signatures away. */
  readonly trim: boolean;
  /** An image of the message, by its Content-ID. */
  inlineImage(contentId: string): InlineImage | undefined;
}

export interface BodyContent {
  /** Empty when there is no text. */
  readonly text: string;
  readonly format: Format;
  /** The same without markup. */
  readonly asText: () => string;
  readonly source: 'plain' | 'html' | 'none';
  /** What was taken away as quote and signature, of a long one the start. */
  readonly trimmed: string;
  /** How many lines that are not empty that was. */
  readonly trimmedLines: number;
  /** Parts of which not everything is in the text. */
  readonly cut: readonly Leaf[];
}

/** The body as it goes into the content. */
export function readBody(alternatives: readonly Alternative[], options: BodyOptions): BodyContent {
  const chosen = alternatives.flatMap((each) => chooseBody(each, options.mode));
  const hasHtml = chosen.some(({ kind }) => kind === 'html');
  const format = !hasHtml || options.mode === 'text' ? 'TEXT' : 'MARKDOWN';
  const lines = chosen.flatMap((each, index) => [
    ...(index > 0 ? [{ text: '' }] : []),
    ...linesOf(each, format, options),
  ]);
  const { lines: kept, trimmed: found } = options.trim ? trimQuotes(lines) : { lines, trimmed: [] };
  const asHtml = hasHtml && options.mode === 'html';
  // Of HTML only whole elements can be left out: what the client marked.
  const trimmed = asHtml ? found.filter(({ mark }) => mark !== undefined) : found;
  return {
    text: asHtml ? htmlOf(chosen, options, trimmed.length > 0) : joinLines(kept, format),
    format: asHtml ? 'HTML' : format,
    asText: () => joinLines(kept, 'TEXT'),
    source: chosen.length === 0 ? 'none' : hasHtml ? 'html' : 'plain',
    trimmed: cutText(joinLines(trimmed, 'TEXT'), MAX_TRIMMED_LENGTH),
    trimmedLines: trimmed.filter(({ text }) => text.trim() !== '').length,
    cut: chosen.filter(({ cut }) => cut).map(({ leaf }) => leaf),
  };
}

function linesOf(
  chosen: Chosen,
  format: 'TEXT' | 'MARKDOWN',
  options: BodyOptions,
): readonly Line[] {
  if (chosen.kind === 'html') {
    return renderHtml(chosen.tree, { format, inlineImage: (id) => options.inlineImage(id) });
  }
  const lines = textLines(namedImages(chosen.text, options));
  if (format === 'TEXT') return lines;
  return lines.map(({ text }) => ({
    // Quote marks keep their meaning, in Markdown as in mail.
    text: text.startsWith('>') ? text : escapeLineStart(escapeMarkdown(text)),
    hardBreak: text !== '',
  }));
}

function htmlOf(chosen: readonly Chosen[], options: BodyOptions, trim: boolean): string {
  const parts = chosen.map((each) =>
    each.kind === 'html'
      ? cleanHtml(each.tree, { trim, inlineImage: (id) => options.inlineImage(id) })
      : `<p>${escapeHtml(each.text.trim()).replaceAll('\n', '<br />')}</p>`,
  );
  return parts.filter((part) => part !== '').join('\n');
}

/** Outlook's plain text says `[cid:image001.png@01D0]` where an image stands. */
function namedImages(text: string, options: BodyOptions): string {
  if (!text.includes('[cid:')) return text;
  return text.replace(/\[cid:([^\][\s]{1,255})\]/g, (found, id: string) => {
    const image = options.inlineImage(id);
    return image === undefined ? found : `[image: ${image.name}]`;
  });
}
