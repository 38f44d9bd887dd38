/** The position of a message: a file, and the byte offset if the file contains several. */
export interface MessagePosition {
  readonly file: string;
  readonly offset?: number;
}

export const showPosition = ({ file, offset }: MessagePosition): string =>
  offset === undefined ? file : `${file}:${offset}`;

/** What the file says about a message outside of its bytes. */
export interface Hints {
  /** The envelope sender; empty for bounces. */
  readonly sender?: string;
  readonly recipients?: readonly string[];
  /** When it first arrived, in milliseconds since the epoch. */
  readonly receivedAt?: number;
}

/** Receives the messages of a file, one after the other. */
export interface MessageReceiver {
  begin(position: MessagePosition, hints: Hints): void;
  /** If it returns a promise, wait for it before the next write. */
  write(bytes: Buffer): Promise<void> | undefined;
  /** Resolves when the next message can be accepted. */
  end(): Promise<void>;
  /** The message cannot be accepted. */
  fail(position: MessagePosition, reason: string): void;
  /** This many more bytes of the input have been processed. */
  advance(bytes: number): void;
}

interface Failure extends MessagePosition {
  readonly reason: string;
}

/** Further failures are counted but not listed. */
const MAX_LISTED = 1000;

/** Counts the results of the messages. */
export class IngestTally {
  accepted = 0;
  duplicates = 0;
  failed = 0;
  /** Lines of an export that are not messages. */
  skipped = 0;
  /** Created entries: one per inbox of a message. */
  entries = 0;
  readonly failures: Failure[] = [];

  get messages(): number {
    return this.accepted + this.duplicates + this.failed;
  }

  fail(position: MessagePosition, reason: string): void {
    this.failed += 1;
    if (this.failures.length < MAX_LISTED) this.failures.push({ ...position, reason });
  }
}
