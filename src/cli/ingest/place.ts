/** Where a message stands: a file, and the byte in it when the file holds several. */
export interface Place {
  readonly file: string;
  readonly offset?: number;
}

export const showPlace = ({ file, offset }: Place): string =>
  offset === undefined ? file : `${file}:${offset}`;

/** What the place itself tells of a message, beside its bytes. */
export interface Hints {
  /** The envelope's sender; empty for bounces. */
  readonly sender?: string;
  readonly recipients?: readonly string[];
  /** When it first arrived, in milliseconds since the epoch. */
  readonly receivedAt?: number;
}

/** Who takes messages while a file is read. One after the other; each ends before the next begins. */
export interface Taker {
  begin(place: Place, hints: Hints): void;
  /** A promise: wait for it before more is written. */
  write(bytes: Buffer): Promise<void> | undefined;
  /** Resolves when there is room for another message. */
  end(): Promise<void>;
  /** The message cannot be taken, whatever came of it. */
  fail(place: Place, reason: string): void;
  /** So many bytes of the input are done. */
  advance(bytes: number): void;
}

interface Failure extends Place {
  readonly reason: string;
}

/** More are counted, and not told one by one. */
const MOST_TOLD = 1000;

/** What came of the messages so far. */
export class IngestTally {
  accepted = 0;
  duplicates = 0;
  failed = 0;
  /** Of an export: what is no message. */
  skipped = 0;
  /** Entries made: one for each inbox of a message. */
  entries = 0;
  readonly failures: Failure[] = [];

  get messages(): number {
    return this.accepted + this.duplicates + this.failed;
  }

  fail(place: Place, reason: string): void {
    this.failed += 1;
    if (this.failures.length < MOST_TOLD) this.failures.push({ ...place, reason });
  }
}
