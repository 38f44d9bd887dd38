/** The multipart to which a delimiter line belongs (RFC 2046 §5.1.1). */
export interface Delimiter<Node> {
  readonly node: Node;
  /** How many open multiparts contain it. */
  readonly depth: number;
  /** It ends the multipart. */
  readonly isEnd: boolean;
}

/**
 * The multiparts whose end has not been reached, and their delimiters.
 *
 * White space may follow a delimiter (RFC 2046 §5.1.1, transport padding). One of an outer multipart
 * counts wherever it occurs (§5.1.2). If several multiparts have the same boundary, or one boundary
 * is another one with two dashes, the innermost counts. The time to find one depends on the length
 * of the line only, not on how many are open.
 */
export class OpenMultiparts<Node> {
  /** From the outermost to the innermost. */
  readonly #open: { readonly node: Node; readonly boundaries: ReadonlySet<string> }[] = [];
  /** The positions of each boundary in `#open`. */
  readonly #depths = new Map<string, number[]>();

  /** `boundaries`: one character per byte; several if its lines differ from what it declares. */
  add(node: Node, boundaries: ReadonlySet<string>): void {
    for (const boundary of boundaries) {
      const depths = this.#depths.get(boundary) ?? [];
      depths.push(this.#open.length);
      this.#depths.set(boundary, depths);
    }
    this.#open.push({ node, boundaries });
  }

  /** Undefined for a line that is no delimiter. */
  find(line: Buffer): Delimiter<Node> | undefined {
    if (this.#open.length === 0) return undefined;
    const text = delimiterText(line);
    if (text === undefined) return undefined;
    const opens = this.#innermost(text);
    const ends = text.endsWith('--') ? this.#innermost(text.slice(0, -2)) : -1;
    const depth = Math.max(opens, ends);
    const found = this.#open[depth];
    return found === undefined ? undefined : { node: found.node, depth, isEnd: ends > opens };
  }

  /** Closes all that are open at this depth and deeper; returns how many there were. */
  closeFrom(depth: number): number {
    const closed = this.#open.splice(depth);
    for (const boundary of closed.flatMap(({ boundaries }) => [...boundaries])) {
      const depths = this.#depths.get(boundary);
      depths?.pop();
      if (depths?.length === 0) this.#depths.delete(boundary);
    }
    return closed.length;
  }

  #innermost(boundary: string): number {
    return this.#depths.get(boundary)?.at(-1) ?? -1;
  }
}

const DASH = 0x2d;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * What follows the two dashes at the start of a line, one character per byte, without white space
 * at its end; undefined for other lines. The end of the line before may precede it.
 */
export function delimiterText(line: Buffer): string | undefined {
  let start = 0;
  while (start < 2 && (line[start] === CR || line[start] === LF)) start += 1;
  if (line[start] !== DASH || line[start + 1] !== DASH) return undefined;
  let end = line.length;
  while (end > start + 2 && isBlank(line[end - 1])) end -= 1;
  return line.toString('latin1', start + 2, end);
}

function isBlank(byte: number | undefined): boolean {
  return byte === CR || byte === LF || byte === SPACE || byte === TAB;
}
