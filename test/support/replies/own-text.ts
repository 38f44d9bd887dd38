import {
  answered,
  type GeneratedReply,
  REPLY_CLIENTS,
  withNames,
  writeOld,
} from './generate-reply.ts';
import { REPLY_LANGUAGES } from './languages.ts';
import { OWN_PHRASES } from './own-phrases.ts';
import { QUOTATION_SHAPES, WRAPPED_BY_MAIL } from './own-quotations.ts';
import {
  alone,
  assemble,
  type Block,
  NO_SIGNATURE,
  type Signature,
  wholeHtml,
  type Writer,
} from './render-own-text.ts';
import { htmlOf, type ReplyClient } from './shapes.ts';
import { OUTLOOK_CONTAINERS, SIGNATURE_ELEMENTS } from './signature-answers.ts';
import { madeUpWords, WordMaker } from './words.ts';

/**
 * What is special about the person's own text, and how often of 100 times. What is theirs follows from
 * "A quotation is the person's own unless something introduces it" and "A signature is not where the
 * client says so" of the rules for quotes and signatures; cases that these leave open are not written.
 */
const KINDS = [
  ['quotation between own words', 11],
  ['quotation at the end, after a colon', 7],
  ['quotation at the end, no colon', 15],
  ['whole text as a quotation', 4],
  ['short quotation, no mail below', 6],
  ['long quotation after : or ?, no mail below', 4],
  // The only words that nothing introduces and that are not the person's.
  ['quoted mail without a head', 5],
  ['answer only in the signature element', 10],
  ['words above, answer in the signature element', 6],
  ['answer below the line of dashes', 4],
  ["answer only in Outlook's container", 10],
  ['text points to the signature', 6],
  ['dashes between paragraphs', 4],
  ['dashes between list items', 3],
  ['list, table or code', 5],
] as const;

export type OwnKind = (typeof KINDS)[number][0];

export const OWN_KINDS: readonly OwnKind[] = KINDS.map(([kind]) => kind);

/** A reply above a quoted mail, if any, whose own text tempts a reader of quotes or signatures. */
export interface OwnReply extends GeneratedReply {
  readonly kind: OwnKind;
}

/** A reply with own text of one kind, the same for the same number. */
export function generateOwnReply(seed: number): OwnReply {
  const make = new WordMaker(seed);
  const kind = pickKind(make);
  const language = make.pick(REPLY_LANGUAGES);
  const phrases = OWN_PHRASES[language.code];
  if (phrases === undefined) throw new RangeError(`no phrases in ${language.code}`);
  const to = answered(make, language);
  const old = writeOld(make);
  const clients = REPLY_CLIENTS.filter(
    (each) => (each.languages?.includes(language.code) ?? true) && canWrite(kind, each),
  );
  // More programs write text, more people HTML.
  const wanted = make.chance(0.6) ? 'html' : 'text';
  const ofFormat = clients.filter((each) => each.kind === wanted);
  const client = make.pick(ofFormat.length > 0 ? ofFormat : clients);
  const writer: Writer = { make, phrases, client, extras: [] };
  const { body, own, quoted } = write(kind, writer, to, old.lines);
  return {
    kind,
    client: `${client.name} (${client.kind})`,
    language: language.code,
    posting: 'top',
    extras: [kind, ...writer.extras],
    contentType: client.kind === 'text' ? 'text/plain' : 'text/html',
    body,
    own: own.flatMap(madeUpWords),
    quoted: quoted.flatMap(madeUpWords),
  };
}

function pickKind(make: WordMaker): OwnKind {
  let rest = make.below(KINDS.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [kind, weight] of KINDS) {
    rest -= weight;
    if (rest < 0) return kind;
  }
  throw new RangeError('no kind of own text');
}

function canWrite(kind: OwnKind, client: ReplyClient): boolean {
  if (kind === "answer only in Outlook's container")
    return client.name === 'outlook for mobile' && client.kind === 'html';
  if (kind === 'whole text as a quotation') return client.name === 'apple';
  if (kind === 'answer below the line of dashes') return client.kind === 'text';
  if (!kind.endsWith('in the signature element')) return true;
  return elementsOf(client).length > 0;
}

const elementsOf = ({ kind, name }: ReplyClient) =>
  SIGNATURE_ELEMENTS.filter(({ clients }) => kind === 'html' && clients.includes(name));

interface WrittenReply {
  readonly body: string;
  readonly own: readonly string[];
  readonly quoted: readonly string[];
}

type To = ReturnType<typeof answered>;

