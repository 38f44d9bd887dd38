import { HTML_CLIENTS } from './html-clients.ts';
import { REPLY_LANGUAGES, type ReplyLanguage } from './languages.ts';
import { OWN_SENTENCES } from './own-sentences.ts';
import { type Answered, htmlOf, type ReplyClient } from './shapes.ts';
import { FORWARD_HEADS, TEXT_CLIENTS } from './text-clients.ts';
import { madeUpWords, WordMaker } from './words.ts';

/** A reply whose new and quoted words are known, because all of them are made up. */
export interface GeneratedReply {
  readonly client: string;
  readonly language: string;
  /** Where the new text stands. */
  readonly posting: 'top' | 'bottom' | 'inline' | 'forward';
  /** What else is special about it, for a report. */
  readonly extras: readonly string[];
  readonly contentType: 'text/plain' | 'text/html';
  readonly body: string;
  /** The made-up words of the person who answers, which must all stay. */
  readonly own: readonly string[];
  /** Those of the answered message and its head; only a reply on top may lose them, and should. */
  readonly quoted: readonly string[];
}

/** The text of a person, and the words in it. */
interface Written {
  readonly lines: readonly string[];
  readonly words: readonly string[];
}

export const REPLY_CLIENTS: readonly ReplyClient[] = [...TEXT_CLIENTS, ...HTML_CLIENTS];

/** A reply as it is written by one of many programs, the same for the same number. */
export function generateReply(seed: number): GeneratedReply {
  const make = new WordMaker(seed);
  const language = make.pick(REPLY_LANGUAGES);
  const clients = REPLY_CLIENTS.filter(
    ({ languages }) => languages?.includes(language.code) ?? true,
  );
  if (make.chance(0.08)) return writeForward(make, language);
  return write(make, language, make.pick(clients));
}

/** A forward with a note above it: all of it is what the person sends. */
function writeForward(make: WordMaker, language: ReplyLanguage): GeneratedReply {
  const to = answered(make, language);
  const own = writeOwn(make, language);
  const old = writeOld(make);
  const head = make.pick(FORWARD_HEADS)(to);
  const quoted = head.some((line) => line.startsWith('> '));
  const lines = quoted ? old.lines.map((line) => `> ${line}`) : old.lines;
  const signature = make.chance(0.3) ? ['', '-- ', 'Ann Customer'] : [];
  return {
    client: 'forwards (text)',
    language: language.code,
    posting: 'forward',
    extras: [],
    contentType: 'text/plain',
    body: [...own.lines, ...signature, '', ...head, ...lines].join('\r\n'),
    own: [...own.words, ...old.words],
    quoted: [],
  };
}

function write(make: WordMaker, language: ReplyLanguage, client: ReplyClient): GeneratedReply {
  const to = answered(make, language);
  const own = writeOwn(make, language);
  const old = writeOld(make);
  const posting = client.marked
    ? make.pick(['top', 'top', 'top', 'bottom', 'inline'] as const)
    : 'top';
  const extras: string[] = [];
  const added = addedLines(make, language, posting, extras);
  const parts: Parts = { make, to, own, old, added, posting, extras };
  const body = client.kind === 'text' ? writeText(client, parts) : writeHtml(client, parts);
  return {
    client: `${client.name} (${client.kind})`,
    language: language.code,
    posting,
    extras,
    contentType: client.kind === 'text' ? 'text/plain' : 'text/html',
    body,
    own: own.words,
    quoted: posting === 'top' ? [...old.words, ...to.words] : [],
  };
}

interface Parts {
  readonly make: WordMaker;
  readonly to: Answered;
  readonly own: Written;
  readonly old: Written;
  /** A signature or what a telephone appends. */
  readonly added: readonly string[];
  readonly posting: GeneratedReply['posting'];
  readonly extras: string[];
}

/** A made-up message that is answered, and the words that its head shows. */
export function answered(
  make: WordMaker,
  language: ReplyLanguage,
): Answered & { words: readonly string[] } {
  const name = make.name();
  const domain = make.word();
  const at = new Date(Date.UTC(2026, make.below(12), 1 + make.below(28), make.below(24), 4));
  const date = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language.locale, { ...options, timeZone: 'UTC' }).format(at);
  return {
    language,
    date,
    iso: at.toISOString().slice(0, 10),
    name: make.pick([`${name} Support`, name, `${name} Customer Happiness Team`]),
    address: `support@${domain}.example`,
    subject: make.pick(['Order 4711', 'Return', 'Your question']),
    words: [name.toLowerCase(), domain],
  };
}

