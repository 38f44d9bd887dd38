import { create as contentDisposition } from 'content-disposition';

const MAX_LENGTH = 150;
/** Steps of a path, controls, halves of a character, and what turns the direction of writing. */
const MISLEADING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]/gu;

/**
 * `Content-Disposition` of a file that a stranger has named (RFC 6266 §4.3: the name may lie). The
 * end of a long name stays: it says what kind of file it is.
 */
export function asDownload(name: string): string {
  const safe = name.slice(-MAX_LENGTH).replace(MISLEADING, '_');
  return contentDisposition(safe === '' ? undefined : safe, { type: 'attachment' });
}
