import {
  BrokenStructure,
  ByteCursor,
  type ByteSource,
  readRange,
  readStart,
} from './part-content.ts';

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const OBJECT_ID = 0x06;
const OCTETS = 0x04;
const CONSTRUCTED_OCTETS = 0x24;
const EXPLICIT_0 = 0xa0;
const END_OF_CONTENTS = 0x00;
/** Mail programs write pieces of at least a thousand bytes. */
const MAX_PIECES = 100_000;
/** 1.2.840.113549.1.7.2 */
const SIGNED_DATA = '2a864886f70d010702';

interface Element {
  readonly tag: number;
  /** Its content; with an indefinite length, the rest of its container. */
  readonly content: ByteCursor;
  readonly indefinite: boolean;
}

/**
 * The content of signed data (RFC 5652 §5.1, S/MIME's `smime.p7m`), without checking the signature:
 * the signed message follows if it is enclosed. Undefined for other data. Accepts BER as well as
 * DER, because Apple and Outlook use indefinite lengths.
 * @throws the errors of reading the source; the iteration throws {BrokenStructure} where the
 * structure is broken
 */
export async function findSignedContent(
  source: ByteSource,
): Promise<AsyncIterable<Buffer> | undefined> {
  try {
    const whole = new ByteCursor(source, { offset: 0, length: source.size });
    const info = await expectElement(whole, SEQUENCE);
    if ((await objectId(info)) !== SIGNED_DATA) return undefined;
    const wrapped = await expectElement(info, EXPLICIT_0);
    const signed = await expectElement(wrapped, SEQUENCE);
    await passOver(signed, INTEGER);
    await passOver(signed, SET);
    const encapsulated = await expectElement(signed, SEQUENCE);
    await objectId(encapsulated);
    const content = await expectElement(encapsulated, EXPLICIT_0);
    return octets(content);
  } catch (error) {
    if (error instanceof BrokenStructure) return undefined;
    throw error;
  }
}

async function* octets(cursor: ByteCursor): AsyncGenerator<Buffer> {
  const { tag, content, indefinite } = await readElement(cursor);
  if (tag === OCTETS && !indefinite) {
    yield* readRange(content.source, content.take(content.left));
    return;
  }
  if (tag !== CONSTRUCTED_OCTETS) throw new BrokenStructure('not an octet string');
  for (let pieces = 0; content.left > 0; pieces += 1) {
    const next = await readElement(content);
    if (next.tag === END_OF_CONTENTS) return;
    if (pieces === MAX_PIECES) throw new BrokenStructure('too many pieces');
    // Nested pieces do not occur in mail.
    if (next.tag !== OCTETS || next.indefinite) throw new BrokenStructure('not an octet string');
    yield* readRange(content.source, next.content.take(next.content.left));
  }
}

async function expectElement(cursor: ByteCursor, tag: number): Promise<ByteCursor> {
  const element = await readElement(cursor);
  if (element.tag !== tag) throw new BrokenStructure('another structure');
  return element.content;
}

async function passOver(cursor: ByteCursor, tag: number): Promise<void> {
  const { tag: found, indefinite } = await readElement(cursor);
  if (found !== tag) throw new BrokenStructure('another structure');
  if (!indefinite) return;
  // The set of digest algorithms: sequences, up to the end-of-contents.
  for (let passed = 0; ; passed += 1) {
    const inner = await readElement(cursor);
    if (inner.tag === END_OF_CONTENTS) return;
    if (inner.indefinite || passed === MAX_PIECES) throw new BrokenStructure('another structure');
  }
}

async function objectId(cursor: ByteCursor): Promise<string> {
  const id = await expectElement(cursor, OBJECT_ID);
  return (await readStart(id.source, id.take(id.left), 32)).toString('hex');
}

/** X.690 §8.1: skips the element, unless its end is not known yet. */
async function readElement(cursor: ByteCursor): Promise<Element> {
  const tag = await cursor.u8();
  const first = await cursor.u8();
  if (first === 0x80) return { tag, content: cursor, indefinite: true };
  let length = first;
  if (first > 0x80) {
    if (first > 0x84) throw new BrokenStructure('a length of more than four bytes');
    length = 0;
    for (let byte = 0x80; byte < first; byte += 1) length = length * 256 + (await cursor.u8());
  }
  return { tag, content: new ByteCursor(cursor.source, cursor.take(length)), indefinite: false };
}

const SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----';
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const SIGNATURE_END = '-----END PGP SIGNATURE-----';
const ENCRYPTED = '-----BEGIN PGP MESSAGE-----';
const ENCRYPTED_END = '-----END PGP MESSAGE-----';

/**
 * The text of a clear-signed message (RFC 9580 §7) without its armor; text before and after is
 * kept. Undefined if it is not one, or the armor is incomplete. Works on text in any ASCII-based
 * charset, read as Latin-1.
 */
export function clearSignedText(text: string): string | undefined {
  const begin = lineStart(text, SIGNED, 0);
  if (begin === -1) return undefined;
  const signature = lineStart(text, SIGNATURE, begin);
  const end = signature === -1 ? -1 : lineStart(text, SIGNATURE_END, signature);
  if (end === -1) return undefined;
  const lines = text.slice(begin + SIGNED.length, signature).split(/\r?\n/);
  // The first is the rest of the armor line, followed by `Hash:` headers and an empty line.
  const empty = lines.findIndex((line, index) => index > 0 && line.trim() === '');
  const signed = lines.slice(empty + 1).map((line) => line.replace(/^- /, ''));
  return text.slice(0, begin) + signed.join('\n') + text.slice(end + SIGNATURE_END.length);
}

/** Whether the text is an armored encrypted message and nothing else. */
export function isEncryptedText(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith(ENCRYPTED) && trimmed.endsWith(ENCRYPTED_END);
}

/** The next line that starts with these words, from `from` on; -1 if there is none. */
function lineStart(text: string, words: string, from: number): number {
  if (text.startsWith(words, from) && (from === 0 || text[from - 1] === '\n')) return from;
  const found = text.indexOf(`\n${words}`, from);
  return found === -1 ? -1 : found + 1;
}
