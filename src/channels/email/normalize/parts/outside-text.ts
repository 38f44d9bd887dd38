/** Of a message; the rest is not kept. */
const MAX_BYTES = 64 * 1024;
/** What programs write for readers without MIME, in any language. */
const NOTICE = /\bmime\b|multi-?part/i;
const MAX_NOTICE_LENGTH = 600;
/** A header field is no notice. */
const FIELD = /^[^\s]{0,60}:/m;
const NO_TEXT = Buffer.alloc(0);
const EMPTY_LINES = Buffer.from('\r\n\r\n');

/** Whether text, of one character per byte, is nothing that a person wrote: blank, or a notice. */
export function isNotice(text: string): boolean {
  const shown = text.trim();
  if (shown === '') return true;
  return shown.length <= MAX_NOTICE_LENGTH && NOTICE.test(shown) && !FIELD.test(shown);
}

/**
 * The text before the first and after the last part of a multipart (preamble and epilogue, RFC 2046
 * §5.1.1), which mail programs do not show.
 */
export class OutsideText {
  readonly #lines: Buffer[] = [];
  #bytes = 0;
  #blockEnded = false;
  #isCut = false;

  push(line: Buffer): void {
    if (this.#bytes + line.length > MAX_BYTES) {
      this.#isCut ||= !isNotice(line.toString('latin1', 0, MAX_NOTICE_LENGTH));
      return;
    }
    this.#bytes += line.length;
    if (this.#blockEnded) this.#lines.push(EMPTY_LINES);
    this.#blockEnded = false;
    // Copied, because a line is a view of everything that was read with it.
    this.#lines.push(Buffer.from(line));
  }

  /** What follows does not continue the last line. */
  endBlock(): void {
    this.#blockEnded = this.#bytes > 0;
  }

  /** Not all of it was kept. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** What a person may have written; empty if there is nothing. */
  text(): Buffer {
    if (this.#bytes === 0) return NO_TEXT;
    const paragraphs = Buffer.concat(this.#lines)
      .toString('latin1')
      .split(/(?:\r?\n[ \t]*){2,}/)
      .filter((paragraph) => !isNotice(paragraph));
    return Buffer.from(paragraphs.join('\r\n\r\n').trim(), 'latin1');
  }
}
