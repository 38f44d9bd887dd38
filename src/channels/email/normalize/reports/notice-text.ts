import { decodeText } from '../body/charset.ts';
import { parseHtml, stripTags } from '../html/html-tree.ts';
import { renderHtml } from '../html/render-html.ts';
import { isForwardLine, isOriginalMessageLine } from '../quotes/headings.ts';
import { isQuoted, phrases, textLines } from '../quotes/lines.ts';
import { type AddressLine, type BounceText, line } from './bounce-lines.ts';
import { TEXTS_OF_SERVERS } from './texts-of-servers.ts';
import { TEXTS_OF_SERVICES } from './texts-of-services.ts';
import { canonicalAddress, matchKey } from '../../../../domain/email-addresses.ts';
import { sesNotification } from './ses-notification.ts';
import { addressesIn, type FailedRecipient, type ReportPart } from './report-parts.ts';

/**
 * The texts of bounces that have only words. They say who was not reached, and why; whether a mail
 * is a bounce is decided by its sender as well (`bounce-signs.ts`), because people paste bounces.
 */
export const BOUNCE_TEXTS: readonly BounceText[] = [...TEXTS_OF_SERVERS, ...TEXTS_OF_SERVICES];

/**
 * The lines of an SMTP dialogue that a notice quotes. They may name the address that a mail was
 * forwarded to, so they only count if no line says who was not reached.
 */
const TRANSCRIPT: readonly AddressLine[] = [
  line(String.raw`[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3} )?<?@@>?\.{3}(.*)`),
  line(String.raw`(?:>>> ?|smtp:)?rcpt to: ?<?@@>?()`),
  line(String.raw`[45]\d\d[ -][^@]{0,200}[<( ]@@[>)]()`),
];

/** What a notice says of a mail that is only late, in its first lines. */
const DELAY_PHRASES = phrases(`this is a warning message only|this is a warning only|
  you do not need to resend your message|has been delayed|has not yet been delivered|
  is just a warning|this is an advisory-only email|delivery attempts will continue|
  will be retried until|will keep trying|will continue to try|we will continue to attempt|
  still being retried|noch nicht zugestellt|n'a pas encore été|aún no se ha entregado|
  is delayed for more than|this is only a temporary failure report|の配信が遅れています|`);

const MAX_TEXT_BYTES = 64 * 1024;
const MAX_LINES = 400;
const MAX_LINE_LENGTH = 1500;
/** A notice says at its beginning that it is one. */
const MAX_OPENING = 700;
/** A delay is said further below, after what was tried. */
const MAX_DELAY = 1500;

const OPENINGS = BOUNCE_TEXTS.flatMap(({ opening = [] }) => opening);
const ENDS = BOUNCE_TEXTS.flatMap(({ end = [] }) => end);
const RECIPIENTS = [...new Set(BOUNCE_TEXTS.flatMap(({ recipient = [] }) => recipient))];
/** Names of fields with which a returned message begins. */
const RETURNED_HEADER = /^(?:return-path|received|delivered-to|message-id|dkim-signature): ?\S/i;
/** A header field of the returned message in the text, which names other addresses. */
const QUOTED_HEADER =
  /^\s*(?:message-id|in-reply-to|references|from|(?:original )?sender|return-path|reply-to|mail from|subject): /i;
/** Addresses of the mail system itself, in a notice's advice. */
const SYSTEM = /^(?:postmaster|mailer-daemon|abuse|support)@/i;
/** Addresses of a mailing list's program (RFC 2142 §6, Mailman, ezmlm). */
const LIST =
  /^(?:owner-|listserv@|majordomo@)|-(?:bounces?|request|owner|admin|help|(?:un)?subscribe)[@+=]/i;

/** The text of a notice, before and after the place where the returned message begins. */
export interface Notice {
  readonly lines: readonly string[];
  readonly returned: readonly string[];
}

/**
 * The text that a person would read: the first part of plain text that is not blank, otherwise of
 * HTML. Bounded; empty if there is none.
 */
export function noticeText(parts: readonly ReportPart[]): string {
  for (const type of ['text/plain', 'text/html']) {
    for (const part of parts) {
      if (part.contentType !== type) continue;
      const text = sesNotification(textOf(part));
      if (text.trim() !== '') return text;
    }
  }
  return '';
}

function textOf({ contentType, start, parameters }: ReportPart): string {
  const bytes = start.subarray(0, MAX_TEXT_BYTES);
  const html = contentType === 'text/html';
  const text = decodeText(bytes, parameters?.['charset'], { html, truncated: true });
  if (!html) return text;
  const tree = parseHtml(text);
  if (tree === undefined) return stripTags(text);
  const lines = renderHtml(tree, { format: 'TEXT', inlineImage: () => undefined });
  return lines.map((line) => line.text).join('\n');
}

/** Whether a text begins like a bounce, and does not quote or forward one. */
export function hasBounceOpening(text: string): boolean {
  const lines = textLines(text.slice(0, MAX_OPENING * 2));
  const forwarded = lines.findIndex(isForwardLine);
  const own = forwarded === -1 ? lines : lines.slice(0, forwarded);
  const said = own.filter((each) => !isQuoted(each)).map((each) => each.text);
  const opening = beginningOf(said.join('\n'), MAX_OPENING);
  return OPENINGS.some((phrase) => opening.includes(phrase));
}

/** Whether a text has nothing before the first words of a bounce. */
export function startsLikeBounce(text: string): boolean {
  const opening = beginningOf(text, MAX_OPENING).trimStart();
  return OPENINGS.some((phrase) => opening.startsWith(phrase));
}