/** What tempts a reader of quotes, though a person wrote it. `{w}` is a made-up word. */
const TEMPTING = [
  'Sent from my iPhone {w} {w} because the {w} broke.',
  'Sent from the {w} hotel, so please call me.',
  'On Monday {w} told me: {w} it.',
  'From: {w} to {w} was the route.',
  'I wrote to {w} on 5 January and {w} wrote back.',
  '- {w}',
  '{w}:',
  'Von meinem {w} ging das Geld ab.',
  'Envoyé de {w} le 5 janvier, merci de {w}.',
  'Date: {w}',
  '1. {w}',
  '--- {w} ---',
  'Get Outlook for {w}?',
  'The original message was {w}, was it not?',
  'Am Montag schrieb ich {w}.',
];

function writeOwn(make: WordMaker, { code }: ReplyLanguage): Written {
  const sentences = OWN_SENTENCES[code] ?? [];
  const lines: string[] = [];
  const paragraphs = 1 + make.below(3);
  for (let paragraph = 0; paragraph < paragraphs; paragraph += 1) {
    if (paragraph > 0) lines.push('');
    const count = 1 + make.below(3);
    for (let each = 0; each < count; each += 1) {
      const said = sentences.length > 0 && make.chance(0.4) ? make.pick(sentences) : undefined;
      lines.push(said === undefined ? make.sentence(2 + make.below(9)) : withNames(make, said));
    }
    if (make.chance(0.25)) {
      lines.splice(make.below(lines.length), 0, withNames(make, make.pick(TEMPTING)));
    }
  }
  return { lines, words: wordsOf(lines) };
}

/** Fills `{w}`, each with another made-up name. */
export const withNames = (make: WordMaker, said: string) =>
  said.replace(/\{w\}/g, () => make.name());

/** The text of the answered message, perhaps with a signature and an older quote. */
export function writeOld(make: WordMaker): Written {
  const lines = Array.from({ length: 2 + make.below(5) }, () =>
    make.chance(0.15) ? '' : make.sentence(3 + make.below(7)),
  );
  if (make.chance(0.3)) lines.push('', '-- ', make.name());
  if (make.chance(0.2))
    lines.push('', `Am 1. Januar schrieb ${make.name()}:`, `> ${make.sentence(4)}`);
  return { lines: [make.sentence(3), ...lines], words: wordsOf(lines) };
}

function wordsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap(madeUpWords);
}

function addedLines(
  make: WordMaker,
  { devices }: ReplyLanguage,
  posting: GeneratedReply['posting'],
  extras: string[],
): readonly string[] {
  if (posting === 'inline' || make.chance(0.5)) return [];
  if (make.chance(0.5)) {
    extras.push('device');
    return ['', make.pick(devices)];
  }
  extras.push('signature');
  return ['', '-- ', 'Ann Customer', 'Tel. 0123 456789'];
}

const MAILMAN_FOOTER = [
  '_______________________________________________',
  'Customers mailing list -- customers@lists.example',
  'To unsubscribe send an email to customers-leave@lists.example',
];
const SCANNER_FOOTER = [
  'This email has been checked for viruses by Avast antivirus software.',
  'https://www.avast.com/antivirus',
];
const DISCLAIMER = [
  'This e-mail and any attachments are confidential and intended solely for the addressee.',
  'If you have received it in error, please notify the sender and delete it.',
];

function writeText(client: ReplyClient & { kind: 'text' }, parts: Parts): string {
  const { make, to, own, old, added, posting, extras } = parts;
  const written = varied(make, client.head(to), extras);
  const head = written.flatMap((line) => (make.chance(0.5) ? wrap(line, 76, '') : [line]));
  let quoted = client.marked ? quoteLines(make, old.lines, extras) : old.lines;
  if (client.marked && posting === 'top' && make.chance(0.2)) {
    extras.push('hard-wrapped');
    const width = 68 + make.below(10);
    quoted = quoted.flatMap((line) => wrap(line, width, ''));
  }
  const newline = make.pick(['\r\n', '\r\n', '\n']);
  const blank = make.chance(0.85) ? [''] : [];
  if (posting === 'bottom') return [...head, ...quoted, '', ...own.lines, ...added].join(newline);
  if (posting === 'inline') return inlineLines(make, head, quoted, own.lines).join(newline);
  const lines = [...own.lines, ...added, ...(added.length > 0 ? [''] : blank), ...head, ...quoted];
  return [...lines, ...footer(make, client.marked, extras)].join(newline);
}

