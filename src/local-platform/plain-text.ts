import sanitizeHtml from 'sanitize-html';
import { withoutMarkup } from './without-markup.ts';

/** A mail's HTML beyond this adds nothing that a search or an excerpt needs. */
const HTML_MAX_CHARS = 200_000;

/** The `text` of a message: its content without markup (API §2.2). */
export function plainText(content: string, format: 'TEXT' | 'MARKDOWN' | 'HTML'): string {
  if (format === 'TEXT') return content;
  if (format === 'MARKDOWN') return withoutMarkup(content);
  const spaced = content
    .slice(0, HTML_MAX_CHARS)
    .replace(/<(?:br|\/p|\/div|\/li|\/tr)\b[^>]{0,200}>/gi, '\n');
  return unescape(sanitizeHtml(spaced, { allowedTags: [], allowedAttributes: {} })).trim();
}

/** sanitize-html leaves these escaped, and only these. */
function unescape(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
