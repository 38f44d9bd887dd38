import { createHash, type Hash, randomBytes } from 'node:crypto';
import { asBuffer, type Base64Run, decodedLineBytes } from './part-content.ts';
import { START_BYTES } from './read-parts.ts';

/** The shortest run that is extracted. */
const MIN_CHARACTERS = 96 * 1024;
const MIN_LINE = 40;
const MAX_LINE = 1000;
const MARKER_BYTES = 48;

/** Decoded at a time, through a string; longer strings are expensive to collect. */
const SLICE_BYTES = 48 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/** A run that was removed, except for its start. */
export interface ExtractedRun {
  readonly run: Omit<Base64Run, 'path'>;
  /** The number of decoded bytes at its start that were kept. */
  readonly keptBytes: number;
  /**
   * The replacement for the rest, after decoding. It is random, so that no message can contain it.
   */
  readonly marker: Buffer;
  /** The hash of the whole decoded run; it can still be updated. */
  readonly hash: Hash;
}

interface Shape {
  readonly lineLength: number;
  readonly lineEnd: 1 | 2;
}

interface OpenRun extends Shape, Omit<ExtractedRun, 'run'> {
  readonly offset: number;
  lines: number;
}

/**
 * Removes long runs of base64 lines from a message that is being streamed, and inserts a marker:
 * parsing, decoding and writing the lines of a large attachment costs ten times as much as finding
 * them. A run starts after an empty line. A base64 line is neither a boundary nor a header field,
 * so the run is content of the part that contains it.
 */
export class Base64Extractor {
  readonly #runs: ExtractedRun[] = [];
  /** The undecided bytes, and their position in the message. */
  #held: Buffer = Buffer.alloc(0);
  #offset = 0;
  /** They are directly preceded by an empty line. */
  #afterBlank = false;
  #open: OpenRun | undefined;

  /** Takes the next bytes and returns those that are passed on. */
  push(chunk: Uint8Array): Buffer[] {
    this.#held = this.#held.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#held, chunk]);
    return this.#take(false);
  }

  /** The message has ended: returns the held bytes that are passed on. */
  end(): Buffer[] {
    return this.#take(true);
  }

  /** Complete after `end`. */
  get runs(): readonly ExtractedRun[] {
    return this.#runs;
  }

  #take(ended: boolean): Buffer[] {
    const passed: Buffer[] = [];
    for (;;) {
      if (this.#open !== undefined && !this.#passOver(this.#open, ended)) return passed;
      if (!this.#passText(passed, ended)) return passed;
    }
  }

  /** Skips lines of the open run; true when it has ended. */
  #passOver(run: OpenRun, ended: boolean): boolean {
    const held = this.#held;
    const period = run.lineLength + run.lineEnd;
    const uniform = uniformLines(held, 0, run);
    const lines = base64Lines(held, 0, uniform, run, (decoded) => void run.hash.update(decoded));
    run.lines += lines;
    this.#drop(lines * period);
    const goesOn = !ended && lines === uniform && this.#held.length < period;
    if (goesOn) return false;
    const { offset, lineLength, lineEnd, keptBytes, marker, hash } = run;
    this.#runs.push({
      run: { offset, lines: run.lines, lineLength, lineEnd },
      keptBytes,
      marker,
      hash,
    });
    this.#open = undefined;
    return true;
  }

  /** Passes on bytes outside of runs; true when a run was found. */
  #passText(passed: Buffer[], ended: boolean): boolean {
    const held = this.#held;
    const blanks = new BlankLines(held);
    const first = this.#afterBlank ? 0 : blanks.next(0);
    this.#afterBlank = false;
    for (let start = first; start !== undefined; start = blanks.next(start)) {
      const found = startOfRun(held, start, ended);
      if (found === 'no') continue;
      if (found === 'unknown') {
        this.#pass(start, passed);
        this.#afterBlank = true;
        return false;
      }
      this.#openRun(found, start, passed);
      return true;
    }
    // An empty line may be incomplete here.
    this.#pass(ended ? held.length : Math.max(0, held.length - 2), passed);
    return false;
  }

  #openRun(shape: Shape, start: number, passed: Buffer[]): void {
    const lines = Math.ceil(START_BYTES / decodedLineBytes(shape));
    const hash = createHash('sha256');
    base64Lines(this.#held, start, lines, shape, (decoded) => void hash.update(decoded));
    const marker = randomBytes(MARKER_BYTES);
    const keptBytes = lines * decodedLineBytes(shape);
    this.#open = { ...shape, offset: this.#offset + start, lines, keptBytes, marker, hash };
    this.#pass(start + lines * (shape.lineLength + shape.lineEnd), passed);
    passed.push(Buffer.from(`${marker.toString('base64')}\r\n`, 'latin1'));
  }

  #pass(bytes: number, passed: Buffer[]): void {
    if (bytes > 0) passed.push(this.#held.subarray(0, bytes));
    this.#drop(bytes);
  }

  #drop(bytes: number): void {
    this.#held = this.#held.subarray(bytes);
    this.#offset += bytes;
  }
}

