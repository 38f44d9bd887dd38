import { Parser } from 'htmlparser2';

/**
 * Excludes blanks, controls, unpaired surrogates and characters without a glyph (UAX #44; U+2800:
 * Braille).
 */
const VISIBLE = /[^\s\p{Cc}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text has a visible character. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

/** A name without control characters and characters that reorder the text around it. */
export const cleanName = (name: string): string =>
  name.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '').trim();

/** Elements that the widget removes with their content (`widget/ui/rich/html.ts`). */
const HIDDEN = new Set(
  `script style template svg math iframe object embed noscript title textarea select audio video
  canvas`.split(/\s+/),
);

/** Whether sanitized HTML has any visible content. */
export function isVisibleHtml(html: string): boolean {
  let hidden = 0;
  let found = false;
  const parser = new Parser({
    onopentag: (name, { src, alt }) => {
      if (HIDDEN.has(name)) hidden += 1;
      // A picture is shown as a link with its alternative text or its address.
      else if (name === 'img' && hidden === 0) found ||= isVisible(`${src ?? ''}${alt ?? ''}`);
    },
    onclosetag: (name) => {
      if (HIDDEN.has(name)) hidden -= 1;
    },
    ontext: (text) => {
      if (hidden === 0) found ||= isVisible(text);
    },
  });
  parser.end(html);
  return found;
}
