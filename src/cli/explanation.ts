import {
  BODY_CHOICES,
  CUT_RULES,
  type EmailReading,
  inWords,
  PART_USES,
  SENDER_CHOICES,
  STAY_RULES,
  TRIM_DECISIONS,
} from '../domain/email-reading.ts';
import { reasonInWords } from '../domain/reason-explanations.ts';
import type { ExplainedEmail } from '../channels/email/normalize/explain-email.ts';
import { counted } from '../runtime/amounts.ts';
import { type Colour, oneLine, paintFor } from './cell.ts';
import { document } from './json.ts';
import type { Terminal } from './terminal.ts';

/** An explanation with where the message would have gone. */
export interface ShownExplanation {
  readonly email: ExplainedEmail;
  readonly shop: string;
  readonly inbox: string;
  /** No recipient of the message is configured, so the shop is a guess. */
  readonly isGuess: boolean;
}

/** For programs: the codes, each with its words, and the request that the platform would get. */
export function explanationJson({ email, shop, inbox }: ShownExplanation): string {
  return document({
    ...{ shop, inbox },
    ...inWords(email.reading),
    request: email.request,
    attachments: filesOf(email),
  });
}

const filesOf = ({ files }: ExplainedEmail) =>
  files.map(({ name, type, size }) => ({ name, type, size }));

const DECISION_COLOURS: Readonly<Record<EmailReading['decision']['kind'], Colour>> = {
  deliver: 'green',
  held: 'yellow',
  suppressed: 'yellow',
};
const DECISIONS = { deliver: 'delivered', held: 'held', suppressed: 'suppressed' } as const;

/** The same for people. */
export function explanationText(shown: ShownExplanation, terminal: Terminal): string {
  const { email, shop, inbox, isGuess } = shown;
  const { reading } = email;
  const paint = paintFor(terminal);
  const { kind, reason } = reading.decision;
  const decided = paint(DECISIONS[kind], DECISION_COLOURS[kind]);
  const guess = isGuess ? '; no recipient of the message is configured (see --to, --shop)' : '';
  const lines = [
    field('shop', `${oneLine(shop)}, ${oneLine(inbox)}${guess}`),
    field('decision', reason === undefined ? decided : `${decided}: ${reasonInWords(reason)}`),
    ...senderLines(reading.sender),
    field('content', BODY_CHOICES[reading.body]),
    ...quoteLines(reading.quotes),
    ...findingLines(reading.findings),
    '',
    'parts',
    ...partLines(reading.parts),
    '',
    'request',
    ...document(email.request).trimEnd().split('\n'),
    ...filesOf(email).flatMap(({ name, type, size }, index) => [
      ...(index === 0 ? ['', 'attachments'] : []),
      `  ${oneLine(name)}  ${oneLine(type)}  ${size} bytes`,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const field = (name: string, value: string): string => `${name.padEnd(10)} ${value}`;

function senderLines({ address, because, checks, verified }: EmailReading['sender']): string[] {
  const who = address === undefined ? 'unknown' : oneLine(address);
  const found = Object.entries(checks ?? {}).map(([method, result]) => `${method} ${result}`);
  return [
    field('sender', `${who}: ${SENDER_CHOICES[because]}`),
    checks === undefined
      ? field('', 'not checked (--check-sender asks DNS)')
      : field('', `${verified ? 'verified' : 'not verified'}: ${found.join(', ')}`),
  ];
}

function quoteLines({ why, cut, stayed }: EmailReading['quotes']): string[] {
  const told = (done: string, lines: number, rule: string, at: string): string => {
    const where = at === '' ? '' : `, from “${oneLine(at).slice(0, 60)}”`;
    return field('', `${done} ${counted(lines, 'line', 'lines')}: ${rule}${where}`);
  };
  return [
    field(
      'quotes',
      `${cut.length === 0 ? 'kept: ' : 'looked for, because '}${TRIM_DECISIONS[why]}`,
    ),
    ...cut.map(({ rule, lines, at }) => told('cut', lines, CUT_RULES[rule], at)),
    ...stayed.map(({ rule, lines, at }) => told('left', lines, STAY_RULES[rule], at)),
  ];
}

/** What the other lines say is left out. */
const SAID = ['body', 'attachments', 'trimmedLines'];

function findingLines(findings: EmailReading['findings']): string[] {
  return Object.entries(findings)
    .filter(([name]) => !SAID.includes(name))
    .map(([name, value]) => field('found', value === true ? name : `${name}: ${value}`));
}

function partLines(parts: EmailReading['parts']): string[] {
  const width = Math.max(0, ...parts.map(({ number }) => number.length));
  return parts.map(({ number, type, bytes, charset, name, use }) => {
    const about = [
      oneLine(type),
      ...(charset === undefined ? [] : [oneLine(charset)]),
      ...(name === undefined ? [] : [oneLine(name)]),
      ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ];
    return `  ${number.padEnd(width)}  ${about.join(', ')}: ${PART_USES[use]}`;
  });
}
