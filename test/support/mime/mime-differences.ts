import { decodeLines } from '../../../src/channels/email/normalize/parts/transfer-encodings.ts';
import type { Recovery } from '../../../src/channels/email/normalize/parts/structure-reader.ts';
import type { ReadLeaf, ReadMail } from './read-mail.ts';
import type { SecondLeaf } from './second-parser.ts';

/** Why Sluice and postal-mime may read a message differently; there is no other reason. */
export const REASONS = {
  'line ends':
    'RFC 2046 §5.1.1: the line end before a delimiter belongs to it, and others stay as they are; postal-mime writes LF for every line end, and one at the end.',
  'blanks in quoted-printable':
    'RFC 2045 §6.7 (3): white space at the end of an encoded line was added in transit and is deleted; postal-mime keeps it, also after the = of a soft line break.',
  'unknown encoding':
    'RFC 2045 §6.4: with an unknown encoding, the octets stay as they are, but "quoted" alone is no other one; postal-mime decodes whatever contains the whole name of a known one.',
  'charset of a name':
    'RFC 2231 §4 and RFC 2047 §2: a name in windows-1252 (which Node takes for Latin-1), in raw 8-bit, or with a wrong charset is decoded with the first one that fits; postal-mime writes U+FFFD.',
  'malformed fields':
    'RFC 2045 §5.1, §6.1, RFC 2047 §5, RFC 2231 §3: a type, encoding, disposition or parameter is against the grammar, such as an unquoted name with blanks; what each parser makes of it is a guess.',
  'other boundary':
    'RFC 2046 §5.1.1: the boundary is wrong, missing or ends in white space; Sluice reads the parts between what its lines use, postal-mime none.',
  'no boundary':
    'RFC 2046 §5.1.1: a multipart without a delimiter has no part; Sluice reads it as text, postal-mime not at all.',
  'lines of a head':
    'RFC 5322 §2.1, §2.2.3: an empty line ends a head, and a folded line is indented; where either is missing, Sluice reads the text and the parameter, postal-mime takes them for fields.',
  'lines that end in CR':
    'RFC 5322 §2.3: CR occurs only with LF; Sluice reads a message whose lines end in CR, postal-mime takes it for one line.',
  'end before the first part':
    'RFC 2046 §5.1.1: an end follows at least one part, so a line like it before is preamble; postal-mime reads no part after it.',
  'text outside of parts':
    'RFC 2046 §5.1.1: preamble and epilogue are not shown; Sluice reads them if no part has text, so that none is lost.',
  limits:
    'Security: each has its own limits (header size, depth, number of parts); Sluice attaches the original where something is missing.',
} as const;

export type Reason = keyof typeof REASONS;

const OF_RECOVERIES: Readonly<Partial<Record<Recovery, Reason>>> = {
  other_boundary: 'other boundary',
  no_type: 'other boundary',
  no_boundary: 'no boundary',
  no_empty_line: 'lines of a head',
  unindented_parameter: 'lines of a head',
  early_end: 'end before the first part',
  text_outside_parts: 'text outside of parts',
  bare_cr: 'lines that end in CR',
};

export interface Comparison {
  readonly reasons: ReadonlySet<Reason>;
  /** What no reason explains. */
  readonly unexplained: readonly string[];
}

/** Compares the leaves of two parsers: the same parts in the same order, bytes and names. */
export function compareLeaves(
  ours: ReadMail,
  second: readonly SecondLeaf[] | undefined,
  message: Buffer,
): Comparison {
  if (second === undefined || ours.broken) return explained(['limits']);
  const theirs = second.filter(isSomething);
  const all = ours.leaves.filter(isSomething);
  const isOutside = ours.recoveries.includes('text_outside_parts');
  const leaves = isOutside ? all.slice(1) : all;
  const pairs = leaves.map((leaf, index) => comparePair(leaf, theirs[index]));
  const found = pairs.flatMap((pair) => pair ?? []);
  if (leaves.length === theirs.length && !pairs.includes(undefined)) {
    return explained(isOutside ? [...found, 'text outside of parts'] : found);
  }
  const reasons = ours.recoveries.flatMap((each) => OF_RECOVERIES[each] ?? []);
  if (reasons.length > 0) return explained(reasons);
  if (hasMalformedFields(message)) return explained(['malformed fields']);
  const different = pairs.flatMap((pair, index) =>
    pair === undefined ? [describe(leaves[index], theirs[index])] : [],
  );
  const counts = `${leaves.length} leaves, ${theirs.length} of postal-mime`;
  return { reasons: new Set(), unexplained: [counts, ...different] };
}

