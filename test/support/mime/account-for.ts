import { decodeLines } from '../../../src/channels/email/normalize/parts/transfer-encodings.ts';
import type { EmailResult } from '../../../src/channels/email/normalize/job.ts';
import { isSomething, withLineFeeds, withoutBlanks } from './mime-differences.ts';
import type { ReadLeaf, ReadMail } from './read-mail.ts';
import type { SecondLeaf } from './second-parser.ts';

/**
 * The leaves of the second parser that are neither in the payload's text, nor in an attachment, nor
 * in the notes. `readEncoded`: reads the same message without decoding its parts.
 */
export async function accountFor(
  second: readonly SecondLeaf[],
  ours: ReadMail,
  result: EmailResult,
  readEncoded: () => Promise<ReadMail>,
): Promise<readonly string[]> {
  // The original has all of them.
  if (result.files.some(({ part }) => part === 'raw')) return [];
  const missing = second.filter(isSomething).filter((leaf) => {
    const same = ours.leaves.filter(({ bytes }) => contentKey(bytes) === contentKey(leaf.bytes));
    return !same.some((each) => isIn(result, ours, each)) && !isInAnotherForm(leaf, ours);
  });
  if (missing.length === 0) return [];
  const { leaves: encoded } = await readEncoded();
  return missing
    .filter((leaf) => !isInPieces(leaf, [...ours.leaves, ...encoded]))
    .map(({ contentType, bytes }) => `${contentType} ${bytes.toString('latin1', 0, 200)}`);
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
 * Whether a leaf is in ours still encoded, in an enclosed message, or with the octets of an encoding
 * that only the second parser takes for base64.
 */
function isInAnotherForm({ bytes, encoding }: SecondLeaf, ours: ReadMail): boolean {
  const start = bytes.toString('base64', 0, 30);
  const contents = ours.leaves.map((leaf) => leaf.bytes);
  if (contents.some((content) => content.includes(start))) return true;
  return encoding.includes('base64') && contents.some((own) => isDecodedAs(own, bytes));
}

/** Whether the second parser decoded our octets, or more than ours behind them. */
function isDecodedAs(own: Buffer, bytes: Buffer): boolean {
  if (own.length > 20 && bytes.indexOf(own) === 0) return true;
  const characters = own.toString('latin1').replaceAll(/[^A-Za-z0-9+/=]/g, '');
  const units = characters.split(/=+/).map((unit) => Buffer.from(unit, 'base64'));
  if (Buffer.concat(units).equals(bytes)) return true;
  // It decodes from where it finds the end of the head, and takes padding for no end of a unit.
  return (
    bytes.length > 30 && characters.replaceAll('=', '').includes(bytes.toString('base64', 0, 30))
  );
}

/** Delimiters, fields and folded lines, also broken ones. */
const STRUCTURE = /^--|^\W{0,2}\w?ontent|^[\x21-\x39\x3b-\x7e]+[ \t]*:|^[ \t]|^[\w*-]+=|^\s*$/i;

/**
 * Whether each line is in one of our leaves, or belongs to the structure: the second parser takes
 * for text what we find parts in.
 */
function isInPieces({ bytes }: SecondLeaf, leaves: readonly ReadLeaf[]): boolean {
  const contents = leaves.flatMap(({ bytes: own, leaf }) =>
    leaf.contentType === 'message/rfc822' ? [own, decodeLines(own)] : [own],
  );
  const isThere = (piece: Buffer) => contents.some((content) => content.includes(piece));
  return withLineFeeds(bytes)
    .split(/[\r\n]/)
    .every((line) => {
      if (STRUCTURE.test(line) || isThere(Buffer.from(line.trimEnd(), 'latin1'))) return true;
      return isThere(decodeLines(Buffer.from(line, 'latin1')));
    });
}
