import { withoutEnd } from '../../../../runtime/without-end.ts';
import { bareText, type Line } from './lines.ts';
import {
  belowWords,
  connectors,
  detailWords,
  greetings,
  pleas,
  signatureWords,
  speech,
} from './markers/signature-words.ts';
import { findPhrase, folded, startsWithPhrase } from './words.ts';

/** A line is read up to here. */
const MAX_LENGTH = 400;
const MAX_GREETING_WORDS = 6;
/** Fewer words in lower case, where no full stop is, are those of a position or an address. */
const WORDS_WITH_COMMA = 3;
const WORDS_WITHOUT_END = 6;
const ABBREVIATIONS =
  /\b(?:ltd|inc|co|corp|st|str|tel|dr|mr|mrs|ms|no|nr|dept|gmbh|bldg|ave|rd)\.$/i;

/** Whether the line is a greeting and perhaps a name: "Hi", "Dear Acme team,". */
export function isGreeting(line: Line): boolean {
  const text = folded(bareText(line).slice(0, MAX_LENGTH)).replace(/[,.!\s]{1,5}$/, '');
  if (text.split(' ').length > MAX_GREETING_WORDS) return false;
  return greetings.some((greeting) => startsWithPhrase(text, greeting));
}

/** A telephone number, an address on the internet, a post code with a street. */
export function isContactLine(line: Line): boolean {
  const text = bareText(line).slice(0, MAX_LENGTH);
  return /\S@\S|https?:\/\/|www\.|\p{Nd}{4}|\p{Nd}{2,4}[ ./-]\p{Nd}{2,4}/u.test(text);
}

/**
 * Whether a person says something in this line: a question, a sentence, a "yes" or a "please". Names,
 * positions, addresses and links are none of it.
 */
export function isSpeech(line: Line): boolean {
  const text = withoutLinks(bareText(line).slice(0, MAX_LENGTH));
  if (/\p{L}[^?？؟]{0,3}[?？؟]/u.test(text)) return true;
  if (/\p{Script=Greek}/u.test(text) && /[;\u037e]/.test(text)) return true;
  if (/\p{Lo}{4}/u.test(text) && /[。！，،।]/.test(text)) return true;
  const written = text.split(/[\s/|·•]+/);
  const words = written.map((word) => folded(withoutEnd(word, /[,.;:!)"]/)));
  // "No. 5 Main Street"
  if (speech.has(words[0] ?? '') && !/^no\. ?\p{Nd}/iu.test(text)) return true;
  const said = folded(text);
  if (pleas.some((plea) => findPhrase(said, plea) !== -1)) return true;
  const small = written.filter((word, index) => isSmall(word, words[index]));
  const ends = /[\p{L}\p{N})][.!…]["'”’)]?$/u.test(text) && !ABBREVIATIONS.test(text);
  if (ends) return small.length > 0;
  return small.length >= (text.includes(', ') ? WORDS_WITH_COMMA : WORDS_WITHOUT_END);
}

/** A word that begins in lower case, or that is written in a script without capitals. */
const isSmall = (word: string, said = ''): boolean =>
  /^["'(]?[\p{Ll}\p{Lo}]/u.test(word) && !word.includes('@') && !connectors.has(said);

const withoutLinks = (text: string): string => text.replace(/(?:https?:\/\/|www\.)\S+/gi, '');

/** The most of a text in which a pointer is looked for. */
const MAX_POINTING = 2000;
const NEAR = 40;

/** Whether the text says that something is in its signature: "the number below". */
export function pointsToSignature(lines: readonly Line[]): boolean {
  const text = folded(lines.map(bareText).join(' ').slice(0, MAX_POINTING));
  if (signatureWords.some((word) => text.includes(word))) return true;
  return belowWords.some((word) => {
    const at = findPhrase(text, word);
    if (at === -1) return false;
    const around = text.slice(Math.max(0, at - NEAR), at + word.length + NEAR);
    return detailWords.some((detail) => around.includes(detail));
  });
}
