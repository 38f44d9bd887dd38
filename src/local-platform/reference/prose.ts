import { html, type Markup } from '../../runtime/markup.ts';

/** Paragraphs, parted by an empty line, with code in backticks. */
export const prose = (text: string): Markup =>
  html`${text
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => html`<p>${phrase(paragraph)}</p>`)}`;

/** One line, with code in backticks. */
export const phrase = (text: string): Markup =>
  html`${text
    .split('`')
    .map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null|-?\d[\d.eE+-]*)\b/g;

/** JSON with its names, texts and other values told apart. */
export function json(value: unknown): Markup {
  const text = JSON.stringify(value, null, 2);
  const parts: Markup[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, quoted, colon = '', word] = match;
    parts.push(html`${text.slice(at, match.index)}`);
    if (quoted === undefined) parts.push(html`<span class="v">${word}</span>`);
    else if (colon === '') parts.push(html`<span class="s">${quoted}</span>`);
    else parts.push(html`<span class="n">${quoted}</span>${colon}`);
    at = match.index + all.length;
  }
  return html`${parts}${text.slice(at)}`;
}
