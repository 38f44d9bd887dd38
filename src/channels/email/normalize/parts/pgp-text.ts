const SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----';
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const SIGNATURE_END = '-----END PGP SIGNATURE-----';
const ENCRYPTED = '-----BEGIN PGP MESSAGE-----';
const ENCRYPTED_END = '-----END PGP MESSAGE-----';

/**
 * The text of a clear-signed message (RFC 9580 §7) without its armor: what stands before and after
 * stays. Undefined when the text is none, or the armor is not whole. Works on text in any charset
 * that has ASCII in it, read as Latin-1.
 */
export function clearSignedText(text: string): string | undefined {
  const begin = lineStart(text, SIGNED, 0);
  if (begin === -1) return undefined;
  const signature = lineStart(text, SIGNATURE, begin);
  const end = signature === -1 ? -1 : lineStart(text, SIGNATURE_END, signature);
  if (end === -1) return undefined;
  const lines = text.slice(begin + SIGNED.length, signature).split(/\r?\n/);
  // The first is the rest of the armor's own line; then come `Hash:` headers and an empty line.
  const empty = lines.findIndex((line, index) => index > 0 && line.trim() === '');
  const signed = lines.slice(empty + 1).map((line) => line.replace(/^- /, ''));
  return text.slice(0, begin) + signed.join('\n') + text.slice(end + SIGNATURE_END.length);
}

/** Whether the text is an encrypted message in armor, and nothing else. */
export function isEncryptedText(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith(ENCRYPTED) && trimmed.endsWith(ENCRYPTED_END);
}

/** Where the words start a line, from `from` on; -1 when they do not. */
function lineStart(text: string, words: string, from: number): number {
  if (text.startsWith(words, from) && (from === 0 || text[from - 1] === '\n')) return from;
  const found = text.indexOf(`\n${words}`, from);
  return found === -1 ? -1 : found + 1;
}