const FIELDS = /^content-(?:type|disposition)\b[ \t]*:?((?:[^\n]|\n[ \t])*)/gim;
const WELL_FORMED =
  /^[\w.+-]+(?:\/[\w.+-]+)?(?:\s*;\s*[\w.+*-]+=(?:[^\s()<>@,;:\\"/[\]?=]+|"(?:(?!=\?)[^"\\\r\n])*"))*\s*$/;

const ENCODINGS = /^content-transfer-encoding[ \t]*:((?:[^\n]|\n[ \t])*)/gim;
/** RFC 2045 §6.1: one token, with comments (RFC 5322 §3.2.2) around it. */
const WELL_FORMED_ENCODING = /^(?:\s*\([^()\\]*\))*\s*[\w.+-]+(?:\s*\([^()\\]*\))*\s*$/;

/** RFC 2231 §3: the sections of a parameter are numbered from 0, without gaps. */
function hasAllSections(field: string): boolean {
  const sections = [...field.matchAll(/;\s*([\w.+-]+)\*(\d+)\*?=/g)].map(
    ([, name, number]) => [name, Number(number)] as const,
  );
  return sections.every(
    ([name, number]) =>
      number === 0 || sections.some((other) => other[0] === name && other[1] === number - 1),
  );
}

/** Whether a Content-Type, its encoding or disposition is against the grammar of RFC 2045 or RFC 2231. */
function hasMalformedFields(message: Buffer): boolean {
  const text = message.toString('latin1');
  const valuesOf = (fields: RegExp) =>
    [...text.matchAll(fields)].map(([, value = '']) => value.replaceAll(/\r?\n/g, '').trim());
  return (
    valuesOf(FIELDS).some((value) => !WELL_FORMED.test(value) || !hasAllSections(value)) ||
    valuesOf(ENCODINGS).some((value) => !WELL_FORMED_ENCODING.test(value))
  );
}

const explained = (reasons: readonly Reason[]): Comparison => ({
  reasons: new Set(reasons),
  unexplained: [],
});

/** A part without content and name is not worth a comparison. */
export function isSomething({ bytes, name }: Pick<ReadLeaf, 'bytes' | 'name'>): boolean {
  return name !== undefined || bytes.some((byte) => byte > 0x20);
}

/** The reasons for the differences between two leaves; undefined if a difference has none. */
function comparePair(
  ours: ReadLeaf,
  theirs: SecondLeaf | undefined,
): readonly Reason[] | undefined {
  if (theirs === undefined) return undefined;
  const bytes = compareBytes(ours, theirs);
  const name = compareNames(ours.name, theirs.name);
  return bytes === undefined || name === undefined ? undefined : [...bytes, ...name];
}

function compareBytes(ours: ReadLeaf, theirs: SecondLeaf): readonly Reason[] | undefined {
  if (ours.bytes.equals(theirs.bytes)) return [];
  const one = withLineFeeds(ours.bytes);
  const other = withLineFeeds(theirs.bytes);
  if (one === other) return ['line ends'];
  const isQuoted = theirs.encoding.includes('quoted-printable');
  if (isQuoted && withoutBlanks(one) === withoutBlanks(other))
    return ['blanks in quoted-printable'];
  const misspelt = /quoted(?!-printable)/.test(theirs.encoding);
  const isSame =
    misspelt && withoutBlanks(withLineFeeds(decodeLines(theirs.bytes))) === withoutBlanks(one);
  return isSame || /^(?!base64$).*base64/.test(theirs.encoding) ? ['unknown encoding'] : undefined;
}

function compareNames(
  ours: string | undefined,
  theirs: string | undefined,
): readonly Reason[] | undefined {
  if (ours === theirs) return [];
  if (ours === undefined || theirs === undefined) return undefined;
  const isUndecoded = ours.includes('\ufffd') || theirs.includes('\ufffd');
  if (isUndecoded || inAscii(ours) === inAscii(theirs)) return ['charset of a name'];
  return undefined;
}

const inAscii = (name: string): string => name.replaceAll(/[^\x20-\x7e]+/g, '');

/** Content with LF at the ends of its lines, and none at its end. */
export function withLineFeeds(bytes: Buffer): string {
  const text = bytes.toString('latin1').replaceAll(/\r+(?=\n|$)/g, '');
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Content without what makes a soft line break with blanks behind it. */
export const withoutBlanks = (text: string): string => text.replaceAll(/[= \t\r\n]+/g, '');

function describe(ours: ReadLeaf | undefined, theirs: SecondLeaf | undefined): string {
  const one = ours && `${ours.name ?? '-'} ${start(ours.bytes)}`;
  const other = theirs && `${theirs.name ?? '-'} (${theirs.encoding}) ${start(theirs.bytes)}`;
  return `${one ?? 'nothing'}\n    postal-mime: ${other ?? 'nothing'}`;
}

const start = (bytes: Buffer): string =>
  `${bytes.length}: ${JSON.stringify(bytes.toString('latin1', 0, 200))}`;
