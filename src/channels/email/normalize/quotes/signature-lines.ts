import { withoutEnd } from '../../../../runtime/without-end.ts';
import { withoutLinks } from './device-lines.ts';
import { bareText, type Line } from './lines.ts';
import { isAddedLine } from './markers/footers.ts';
import {
  announcingWords,
  answers,
  belowWords,
  closings,
  closingWords,
  connectors,
  detailWords,
  greetings,
  personal,
  positions,
  PRONOUNS,
  signatureWords,
  thingWords,
  uncasedCard,
  wishes,
} from './markers/signature-words.ts';
import { findPhrase, folded, startsWithPhrase } from './words.ts';

/** A line is read up to here. */
const MAX_LENGTH = 400;
const MAX_GREETING_WORDS = 4;
/** With its mark at the end it may be longer, and begin with any word. */
const MAX_MARKED_GREETING = 10;

/** Whether the line is a greeting and perhaps a name: "Hi", "Dear Acme team,", "To whom it may concern,". */
export function isGreeting(line: Line): boolean {
  const text = bareText(line).slice(0, MAX_LENGTH);
  const said = folded(text).replace(/[,.!\s]{1,5}$/, '');
  const words = said.split(/[\s,]+/);
  if (words.length > MAX_MARKED_GREETING) return false;
  if (/[,，、]$/.test(text) && !words.some(isAnswer)) return !isClosing(text);
  const starts = greetings.some((greeting) => startsWithPhrase(said, greeting));
  return starts && (words.length <= MAX_GREETING_WORDS || text.endsWith('!'));
}

const isAnswer = (word: string): boolean => personal.has(word) || answers.has(word);

/** `Tel.`, `E-Mail:`, `m:` */
const CONTACT_LABEL =
  /^(?:t|m|f|e|w|p|tel|telefon|phone|telephone|mobile|mobil|fax|direct|office|handy|e-?mail|mail|cell|web|website|internet|téléphone|portable|teléfono|móvil|telefono|cellulare|telefone|тел|факс|電話|电话|전화)(?!\p{L})\.?\s?[:：]?/iu;
/** `linkedin.example/in/ann` without a scheme. */
const HOST =
  /(?<!\S)[\w-]{1,40}(?:\.[\w-]{1,40}){0,2}\.(?:com|net|org|info|io|co|eu|de|at|ch|fr|es|it|pt|nl|be|uk|pl|cz|se|dk|no|fi|ru|ua|jp|cn|kr|example)(?:\/\S{0,100})?(?!\S)/giu;
/** "i. A. Ann Lee", as employees sign in German. */
const ON_BEHALF = /^i\. ?[AV]\. /;
const SEPARATORS = /[\s/|·•–—,;]+/;
const isAddress = (word: string): boolean => /^(?:https?:\/\/|www\.)\S|\S@\S/i.test(word);
const isDigits = (word: string): boolean => /^[+(]*\p{Nd}[\p{Nd}().:-]*$/u.test(word);

/** The words without addresses on the internet and telephone numbers (E.164: at most 15 digits). */
function withoutContacts(words: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let from = 0; from < words.length; from += 1) {
    let to = from;
    // A link has its number twice: "030 123456 (+4930123456)".
    while (isDigits(words[to] ?? '') && !(to > from && words[to]?.startsWith('(+'))) to += 1;
    const digits = words
      .slice(from, to)
      .join(' ')
      .replace(/\P{Nd}/gu, '').length;
    const isSpaced = to - from > 1 || /^[+(0]|[().-]/.test(words[from] ?? '');
    if (to > from && isSpaced && digits >= 7 && digits <= 15) from = to - 1;
    else if (!isAddress(words[from] ?? '')) kept.push(words[from] ?? '');
  }
  return kept;
}

/** A telephone number, an address on the internet, a post code with a street. */
export function isContactLine(line: Line): boolean {
  const words = bareText(line).slice(0, MAX_LENGTH).split(SEPARATORS);
  return (
    withoutContacts(words).length < words.length || words.some((word) => /\p{Nd}{4}/u.test(word))
  );
}

/** In front of a number of the person's: "Kd.-Nr. 4711", "S/N 99-1". Those of companies are footers. */
const NUMBERED = /nummer$|[^\p{L}]nr$|^(?:nr|no|n°|nº|№|id|code|s|total)$/u;

/** A list, or an amount: "- Aurora Lamp", "2 x Lamp". */
const ITEM = /^(?:[-•–] |\p{Nd}{1,3}(?:[.)]| ?[x×])? )/u;
export const isItem = (line: Line): boolean => ITEM.test(bareText(line)) && !isAddedLine(line.text);

/** Whether the line has a number that is none of a telephone or a company: "10115 Berlin", "ERROR 17". */
export function hasOwnNumber(line: Line | undefined): boolean {
  if (line === undefined || isAddedLine(bareText(line))) return false;
  const words = withoutContacts(
    withoutLinks(bareText(line).slice(0, MAX_LENGTH)).split(SEPARATORS),
  );
  return /\p{Nd}/u.test(words.join(''));
}

