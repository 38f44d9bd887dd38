import { FIELD_NAME } from '../../header-block.ts';
import { STRUCTURE, type StructureFields } from './part-head.ts';

/** The header block of a message or a part. */
export interface HeadLines {
  readonly fields: StructureFields;
  /**
   * Where text begins that is no header: the empty line is missing, or comes only later. Undefined
   * if there is none.
   */
  readonly bodyAt: number | undefined;
  /** It has a field, known or not. */
  readonly hasFields: boolean;
  /** It has a field that only a message has, such as From or Subject. */
  readonly isOfMessage: boolean;
  /** A parameter was read from a line that is not indented. */
  readonly isMended: boolean;
}

/** A parameter on a line of its own, which is not indented. */
const PARAMETER = /^[\w*-]{1,40}[ \t]{0,10}=/;

/**
 * Reads the lines of a header block, of one character per byte, up to its empty line.
 *
 * A line that is no field and continues none is skipped if a field follows that only a header block
 * has. Otherwise, text begins with it: mail programs forget the empty line. After a line that ends
 * in a semicolon, it is a parameter whose indentation was lost.
 */
export function readHeadLines(block: string, isRoot: boolean): HeadLines {
  const fields: [string, string][] = [];
  /** The field that the next line may continue. */
  let current: [string, string] | undefined;
  /** The line before, of a field. */
  let last = '';
  let hasFields = false;
  let isOfMessage = false;
  let isMended = false;
  let bodyAt: number | undefined;
  /** Where the first line is that is no field. */
  let oddAt: number | undefined;
  for (let start = 0, end = 0; start < block.length; start = end + 1) {
    end = block.indexOf('\n', start);
    if (end === -1) end = block.length;
    const line = withoutCr(block, start, end);
    if (line === '') break;
    const isIndented = line.startsWith(' ') || line.startsWith('\t');
    const isParameter = !isIndented && current !== undefined && isLostParameter(line, last);
    if (bodyAt === undefined && hasFields && (isIndented || isParameter)) {
      if (current !== undefined) current[1] += line;
      isMended ||= isParameter;
      last = line;
      continue;
    }
    const name = fieldName(line);
    if (name === undefined || (bodyAt !== undefined && !isOfHead(name, isRoot))) {
      if (start === 0 && isRoot && /^>?From /.test(line)) continue;
      bodyAt ??= start;
      oddAt ??= start;
      continue;
    }
    hasFields = true;
    isOfMessage ||= OF_MESSAGES.has(name);
    bodyAt = undefined;
    current = undefined;
    last = line;
    if (STRUCTURE.has(name)) {
      current = [name, line.slice(line.indexOf(':') + 1)];
      fields.push(current);
    }
  }
  const trimmed = fields.map(([name, value]) => [name, value.trim()] as const);
  // Where text follows, an odd line before is text as well.
  if (bodyAt !== undefined) bodyAt = oddAt;
  return { fields: trimmed, bodyAt, hasFields, isOfMessage, isMended };
}

function withoutCr(block: string, start: number, end: number): string {
  let last = end;
  while (last > start && block[last - 1] === '\r') last -= 1;
  return block.slice(start, last);
}

function isLostParameter(line: string, last: string): boolean {
  return PARAMETER.test(line) && /;[ \t]{0,100}$/.test(last.slice(-100));
}

/** In lower case. The address of a web page is no field. */
function fieldName(line: string): string | undefined {
  const found = FIELD_NAME.exec(line);
  if (found?.[1] === undefined || line.startsWith('//', found[0].length)) return undefined;
  return found[1].toLowerCase();
}

/** Fields of a message that text hardly contains at the start of a line. */
const OF_MESSAGES = new Set(
  `from to cc bcc subject date reply-to sender message-id in-reply-to references received
  return-path delivered-to dkim-signature authentication-results precedence auto-submitted
  importance priority user-agent errors-to thread-topic thread-index`.split(/\s+/),
);

function isOfHead(name: string, isRoot: boolean): boolean {
  if (STRUCTURE.has(name) || /^(?:content|x)-/.test(name)) return true;
  return isRoot && (OF_MESSAGES.has(name) || /^(?:list|arc|resent)-/.test(name));
}
