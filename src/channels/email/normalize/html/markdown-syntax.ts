/**
 * Escapes what Markdown would take for markup inside of a line, and no more: an AI reads this
 * text, and an order number like `A_12_B` has to stay what it is.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/\\(?=[!-/:-@[-`{-~])/g, '\\\\')
    .replace(/[*`]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/\](?=[(:[])/g, '\\]')
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?=#?[a-z0-9]{1,32};)/gi, '\\&');
}

/** Escapes what Markdown would take for a heading, quote, list or rule at the start of a line. */
export function escapeLineStart(text: string): string {
  return text
    .replace(/^(#{1,6})(?=\s|$)/, '\\$1')
    .replace(/^>/, '\\>')
    .replace(/^([-+])(?=\s|$)/, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** A link; only its text when that says the same. */
export function linkMarkdown(text: string, href: string, markdown: boolean): string {
  const target = href.replace(/^(?:mailto|tel):/i, '');
  const plain = text.replace(/\\(.)/g, '$1').replace(/^<([^<>]*)>$/, '$1');
  const same = [href, target, href.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '')];
  if (same.includes(plain) || same.includes(plain.replace(/\/$/, ''))) return text;
  if (!markdown) return `${text} (${target})`;
  const url = href
    .replace(/[\s()<>[\]\\]/g, encodeURIComponent)
    .replace(/[()]/g, (bracket) => (bracket === '(' ? '%28' : '%29'));
  return `[${text}](${url})`;
}
