import { setImmediate as nextTurn } from 'node:timers/promises';
import { htmlOf } from '../../outbound/email.ts';
import { plainText, withoutMarkup } from '../../plain-text.ts';
import type { AgentContext } from '../agent.ts';
import type { Knowledge } from '../knowledge.ts';
import { HISTORY_EACH_MAX_CHARS, TEXT_MAX_CHARS } from './prompt.ts';

/** As many characters, about four words, are a quotation rather than a coincidence. */
const QUOTED_CHARS = 20;
/** The same in scripts that write a word with few characters and without spaces. */
const QUOTED_SIGNS = 8;
const SIGNS = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]+$/u;

/**
 * Whether a model's answer to somebody whom nothing confirms may be sent: each address, number and
 * link that its reader gets is in the shop's texts, and it repeats no passage and no name of the
 * emails. Whoever forges a sender would otherwise write to that person in the shop's name.
 */
export async function isSafeForStrangers(
  answer: string,
  { text, subject = '', history, shopName }: AgentContext,
  knowledge: Knowledge,
): Promise<boolean> {
  const own = await ownWordsOf(knowledge);
  const shop = new Set(contactPoints(plain(shopName)));
  const { texts, points } = rendered(answer);
  const isOwnPoint = (point: string) => own.points.has(point) || shop.has(point);
  if (!points.every(isOwnPoint)) return false;
  const emails = [
    subject,
    text.slice(0, TEXT_MAX_CHARS),
    ...history
      .filter(({ role }) => role === 'customer')
      .map((each) => each.text.slice(0, HISTORY_EACH_MAX_CHARS)),
  ].flatMap((each) => lettersIn(rendered(each).texts));
  return texts.every((each) => {
    const said = lettersOf(each);
    return (
      spelledOut(said).every((run) => own.says(run)) &&
      !repeatsPassage(said, emails, own) &&
      !repeatsName(each, said, emails, own)
    );
  });
}

function repeatsPassage(said: string, emails: readonly string[], own: OwnWords): boolean {
  let at = -1;
  /** The next passage of a quotation is found where the last one was. */
  const isOwn = (passage: string) => {
    at = own.letters.startsWith(passage, at + 1) ? at + 1 : own.letters.indexOf(passage);
    return at !== -1;
  };
  // One word, such as the name of a product, is no quotation.
  const short = emails.filter((each) => each.length < QUOTED_CHARS && each.includes(' '));
  const passages = new Set(emails.flatMap(passagesOf));
  return (
    short.some((each) => said.includes(each) && !isOwn(each)) ||
    passagesOf(said).some((passage) => passages.has(passage) && !isOwn(passage))
  );
}

function repeatsName(
  answer: string,
  said: string,
  emails: readonly string[],
  own: OwnWords,
): boolean {
  const theirs = padded(emails);
  const isTheirs = (run: string) => theirs.includes(` ${run} `) && !own.says(run);
  for (const [first = '', second = '', ...more] of wordsAfter(said, 4)) {
    const isLong = GREETINGS.has(`${first} ${second}`);
    if (!isLong && !GREETINGS.has(first)) continue;
    const [name = '', surname = ''] = isLong ? more : [second, ...more];
    if ([name, surname, `${name} ${surname}`].some(isTheirs)) return true;
  }
  for (const [, pair = ''] of answer.matchAll(CAPITALS)) {
    // Shops' own nouns are such pairs, in German above all.
    const run = lettersOf(pair);
    if (isTheirs(run) && run.split(' ').some(isTheirs)) return true;
  }
  return false;
}

/** In the agent's languages. The words after one are whom it greets. */
const GREETINGS = wordsOf(
  'dear,hello,hi,hey,good morning,good afternoon,good evening,good day',
  'hallo,moin,liebe,lieber,liebes,geehrte,geehrter,guten tag,guten morgen,guten abend',
  'bonjour,bonsoir,salut,cher,chère,chers,chères',
  'hola,estimado,estimada,querido,querida,buenos días,buenas tardes,buenas noches',
  'ciao,salve,gentile,egregio,egregia,caro,cara,buongiorno,buonasera',
);
/** Two words that begin with a capital. */
const CAPITALS =
  /(?<![\p{L}\p{M}\p{N}])(?=(\p{Lu}[\p{L}\p{M}\p{N}]*[^\p{L}\p{M}\p{N}]+\p{Lu}[\p{L}\p{M}\p{N}]*))/gu;

const NUMBERS = wordsOf(
  'zero,oh,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,twenty,thirty,forty',
  'fifty,sixty,seventy,eighty,ninety,hundred,thousand,double,triple',
  'null,eins,zwei,zwo,drei,vier,fünf,sechs,sieben,acht,neun,zehn,elf,zwölf,hundert,tausend,doppel',
  'zéro,un,deux,trois,quatre,cinq,sept,huit,neuf,dix,onze,douze,vingt,trente,quarante,cinquante',
  'soixante,cent,mille',
  'cero,uno,dos,tres,cuatro,cinco,seis,siete,ocho,nueve,diez,veinte,treinta,cien,ciento,mil,doble',
  'due,tre,quattro,cinque,sei,sette,otto,nove,dieci,undici,dodici,venti,trenta,cento,doppio',
);
const DOTS = wordsOf('dot,punkt,point,punto');

function wordsOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(',')));
}