/** What programs on the way do to spaces. */
function varied(make: WordMaker, head: readonly string[], extras: string[]): readonly string[] {
  if (make.chance(0.6)) return head;
  const [name, change] = make.pick<readonly [string, (line: string) => string]>([
    [
      'no-break spaces',
      (line) => line.replace(/(?<=\d) (?=\p{L})/u, '\u202f').replace(' ', '\u00a0'),
    ],
    ['trailing spaces', (line) => `${line}  `],
    ['indented', (line) => (line === '' ? line : ` ${line}`)],
    ['marks of direction', (line) => line.replace(/(?=\d)/, '\u200e')],
    ['wrapped at the address', (line) => line.replace(' <', '\n<')],
    ['wrapped in the address', (line) => line.replace('<', '<\n')],
    ['without a date', (line) => line.replace(/^On \p{L}{3}, .{8,24} at \d.{3,9} (?=\p{Lu})/u, '')],
  ]);
  extras.push(name);
  return head.flatMap((line) => change(line).split('\n'));
}

function quoteLines(
  make: WordMaker,
  lines: readonly string[],
  extras: string[],
): readonly string[] {
  const mark = make.pick(['> ', '> ', '> ', '>', ' > ']);
  const open = make.chance(0.15);
  if (open) extras.push('empty lines without >');
  return lines.map((line) => (line === '' ? (open ? '' : mark.trimEnd()) : `${mark}${line}`));
}

function footer(make: WordMaker, below: boolean, extras: string[]): readonly string[] {
  if (!below || make.chance(0.8)) return [];
  extras.push('footer');
  return ['', ...make.pick([MAILMAN_FOOTER, SCANNER_FOOTER, DISCLAIMER])];
}

/** Each paragraph of the answer stands below a part of the quote. */
function inlineLines(
  make: WordMaker,
  head: readonly string[],
  quoted: readonly string[],
  own: readonly string[],
): readonly string[] {
  const cut = 1 + make.below(quoted.length - 1);
  const gap = make.chance(0.6) ? [''] : [];
  return [...head, ...quoted.slice(0, cut), ...gap, ...own, ...gap, ...quoted.slice(cut)];
}

/** Breaks a line at a space, as programs on the way do. */
function wrap(line: string, width: number, prefix: string): readonly string[] {
  const out: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    if (at <= 2) break;
    out.push(rest.slice(0, at));
    rest = `${prefix}${rest.slice(at + 1)}`;
  }
  return [...out, rest];
}

function writeHtml(client: ReplyClient & { kind: 'html' }, parts: Parts): string {
  const { make, to, own, old, added, posting } = parts;
  const write = make.pick<(lines: readonly string[]) => string>([
    (lines) => lines.map((line) => `<div>${line === '' ? '<br>' : htmlOf(line)}</div>`).join(''),
    (lines) => lines.map((line) => (line === '' ? '<br>' : `${htmlOf(line)}<br>`)).join(''),
    (lines) => lines.map((line) => `<p>${line === '' ? '&nbsp;' : htmlOf(line)}</p>`).join('\n'),
  ]);
  const quote = (lines: readonly string[]) => client.quote(to, write(lines));
  const whole = (body: string) => `<html><head></head><body>${body}</body></html>`;
  if (posting === 'bottom') return whole(`${quote(old.lines)}${write([...own.lines, ...added])}`);
  if (posting === 'inline') {
    const cut = 1 + make.below(old.lines.length - 1);
    const answers = `${quote(old.lines.slice(0, cut))}${write(own.lines)}`;
    return whole(`${answers}<blockquote type="cite">${write(old.lines.slice(cut))}</blockquote>`);
  }
  return whole(`${write([...own.lines, ...added])}<br>${quote(old.lines)}`);
}
