import type { Format } from './body-content.ts';
import { escapeMarkdown } from '../html/markdown-syntax.ts';
import { escapeHtml } from '../html/serialize-html.ts';

/** A line of plain text as a paragraph of content in this format. */
export function formatNote(note: string, format: Format): string {
  if (format === 'MARKDOWN') return escapeMarkdown(note);
  return format === 'HTML' ? `<p>${escapeHtml(note)}</p>` : note;
}
