import libmime from 'libmime';
import { cleanLine } from '../../../../runtime/clean-text.ts';

const MAX_SUBJECT_LENGTH = 1000;
const MAX_NAME_LENGTH = 200;
/** What is decoded of a header value: encoded words are up to nine times as long as their text. */
const MAX_ENCODED_LENGTH = 16 * 1024;

/** The subject, decoded (RFC 2047), on one line; undefined when there is nothing in it. */
export function readSubject(raw: string | undefined): string | undefined {
  return decoded(raw ?? '', MAX_SUBJECT_LENGTH);
}

/** A display name, decoded, without control and bidi characters, 200 characters at most. */
export function readDisplayName(raw: string): string | undefined {
  const name = decoded(raw, MAX_NAME_LENGTH);
  // A name that was quoted once inside its encoded word, as some clients do.
  return name?.replace(/^(["'])(.+)\1$/, '$2');
}

function decoded(raw: string, maxLength: number): string | undefined {
  const text = cleanLine(decodeWords(raw.slice(0, MAX_ENCODED_LENGTH)), maxLength);
  return text === '' ? undefined : text;
}

/** Decodes encoded words; what cannot be decoded stays as it came. */
export function decodeWords(raw: string): string {
  if (!raw.includes('=?')) return raw;
  try {
    return libmime.decodeWords(raw);
  } catch {
    return raw;
  }
}