/** The numbers in words, three words at a time, and each `dot com`. */
const spelledOut = (said: string): string[] =>
  wordsAfter(said, 3).flatMap((words) => {
    const [first = '', second = ''] = words;
    if (DOTS.has(first)) return `${first} ${second}`;
    const end = words.findIndex((word) => !NUMBERS.has(word) && !/^\p{N}/u.test(word));
    const run = end < 0 ? words : words.slice(0, end);
    return run.length > 1 && run.some((word) => NUMBERS.has(word)) ? run.join(' ') : [];
  });

/** Each word with those after it, so many in all. */
function wordsAfter(said: string, count: number): string[][] {
  const words = said.split(' ');
  return words.map((_word, at) => words.slice(at, at + count));
}

interface OwnWords {
  readonly points: ReadonlySet<string>;
  readonly letters: string;
  /** Whether they have a run of words. */
  says(run: string): boolean;
}

/** The shop's texts stay the same for many answers. */
const ownWords = new WeakMap<Knowledge, Promise<OwnWords>>();

function ownWordsOf(knowledge: Knowledge): Promise<OwnWords> {
  const known = ownWords.get(knowledge) ?? readOwnWords(knowledge);
  ownWords.set(knowledge, known);
  return known;
}

/** One section a turn: the shop's texts may be megabytes. */
async function readOwnWords({ sections }: Knowledge): Promise<OwnWords> {
  const points = new Set<string>();
  const letters: string[] = [];
  const words = new Set<string>();
  for (const { title, heading, text } of sections) {
    for (const each of [title, heading, text].map(rendered)) {
      for (const point of each.points) points.add(point);
      for (const run of lettersIn(each.texts)) {
        letters.push(run);
        for (const word of run.split(' ')) words.add(word);
      }
    }
    await nextTurn();
  }
  const all = padded(letters);
  // All of it is looked through only for runs of its own words: an answer may have a thousand others.
  const says = (run: string) =>
    run.split(' ').every((word) => words.has(word)) && (words.has(run) || all.includes(` ${run} `));
  return { points, letters: all, says };
}

/** A run of words is in them if it is with a space before and after. */
const padded = (letters: readonly string[]): string =>
  letters.flatMap((each) => (each === '' ? [] : ` ${each} `)).join('\n');

/** Nothing is shown for these, or a mark at the letter before. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}]/gu;
/** Dots that a reader takes for one: `[.]`, ` .`, and `。` unless a sentence of its scripts follows. */
const DOT =
  / ?[[({<] ?\. ?[\])}>] ?| \.(?=\p{L})|。(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])/gu;

const plain = (text: string): string =>
  text.normalize('NFKC').replace(INVISIBLE, '').replace(DOT, '.');

/** Where a link leads, and words that appear over it, which no honest answer has. */
const ATTRIBUTE = / (?:href|src|title)="(?:mailto:|tel:\+?)?([^"]*)"/giu;

/**
 * What the reader of an email gets of Markdown: the texts of both parts, and where the links lead.
 * The source is one of the texts, since the numbers that HTML gives a list are in no other.
 */
function rendered(markdown: string) {
  const html = htmlOf(markdown);
  const links = [...html.matchAll(ATTRIBUTE)].map(([, value = '']) => value.toLowerCase());
  const parts = [markdown, withoutMarkup(markdown), plainText(html, 'HTML')];
  const texts = [...new Set(parts.map(plain))];
  return { texts, points: [...links, ...texts.flatMap(contactPoints)] };
}

/** `1.` at the beginning of a line of Markdown is no number. */
const LIST_MARK = /^ {0,9}\d{1,2}[.)] {1,3}(?=[^\s\p{N}]{0,5}\p{L})/gmu;
/** A number with what is written between its digits, as in `+1 (555) 000-2222`. */
const NUMBER = /\p{N}(?:[\p{N} \t.,:/()+-]*\p{N})?/gu;
/** A number with anything but letters between its digits, as in `3|5|2|3`. */
const JOINED = /\p{N}(?:[^\p{L}]*\p{N})?/gu;
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}@.:/_%?=&#+~-]*[\p{L}\p{N}/])?/gu;
const LINK = /@|:\/\/|[^.]\.\p{L}{2}/u;

/** The numbers, as digits only, and the words that are an address or a link. */
function contactPoints(text: string): string[] {
  const read = text.toLowerCase().replace(LIST_MARK, '').replaceAll('mailto:', '');
  const numbers = [...read.matchAll(NUMBER), ...read.matchAll(JOINED)];
  return [
    ...numbers.map(([number]) => number.replace(/[^\p{N}]/gu, '')),
    ...(read.match(WORD) ?? []).filter((word) => LINK.test(word)),
  ];
}

const lettersOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Most texts are the same however they are read. */
const lettersIn = (texts: readonly string[]) => [...new Set(texts.map(lettersOf))];

/** Everything in a text that would be a quotation. */
const passagesOf = (letters: string): string[] => [
  ...runsOf(letters, QUOTED_CHARS),
  ...runsOf(letters, QUOTED_SIGNS).filter((run) => SIGNS.test(run)),
];

const runsOf = (letters: string, chars: number): string[] =>
  Array.from({ length: Math.max(0, letters.length - chars + 1) }, (_, at) =>
    letters.slice(at, at + chars),
  );
