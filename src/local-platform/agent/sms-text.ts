import { smsParts } from '../outbound/sms-parts.ts';
import { withoutMarkup } from '../without-markup.ts';

/** Markdown as a telephone shows it. What does not fit is left out after a whole sentence, if it can. */
export function smsText(markdown: string, maxChars: number): string {
  return smsParts(withoutMarkup(markdown), maxChars, 1)[0] ?? '';
}