function write(kind: OwnKind, writer: Writer, to: To, old: readonly string[]): WrittenReply {
  const { make, phrases, extras } = writer;
  const quoted = [...old, ...to.words];
  const above = (blocks: readonly Block[], signature: Signature = NO_SIGNATURE): WrittenReply => ({
    body: assemble(writer, blocks, signature, to, old),
    own: [...blocks.flatMap(({ lines }) => lines), ...signature.own],
    quoted,
  });
  const only = (blocks: readonly Block[]): WrittenReply => ({
    body: alone(writer, blocks),
    own: blocks.flatMap(({ lines }) => lines),
    quoted: [],
  });
  const said = () => paragraph(sentences(writer, 1 + make.below(2)));
  const lead = () => paragraph([withNames(make, phrases.lead)]);
  const quotation = (atLeast = 0): Block => ({ as: 'quotation', lines: things(make, atLeast) });
  const hello = make.chance(0.5) ? [paragraph([phrases.hello])] : [];

  switch (kind) {
    case 'quotation between own words':
      return above([...hello, make.chance(0.5) ? lead() : said(), quotation(), said()]);
    case 'quotation at the end, after a colon':
      return above([...hello, said(), lead(), quotation()]);
    case 'quotation at the end, no colon':
      return above([...hello, said(), quotation(make.chance(0.4) ? 320 : 0)]);
    case 'whole text as a quotation': {
      const own = sentences(writer, 1 + make.below(3));
      return above([], { text: WRAPPED_BY_MAIL.text(own), html: WRAPPED_BY_MAIL.html(own), own });
    }
    case 'short quotation, no mail below':
      return only([...hello, said(), { as: 'quotation', lines: shortThing(make) }]);
    case 'long quotation after : or ?, no mail below':
      return only([
        ...hello,
        make.chance(0.5) ? lead() : paragraph([withNames(make, phrases.ask)]),
        quotation(400),
      ]);
    case 'quoted mail without a head':
      return withoutHead(writer, [...hello, paragraph(statements(writer))]);
    case 'answer only in the signature element':
      return above([], signatureElement(writer, to));
    case 'words above, answer in the signature element':
      return above(
        [paragraph([phrases.hello]), ...(make.chance(0.5) ? [said()] : [])],
        signatureElement(writer, to),
      );
    case 'answer below the line of dashes':
      return above([...hello, ...(make.chance(0.5) ? [said()] : [])], {
        ...NO_SIGNATURE,
        ...belowDashes(sentences(writer, 1 + make.below(3)), ownSignature(writer, to)),
      });
    case "answer only in Outlook's container":
      return inContainer(writer, to, old);
    case 'text points to the signature':
      return above([...hello, paragraph([withNames(make, phrases.points)])], pointedTo(writer));
    case 'dashes between paragraphs':
      return above(separated(Array.from({ length: 2 + make.below(2) }, said)));
    case 'dashes between list items':
      return above([...hello, paragraph(separatedItems(make))]);
    case 'list, table or code': {
      const block = make.pick([list, table, code])(make);
      extras.push(block.as);
      return above([
        ...hello,
        make.chance(0.5) ? lead() : said(),
        block,
        ...(make.chance(0.4) ? [said()] : []),
      ]);
    }
  }
}

const paragraph = (lines: readonly string[]): Block => ({ as: 'paragraph', lines });

/** Statements and questions in the person's language, no two of them the same. */
function sentences({ make, phrases }: Writer, count: number): readonly string[] {
  const all = [...phrases.says, phrases.ask];
  const first = make.below(all.length);
  return Array.from({ length: count }, (_, at) =>
    withNames(make, all[(first + at) % all.length] ?? phrases.ask),
  );
}

/** The line above a quotation that nothing introduces ends neither in a colon nor a question mark. */
const statements = ({ make, phrases }: Writer) =>
  [make.pick(phrases.says)].map((each) => withNames(make, each));

/** What people quote, at least so many characters of it. */
function things(make: WordMaker, atLeast: number): readonly string[] {
  const lines = [...shortThing(make)];
  while (lines.join('\n').length < atLeast) lines.push(...shortThing(make));
  return lines;
}

const THINGS: readonly ((make: WordMaker) => readonly string[])[] = [
  // An error message.
  () => ['Error 0x80070057: {w} is not available.', 'at {w}.{w} (line 12)'],
  () => ['{w} could not be saved. Please try again later.'],
  // Lines of a log.
  (make) =>
    Array.from(
      { length: 1 + make.below(3) },
      (_, at) => `2026-01-05 10:04:1${at} ERROR {w}: {w} refused`,
    ),
  // A page of an order.
  () => ['Order 4711', 'Article: {w} {w}', 'Status: {w}', 'Total: 49.90 EUR'],
  // An earlier letter, or a sentence of the mail that is answered.
  (make) => Array.from({ length: 1 + make.below(3) }, () => make.sentence(3 + make.below(5))),
  (make) => [make.sentence(6 + make.below(6))],
];

/** At most some 200 characters. */
const shortThing = (make: WordMaker) =>
  make
    .pick(THINGS)(make)
    .map((line) => withNames(make, line));