/** Finds the starts of lines after an empty line; reads each byte twice. */
class BlankLines {
  readonly #bytes: Buffer;
  #crlf: number | undefined;
  #lf: number | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The next one after `from`. */
  next(from: number): number | undefined {
    this.#crlf = this.#find('\n\r\n', this.#crlf, from);
    this.#lf = this.#find('\n\n', this.#lf, from);
    const crlf = this.#crlf === -1 ? Infinity : this.#crlf + 3;
    const lf = this.#lf === -1 ? Infinity : this.#lf + 2;
    const start = Math.min(crlf, lf);
    return start === Infinity ? undefined : start;
  }

  #find(blank: string, known: number | undefined, from: number): number {
    const isAhead = known === -1 || (known !== undefined && known + blank.length > from);
    if (isAhead) return known;
    // The end of one empty line can be the beginning of the next.
    return this.#bytes.indexOf(blank, Math.max(0, from - 1), 'latin1');
  }
}

/** The shape of the run that starts here; `unknown` if more bytes are needed. */
function startOfRun(held: Buffer, start: number, ended: boolean): Shape | 'no' | 'unknown' {
  const lf = held.subarray(start, start + MAX_LINE + 2).indexOf(LF);
  if (lf === -1) return !ended && held.length - start < MAX_LINE + 2 ? 'unknown' : 'no';
  const lineEnd = held[start + lf - 1] === CR ? 2 : 1;
  const lineLength = lf + 1 - lineEnd;
  if (lineLength < MIN_LINE || lineLength > MAX_LINE || lineLength % 4 !== 0) return 'no';
  const shape = { lineLength, lineEnd } as const;
  const needed = Math.ceil(MIN_CHARACTERS / lineLength);
  const period = lineLength + lineEnd;
  const uniform = Math.min(needed, uniformLines(held, start, shape));
  const isAll = uniform === needed || start + (uniform + 1) * period > held.length;
  if (!isAll || (uniform < needed && ended)) return 'no';
  if (base64Lines(held, start, uniform, shape) < uniform) return 'no';
  return uniform < needed ? 'unknown' : shape;
}

/** How many complete lines from here have this shape. */
function uniformLines(bytes: Buffer, start: number, { lineLength, lineEnd }: Shape): number {
  const period = lineLength + lineEnd;
  let lines = 0;
  for (let end = start + period; end <= bytes.length; end += period) {
    if (bytes[end - 1] !== LF || (lineEnd === 2 && bytes[end - 2] !== CR)) break;
    lines += 1;
  }
  return lines;
}

/**
 * How many lines of one shape consist of base64 entirely, up to the first that does not. Their
 * decoded bytes are passed to `take`, in a buffer that is reused.
 */
function base64Lines(
  bytes: Buffer,
  start: number,
  lines: number,
  shape: Shape,
  take: (decoded: Buffer) => void = () => undefined,
): number {
  const period = shape.lineLength + shape.lineEnd;
  let step = Math.floor(SLICE_BYTES / period);
  let good = 0;
  while (good < lines) {
    const count = Math.min(step, lines - good);
    const from = start + good * period;
    const decoded = decode(bytes, from, from + count * period);
    if (decoded?.length === count * decodedLineBytes(shape)) {
      take(decoded);
      good += count;
    } else if (count === 1) {
      break;
    } else {
      // One of them is not base64; it is found line by line.
      step = 1;
    }
  }
  return good;
}

const decodedSlice = Buffer.allocUnsafe(SLICE_BYTES);

/**
 * Node skips invalid base64, so the result is shorter; it also reads "-" and "_" as "+" and "/".
 */
function decode(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const text = bytes.subarray(start, end);
  if (text.includes(0x2d) || text.includes(0x5f)) return undefined;
  return decodedSlice.subarray(0, decodedSlice.write(text.toString('latin1'), 'base64'));
}
