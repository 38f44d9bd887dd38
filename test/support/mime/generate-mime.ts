import { Dice } from '../dice.ts';
import { boundaryParameter, writeBoundary } from './boundaries.ts';
import { asText, writeFile, writeLeaf, type WrittenLeaf, type WrittenPart } from './leaves.ts';
import { writeText } from './bodies.ts';
import { Plan } from './plan.ts';

export interface GeneratedMail {
  readonly bytes: Buffer;
  /** What is odd about it, or wrong. */
  readonly recipe: string;
  /** In the order of the message; without empty ones that have no name. */
  readonly leaves: readonly WrittenLeaf[];
}

const MAX_DEPTH = 4;

/** A message that is the same for the same seed; some have faults. */
export function generateMime(seed: number): GeneratedMail {
  const dice = Dice.of(seed);
  const plan = new Plan(dice);
  const { text, leaves } = writeMessage(dice, plan, 0);
  const ended = plan.takes('no line end at the end') ? text.replace(/\r\n$/, '') : text;
  const lineEnd = plan.isOdd('line feeds', 10)
    ? '\n'
    : plan.takes('lines end in CR')
      ? '\r'
      : '\r\n';
  const bytes = Buffer.from(ended.replaceAll('\r\n', lineEnd), 'latin1');
  return { bytes, recipe: plan.recipe(), leaves };
}

interface WrittenMessage {
  readonly text: string;
  readonly leaves: readonly WrittenLeaf[];
}

function writeMessage(dice: Dice, plan: Plan, depth: number): WrittenMessage {
  const isMultipart = dice.chance(80);
  const part = isMultipart ? writeMultipart(dice, plan, depth) : writeLeaf(dice, plan, false);
  const fields = [
    'From: Ann <ann@customer.example>',
    'To: support@acme.example',
    'Subject: Generated',
    'MIME-Version: 1.0',
    ...(plan.takes('second version') ? ['MIME-Version: 1.0'] : []),
  ];
  const head = dice.chance(50) ? [...fields, ...part.head] : [...part.head, ...fields];
  return { text: textOf({ ...part, head }), leaves: part.leaves };
}

function textOf({ head, body, hasEmptyLine }: WrittenPart): string {
  return [...head, ...(hasEmptyLine ? [''] : []), body].join('\r\n');
}

const SUBTYPES = 'mixed mixed alternative related digest report signed parallel x-other'.split(' ');

function writeMultipart(dice: Dice, plan: Plan, depth: number, outer = ''): WrittenPart {
  if (plan.takes('delimiters never used')) return writeUnused(dice);
  const isOutsideOnly = depth === 0 && plan.takes('text outside only');
  const boundary = writeBoundary(dice, outer);
  const { parameter, isFaulty } = boundaryParameter(dice, plan, boundary);
  const subtype = isOutsideOnly ? 'mixed' : dice.pick(SUBTYPES);
  const children = Array.from({ length: 1 + dice.below(4) }, () => {
    if (isOutsideOnly) return writeFile(dice, plan);
    // RFC 2046 §5.1.5: without a type, it is a message.
    if (subtype === 'digest') return writeEnclosed(dice, depth + 1, dice.chance(30));
    if (depth < MAX_DEPTH && dice.chance(25))
      return writeMultipart(dice, plan, depth + 1, boundary);
    if (depth < 2 && dice.chance(5)) return writeEnclosed(dice, depth + 1, true);
    return writeLeaf(dice, plan, true);
  });
  const joined = plan.takes('parameter not indented')
    ? ';\r\n'
    : dice.pick(['; ', ';\r\n ', ';\r\n\t']);
  const type = `Content-Type: multipart/${subtype}${parameter === '' ? '' : joined + parameter}`;
  const delimiters = new DelimiterWriter(dice, plan, boundary);
  const outside = isOutsideOnly ? `See the file ${dice.below(1000)}.\r\n` : preamble(dice, plan);
  const isDirect = outside === '' && !isFaulty && plan.takes('no empty line before the first part');
  const early = !isDirect && plan.takes('early end') ? `--${boundary}--\r\n` : '';
  const parts = children.map((child) => `${delimiters.next()}\r\n${textOf(child)}\r\n`);
  const empty = plan.isOdd('empty part', 3) ? `${delimiters.next()}\r\n\r\n` : '';
  // While one whose boundary ends in dashes is open, its delimiter is the end of the outer one.
  const mayStayOpen = !isFaulty && !boundary.endsWith('--');
  const end = mayStayOpen && plan.takes(depth === 0 ? 'not closed' : 'inner not closed');
  const closing = end ? '' : `${delimiters.end()}\r\n`;
  const epilogue =
    !end && !isOutsideOnly && dice.chance(10) ? 'Epilogue that nobody reads.\r\n' : '';
  const body = `${outside}${early}${parts.join('')}${empty}${closing}${epilogue}`;
  const leaves = children.flatMap((child) => child.leaves);
  const text = { bytes: Buffer.from(outside.trim(), 'latin1'), name: undefined };
  return {
    head: [type, ...encodingOfMultipart(dice)],
    body: depth === 0 ? body : body.replace(/\r\n$/, ''),
    hasEmptyLine: !isDirect,
    leaves: isOutsideOnly ? [text, ...leaves] : leaves,
  };
}

/** RFC 2045 §6.4 allows only 7bit, 8bit and binary. */
function encodingOfMultipart(dice: Dice): readonly string[] {
  if (!dice.chance(10)) return [];
  return [`Content-Transfer-Encoding: ${dice.pick(['7bit', '8bit', 'base64', 'x-unknown'])}`];
}

function preamble(dice: Dice, plan: Plan): string {
  if (dice.chance(70)) return '';
  if (!plan.isOdd('preamble', 30)) return 'This is a multi-part message in MIME format.\r\n';
  return 'Preamble that nobody reads.\r\n\r\n';
}

function writeUnused(dice: Dice): WrittenPart {
  const type = `Content-Type: multipart/mixed; boundary="never-${dice.below(1e6)}"`;
  return asText(writeText(dice, false), [type]);
}

function writeEnclosed(dice: Dice, depth: number, isTyped: boolean): WrittenPart {
  const { text } = writeMessage(dice, new Plan(dice, true), depth + 2);
  return asText(text, isTyped ? ['Content-Type: message/rfc822'] : []);
}

/** Writes the delimiters of one multipart, some with white space behind (RFC 2046 §5.1.1). */
class DelimiterWriter {
  readonly #dice: Dice;
  readonly #line: string;
  readonly #isPadded: boolean;

  constructor(dice: Dice, plan: Plan, boundary: string) {
    this.#dice = dice;
    this.#line = `--${boundary}`;
    this.#isPadded = plan.isOdd('padding', 10);
  }

  next(): string {
    return this.#line + this.#padding();
  }

  end(): string {
    return `${this.#line}--${this.#padding()}`;
  }

  #padding(): string {
    return this.#isPadded ? this.#dice.pick(['', ' ', '\t', '   ', ' \t ']) : '';
  }
}