/** Above a name, a company or a street there are seldom more words. */
const MAX_CARD_WORDS = 9;

/**
 * Whether a line reads like one of a signature: a name, a position, an address, numbers and links of
 * their own, a closing, a company's footer. Everything else may be what a person wrote.
 * @param isDelimited below `-- `, where clients put nothing but signatures: a nickname counts, too
 */
export function isCardLine(line: Line, isDelimited: boolean): boolean {
  const text = bareText(line).slice(0, MAX_LENGTH);
  if (isAddedLine(text) || isClosing(text)) return true;
  if (/[?？؟;。！]$/.test(text)) return false;
  const said = withoutLinks(text)
    .trim()
    .replace(ON_BEHALF, '')
    .replace(CONTACT_LABEL, ' ')
    .replace(HOST, ' ');
  const written = withoutContacts(said.split(SEPARATORS)).filter((word) =>
    /[\p{L}\p{N}]/u.test(word),
  );
  if (written.length > MAX_CARD_WORDS) return false;
  const words = written.map((word) => folded(withoutEnd(word, /[.:!)"]/)));
  if (words.some((word) => NUMBERED.test(word)) && /\p{Nd}/u.test(written.join(''))) return false;
  if (words.some((word) => personal.has(word) || thingWords.has(word))) return false;
  if (answers.has(words[0] ?? '') && !/^\p{Nd}/u.test(words[1] ?? '')) return false;
  if (written.length === 0) return /[\p{L}\p{N}]/u.test(text);
  if (/\p{L}{4}!?[.!]$/u.test(text) && written.length > 3) return false;
  const letters = written.filter((word) => /\p{L}/u.test(word));
  if (letters.length === 0) return CONTACT_LABEL.test(text);
  if (letters.some((word) => /(?![ªº])\p{Lo}/u.test(word))) return isUncasedCard(letters);
  const isPosition = words.some((word) => positions.has(word)) || PRONOUNS.test(text);
  if (written.length <= 5 && isPosition) return true;
  const small = written.filter(
    (word, at) => /^\p{Ll}/u.test(word) && !connectors.has(words[at] ?? ''),
  );
  return small.length === 0 || (isDelimited && written.length === 1);
}

/** What Chinese and Japanese need to say what they want; Japanese names and addresses hardly have. */
const SENTENCE = /[我你您请請想吗嗎嘛没還还不退了]|(?!の)\p{Script=Hiragana}|세요|니다/u;

/** Names in scripts without capitals are short. */
function isUncasedCard(words: readonly string[]): boolean {
  const text = words.join(' ');
  if (SENTENCE.test(text)) return false;
  return (
    words.join('').length <= 4 ||
    uncasedCard.test(text) ||
    (words.length <= 2 && /^[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(text))
  );
}

/** A closing without capitals has a name of one or two words behind it. */
const MAX_UNCASED_CLOSING = 3;
const MAX_WISH_WORDS = 6;

/** "Many thanks in advance, Ann", and not "Thanks, it works now"; "Have a nice day". */
export function isClosing(text: string): boolean {
  const words = text.split(/[\s,.:!&/–-]+/).filter((word) => word !== '');
  const said = words.map(folded);
  const line = said.join(' ');
  if (words.length <= MAX_WISH_WORDS && wishes.some((wish) => startsWithPhrase(line, wish))) {
    return true;
  }
  const first = said.findIndex((word) => closings.has(word));
  const mayBeName = (word: string): boolean =>
    /^\p{Lu}/u.test(word) || (/^\p{Lo}/u.test(word) && words.length <= MAX_UNCASED_CLOSING);
  return (
    first !== -1 &&
    said.every((word, at) => {
      if (closings.has(word) || closingWords.has(word)) return true;
      return at > first && mayBeName(words[at] ?? '');
    })
  );
}

/** The most of a text in which a pointer is looked for, and the end of it that announces something. */
const MAX_POINTING = 2000;
const NEAR = 40;
const ANNOUNCING = 160;

/**
 * Whether the text says that something is in its signature, or announces at its end what may be
 * there: "the number below", "my address is", "Ship it to:".
 */
export function pointsToSignature(lines: readonly Line[]): boolean {
  const text = folded(lines.map(bareText).join(' ').slice(-MAX_POINTING));
  if (/[:：]$/.test(text)) return true;
  if (signatureWords.some((word) => text.includes(word))) return true;
  const last = folded(lines.slice(-2).map(bareText).join(' ').slice(-ANNOUNCING));
  if ([...detailWords, ...announcingWords].some((word) => last.includes(word))) return true;
  return belowWords.some((word) => {
    const at = findPhrase(text, word);
    if (at === -1) return false;
    const around = text.slice(Math.max(0, at - NEAR), at + word.length + NEAR);
    return detailWords.some((detail) => around.includes(detail));
  });
}