const item = (make: WordMaker) =>
  make.pick<() => string>([
    () => `${make.name()}: ${make.word()}`,
    () => `${make.word()} ${make.word()}`,
    () => make.sentence(4),
  ])();

const list = (make: WordMaker): Block => ({
  as: 'list',
  lines: Array.from({ length: 2 + make.below(4) }, () => item(make)),
});

const table = (make: WordMaker): Block => ({
  as: 'table',
  lines: Array.from({ length: 2 + make.below(3) }, () =>
    [0, 1, 2].map(() => make.name()).join('\t'),
  ),
});

const CODE = [
  'if ({w} > 3) {',
  '  {w}();',
  '}',
  '> npm run {w}',
  '>>> import {w}',
  '-- select {w}',
  '$ {w} --{w}=1',
  '# {w}',
];

const code = (make: WordMaker): Block => ({
  as: 'code',
  lines: Array.from({ length: 3 + make.below(4) }, () =>
    make.pick(CODE).replace(/\{w\}/g, () => make.word()),
  ),
});

const DASHES = paragraph(['--']);

const separated = (paragraphs: readonly Block[]) =>
  paragraphs.flatMap((each, at) => (at === 0 ? [each] : [DASHES, each]));

/** More than one line of dashes, so that none of them begins a signature. */
const separatedItems = (make: WordMaker) =>
  Array.from({ length: 3 + make.below(3) }, (_, at) =>
    at === 0 ? [item(make)] : ['--', item(make)],
  ).flat();

/** A signature without made-up words: it may be cut or left. */
const ownSignature = ({ make }: Writer, { language }: To): readonly string[] =>
  make.pick([[], ['', 'Ann Customer', 'Tel. 0123 456789'], ['', make.pick(language.devices)]]);

const belowDashes = (answer: readonly string[], below: readonly string[]) => ({
  text: ['-- ', ...answer, ...below],
  own: answer,
});

function signatureElement(writer: Writer, to: To): Signature {
  const element = writer.make.pick(elementsOf(writer.client));
  writer.extras.push(element.name);
  const answer = sentences(writer, 1 + writer.make.below(3));
  const lines = [...answer, ...ownSignature(writer, to)];
  return { text: [], html: element.html(lines.map(htmlOf)), own: answer };
}

/** Name, firm and address, of which nothing may be cut. */
function pointedTo({ make, client, extras }: Writer): Signature {
  const lines = [
    `Ann ${make.name()}`,
    `${make.name()} Ltd`,
    `${make.name()} Street 12`,
    'Tel. 0123 456789',
  ];
  const elements = elementsOf(client);
  const element = elements.length > 0 && make.chance(0.8) ? make.pick(elements) : undefined;
  extras.push(element?.name ?? 'line of dashes');
  const html =
    element?.html(lines.map(htmlOf)) ??
    ['-- ', ...lines].map((line) => `<div>${htmlOf(line)}</div>`).join('');
  return { text: ['-- ', ...lines], html, own: lines };
}

function inContainer(writer: Writer, to: To, old: readonly string[]): WrittenReply {
  const { make, phrases, extras } = writer;
  const container = make.pick(OUTLOOK_CONTAINERS);
  const answer = sentences(writer, 1 + make.below(3));
  extras.push(container.name);
  const style = container.name.endsWith('word') ? 'p class="MsoNormal"' : 'div dir="auto"';
  const write = (lines: readonly string[]) =>
    lines.map((line) => `<${style}>${htmlOf(line)}</${style.split(' ')[0]}>`).join('\n');
  const device = make.chance(0.3)
    ? `<div id="ms-outlook-mobile-signature" dir="auto"><div><br></div>${htmlOf(make.pick(to.language.devices))}</div>`
    : '';
  if (device !== '') extras.push('device');
  const hello = make.chance(0.3) ? [phrases.hello] : [];
  const inside = container.html(to, write([...hello, ...answer]), write(old));
  return { body: wholeHtml(`${device}${inside}`), own: answer, quoted: [...old, ...to.words] };
}

/** The mail that is answered, marked by the program, without a line that says whose it is. */
function withoutHead(writer: Writer, blocks: readonly Block[]): WrittenReply {
  const { make, client } = writer;
  const quoted: string[] = [];
  while (quoted.join('\n').length < 400) quoted.push(make.sentence(5 + make.below(5)));
  const body = alone(writer, blocks);
  const own = blocks.flatMap(({ lines }) => lines);
  if (client.kind === 'text') {
    return { body: [body, '', ...quoted.map((line) => `> ${line}`)].join('\r\n'), own, quoted };
  }
  const shape = make.pick(QUOTATION_SHAPES.filter(({ marksMail }) => marksMail));
  return { body: body.replace('</body>', `<br>${shape.html(quoted)}</body>`), own, quoted };
}