/** Whether a notice says that the mail is only late. */
export function saysDelayed({ lines }: Notice): boolean {
  const text = beginningOf(lines.join('\n'), MAX_DELAY);
  return DELAY_PHRASES.some((phrase) => text.includes(phrase));
}

/** In lower case and on one line. */
function beginningOf(text: string, length: number): string {
  return text
    .slice(0, length * 2)
    .replace(/\u2019/g, "'")
    .replace(/\s+/g, ' ')
    .toLowerCase()
    .slice(0, length);
}

export function readNotice(text: string): Notice {
  const lines = text.split(/\r?\n|\r/, MAX_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH));
  const end = lines.findIndex((line, index) => {
    // A notice does not consist of the returned message alone.
    if (index === 0) return false;
    const lower = line.toLowerCase();
    if (RETURNED_HEADER.test(line) || ENDS.some((phrase) => lower.includes(phrase))) return true;
    return isOriginalMessageLine([{ text: line }], 0);
  });
  if (end === -1) return { lines, returned: [] };
  const isHeader = RETURNED_HEADER.test(lines[end] ?? '');
  return { lines: lines.slice(0, end), returned: lines.slice(isHeader ? end : end + 1) };
}

/**
 * The recipients that a notice says were not reached; if it names none, those in the SMTP dialogue
 * that it quotes; last, the only address in it.
 * @param isOther whether an address can be a recipient of ours
 */
export function recipientsIn(
  { lines }: Notice,
  isOther: (address: string) => boolean,
): readonly FailedRecipient[] {
  const canBe = (address: string) => !SYSTEM.test(address) && isOther(address);
  const named = matching(lines, RECIPIENTS, canBe);
  if (named.length > 0) return named;
  const quoted = matching(lines, TRANSCRIPT, canBe);
  return quoted.length > 0 ? quoted : onlyAddress(lines, canBe);
}

function matching(
  lines: readonly string[],
  forms: readonly AddressLine[],
  canBe: (address: string) => boolean,
): readonly FailedRecipient[] {
  const found = new Map<string | undefined, { address: string; at: number; rest: string }>();
  lines.forEach((line, at) => {
    if (!line.includes('@') || QUOTED_HEADER.test(line)) return;
    for (const form of forms) {
      const [written, ...rest] = form.read(line) ?? [];
      const address = written === undefined ? undefined : canonicalAddress(written);
      if (address === undefined || !canBe(address)) continue;
      const key = matchKey(address);
      // A reason often repeats the address.
      if (!found.has(key)) found.set(key, { address, at, rest: rest.find(Boolean) ?? '' });
      return;
    }
  });
  const all = [...found.values()];
  return all.map(({ address, at, rest }, index) => {
    const below = [rest, ...lines.slice(at + 1, all[index + 1]?.at)];
    return { address, ...(reasonOf(below) ?? reasonAbove(lines)) };
  });
}

function onlyAddress(
  lines: readonly string[],
  canBe: (address: string) => boolean,
): readonly FailedRecipient[] {
  const found = new Map<string | undefined, FailedRecipient>();
  for (const line of lines) {
    if (!line.includes('@')) continue;
    for (const written of addressesIn(line)) {
      const address = canonicalAddress(written);
      if (address !== undefined && canBe(address) && !LIST.test(address))
        found.set(matchKey(address), { address });
    }
  }
  return found.size === 1 ? [...found.values()] : [];
}

const MAX_REASON_LINES = 12;
const REPLY = /(?:^|[\s:#(<])(?:[45]\d\d[ -]|#?[45]\.\d{1,3}\.\d{1,3}(?![\d.]\d))/;
const STATUS = /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/;
const RULE = /^[\s\-_=*#.]*$/;
/** `----- Non-delivered information -----`, `because:`: the reason is below. */
const HEADING = /^(?:because|reason|error message|technical details)\b[^:]{0,40}:$/i;
const isHeading = (line: string) => /^---.*---$/.test(line) || HEADING.test(line);

/**
 * The reason in the lines after a recipient: the first that has a reply code, otherwise the text
 * directly below, or below a heading.
 */
function reasonOf(below: readonly string[]): Omit<FailedRecipient, 'address'> | undefined {
  const lines = below.slice(0, MAX_REASON_LINES).map((line) => line.trim().replace(/^<<< ?/, ''));
  const reply = lines.findIndex((line) => REPLY.test(line));
  const heading = lines.findIndex(isHeading);
  const start = reply !== -1 ? reply : lines.findIndex((line, at) => line !== '' && at > heading);
  // Text after an empty line is advice.
  const isBelow = reply !== -1 || heading !== -1 || start <= 1;
  return isBelow ? withStatus(paragraph(lines.slice(Math.max(start, 0)))) : undefined;
}

/** Some systems give the reason first. */
function reasonAbove(lines: readonly string[]): Omit<FailedRecipient, 'address'> | undefined {
  const start = lines.findIndex((line) => REPLY.test(line));
  return start === -1 ? undefined : withStatus(paragraph(lines.slice(start, start + 2)));
}

function withStatus(diagnostic: string): Omit<FailedRecipient, 'address'> | undefined {
  if (diagnostic === '') return undefined;
  const status = STATUS.exec(diagnostic)?.[0];
  return { diagnostic, ...(status !== undefined && { status }) };
}

function paragraph(lines: readonly string[]): string {
  const end = lines.findIndex((line) => RULE.test(line));
  return lines
    .slice(0, end === -1 ? 2 : Math.min(end, 2))
    .map((line) => line.trim())
    .join(' ');
}
