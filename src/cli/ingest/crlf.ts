const CR = 0x0d;
const LF = 0x0a;

/**
 * Turns the line ends of a file into those of SMTP (RFC 5321 §2.3.8): an LF that no CR precedes
 * becomes CRLF. A message that came by SMTP, was written to a file and is taken in again is then the
 * same, byte for byte.
 */
export class LineEnds {
  #afterCr = false;
  /** Undefined: nothing was written. */
  #last: number | undefined;

  /** What is missing of the last line's end: every message that came by SMTP ends with one. */
  end(): Buffer {
    if (this.#last === undefined || this.#last === LF) return Buffer.alloc(0);
    return Buffer.from(this.#last === CR ? '\n' : '\r\n');
  }

  convert(bytes: Buffer): Buffer {
    const missing = this.#countMissing(bytes);
    const last = bytes.at(-1);
    this.#last = last ?? this.#last;
    if (missing === 0) {
      this.#afterCr = last === undefined ? this.#afterCr : last === CR;
      return bytes;
    }
    const made = Buffer.allocUnsafe(bytes.length + missing);
    let length = 0;
    let from = 0;
    let afterCr = this.#afterCr;
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
      const hasCr = at === 0 ? afterCr : bytes[at - 1] === CR;
      if (hasCr) continue;
      length += bytes.copy(made, length, from, at);
      made[length] = CR;
      length += 1;
      from = at;
    }
    length += bytes.copy(made, length, from);
    afterCr = last === CR;
    this.#afterCr = afterCr;
    return made.subarray(0, length);
  }

  #countMissing(bytes: Buffer): number {
    let missing = 0;
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
      const hasCr = at === 0 ? this.#afterCr : bytes[at - 1] === CR;
      if (!hasCr) missing += 1;
    }
    return missing;
  }
}
