import { decodeLines } from '../../../src/channels/email/normalize/parts/quoted-printable.ts';
import type { EmailResult } from '../../../src/channels/email/normalize/job.ts';
import { isSomething, withLineFeeds, withoutBlanks } from './mime-differences.ts';
import type { ReadLeaf, ReadMail } from './read-mail.ts';
import type { SecondLeaf } from './second-parser.ts';

/**
 * The leaves of the second parser that are neither in the payload's text, nor in an attachment, nor
 * in the notes.
 */
export function accountFor(
  second: readonly SecondLeaf[],
  ours: ReadMail,
  result: EmailResult,
): readonly string[] {
  // The original has all of them.
  if (result.files.some(({ part }) => part === 'raw')) return [];
  const lost: string[] = [];
  for (const leaf of second.filter(isSomething)) {
    const key = contentKey(leaf.bytes);
    const same = ours.leaves.filter(({ bytes }) => contentKey(bytes) === key);
    const isThere = same.some((each) => isIn(result, ours, each));
    if (!isThere && (same.length > 0 || !inPieces(leaf, ours)))
      lost.push(`${leaf.contentType} ${leaf.bytes.toString('latin1', 0, 200)}`);
  }
  return lost;
}

const contentKey = (bytes: Buffer): string => withoutBlanks(withLineFeeds(bytes));

/** Whether a leaf of ours is in the content, an attachment, or the notes. */
export function isIn(result: EmailResult, { forms }: ReadMail, read: ReadLeaf): boolean {
  const { leaf, name, bytes } = read;
  const { request, files, findings } = result;
  const { contentType, sha256 } = leaf;
  // The same invitation twice is one file.
  if (files.some(({ part }) => part.endsWith(`:${sha256.slice(0, 16)}`))) return true;
  if (findings['attachmentsLeftOut'] !== undefined || findings['longText'] === true) return true;
  // The notes say which form of a text was read, and how many more there are.
  if (forms.has(leaf) || findings['otherForms'] !== undefined) return findings['body'] !== 'none';
  if (contentType === 'text/html') return findings['body'] !== 'none';
  // Their content takes their place.
  if (OPENED.test(contentType) || /^win(?:mail)?\.dat$/i.test(name ?? '')) return true;
  if (contentType === 'text/plain') {
    if (findings['body'] === 'html' || bytes.includes('-----BEGIN PGP ')) return true;
    return isShown(request.message.content, read);
  }
  return false;
}

const OPENED = /^application\/(?:(?:vnd\.)?ms-tnef|(?:x-)?pkcs7-mime)$/;

/** Charsets in which the bytes of letters are letters. */
const LIKE_ASCII = /^(?:utf-8|us-ascii|iso-8859-|windows-125|koi8-|$)/i;

/** Whether the words of a text are in the content. */
function isShown(content: string, { leaf, bytes }: ReadLeaf): boolean {
  if (!LIKE_ASCII.test(leaf.parameters['charset'] ?? '') || bytes.includes(0x1b)) return true;
  const text = bytes.toString('latin1').replaceAll(/\[cid:[^\]]*\]/g, '');
  const words = text.match(/(?<![&=\x80-\xff])[A-Za-z]{4,20}/g) ?? [];
  return words.slice(0, 50).every((word) => content.includes(word));
}

/**
 * Whether a leaf is in ours in another form: still encoded in an enclosed message, with octets of an
 * encoding that only the second parser takes for base64, or line by line, where the second parser
 * takes for text what we find parts in.
 */
function inPieces({ bytes, encoding }: SecondLeaf, ours: ReadMail): boolean {
  const contents = ours.leaves.map((leaf) => leaf.bytes);
  const isThere = (piece: Buffer) => contents.some((content) => content.includes(piece));
  if (isThere(Buffer.from(bytes.toString('base64', 0, 30)))) return true;
  if (encoding.includes('base64') && contents.some((own) => isDecodedAs(own, bytes))) return true;
  const lines = withLineFeeds(bytes).split(/[\r\n]/);
  return lines.every((line) => {
    if (isStructure(line) || isThere(Buffer.from(line.trimEnd(), 'latin1'))) return true;
    const forms = [decodeLines(Buffer.from(line, 'latin1')), Buffer.from(line, 'base64')];
    return forms.some((form) => form.length > 0 && isThere(form));
  });
}

/** Whether the second parser decoded our octets, or more than ours behind them. */
function isDecodedAs(own: Buffer, bytes: Buffer): boolean {
  if (own.length > 20 && bytes.indexOf(own) === 0) return true;
  const characters = own.toString('latin1').replaceAll(/[^A-Za-z0-9+/=]/g, '');
  const units = characters.split(/=+/).map((unit) => Buffer.from(unit, 'base64'));
  return Buffer.concat(units).equals(bytes);
}

/** Delimiters, fields, also broken ones, and base64 with a few wrong characters. */
function isStructure(line: string): boolean {
  if (/^--|^\W{0,2}\w?ontent|^[\x21-\x39\x3b-\x7e]+[ \t]*:|^[ \t]|^[\w*-]+=|^\s*$/i.test(line)) {
    return true;
  }
  const base64 = line.replaceAll(/[^A-Za-z0-9+/=]/g, '');
  return line.length >= 12 && base64.length > line.length * 0.85;
}
