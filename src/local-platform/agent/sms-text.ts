import { smsParts } from '../outbound/sms-parts.ts';
import { withoutMarkup } from '../without-markup.ts';

/** About six segments (GSM 03.38, concatenated): nobody reads a longer text message. */
const MAX_CHARS = 900;

/** Markdown as a telephone shows it. What does not fit is left out after a whole sentence, if it can. */
export function smsText(markdown: string, maxChars = MAX_CHARS): string {
  return smsParts(withoutMarkup(markdown), maxChars, 1)[0] ?? '';
}
