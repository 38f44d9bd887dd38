import type { JournalLine } from '../../spool/chat-store.ts';
import type { MessageEvent } from './events.ts';
import { authorOf, type ChatShop } from './shop.ts';

export interface LineFeedParts {
  /** Lines with `seq > after`, oldest first: one step of the replay, empty at the end. */
  readonly read: (after: number) => Promise<readonly JournalLine[]>;
  /** @param isLast whether no other line follows at once */
  readonly emit: (line: MessageEvent, isLast: boolean, state?: JournalLine['state']) => void;
  readonly toEvent: (line: JournalLine) => MessageEvent;
  /** Whether a line may be sent now; otherwise it waits in the journal. */
  readonly hasRoom: () => boolean;
  /** Resolves when the socket has received everything, or is gone. */
  readonly drained: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * One socket's view of its visitor's journal. The socket gets each line once and in the
 * order of `seq`, in whatever order lines are offered and even if a replay overlaps with live
 * lines: the next line is sent directly, and gaps are filled from the journal.
 */
export class LineFeed {
  readonly #parts: LineFeedParts;
  #sent: number;
  #wanted = 0;
  /** No line up to this one is left to be sent: what the journal does not have was swept. */
  #missing = 0;
  #reading = false;
  #asked = 0;
  #closed = false;

  constructor(sent: number, parts: LineFeedParts) {
    this.#sent = sent;
    this.#parts = parts;
  }

  /** The highest `seq` sent to this socket. */
  get sent(): number {
    return this.#sent;
  }

  /** A line that was just stored. */
  offer(line: MessageEvent): void {
    if (this.#closed || line.seq <= this.#sent) return;
    if (!this.#reading && line.seq === this.#sent + 1 && this.#parts.hasRoom()) {
      this.#sent = line.seq;
      this.#parts.emit(line, true);
      return;
    }
    this.announce(line.seq);
  }

  /** A line with this number was stored; it is read from the journal. */
  announce(seq: number): void {
    if (this.#closed || seq <= this.#sent || seq <= this.#missing) return;
    this.#wanted = Math.max(this.#wanted, seq);
    this.#start();
  }

  /** Sends everything after the last line sent. */
  catchUp(): void {
    // Counted, because lines may have been stored after the page that is being read.
    this.#asked += 1;
    this.#start();
  }

  #start(): void {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    this.#read().catch((error: unknown) => {
      if (!this.#closed) this.#parts.onError(error);
    });
  }

  close(): void {
    this.#closed = true;
  }

  async #read(): Promise<void> {
    try {
      if (!this.#parts.hasRoom()) await this.#parts.drained();
      for (;;) {
        const [asked, announced] = [this.#asked, this.#wanted];
        const lines = await this.#parts.read(this.#sent);
        // The socket was closed while the journal was read.
        if (this.#closed) return;
        for (const line of lines) {
          this.#sent = line.seq;
          this.#parts.emit(this.#parts.toEvent(line), line === lines.at(-1), line.state);
        }
        // A line that was announced before this read but is not in it no longer exists.
        if (lines.length === 0) this.#missing = announced;
        const found = Math.max(this.#sent, this.#missing);
        const isMore = lines.length > 0 || this.#wanted > found || asked !== this.#asked;
        // There is no await between this check and the end, so no offer can occur in between.
        if (!isMore) return;
        await this.#parts.drained();
      }
    } finally {
      this.#reading = false;
    }
  }
}

export interface RevisionFeedParts {
  /** Lines with `rev > after`, in the order of their changes. */
  readonly read: (after: number) => Promise<readonly JournalLine[]>;
  readonly emit: (line: JournalLine) => void;
  /** Resolves when the socket has received everything, or is gone. */
  readonly drained: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Sends one socket the changes to its visitor's lines, in their order. It reads each text when it
 * sends it, so that of several changes to one line the last is sent. A line may change before the
 * socket has it; the client keeps the text with the higher `rev`.
 */
export class RevisionFeed {
  readonly #parts: RevisionFeedParts;
  #sent: number;
  #wanted = 0;
  #reading = false;
  #closed = false;

  /** @param sent changes up to this one are known to the client */
  constructor(sent: number, parts: RevisionFeedParts) {
    this.#sent = sent;
    this.#parts = parts;
  }

  /** A change with this number was stored, perhaps by another gateway. */
  announce(rev: number): void {
    this.#wanted = Math.max(this.#wanted, rev);
    if (this.#reading || this.#closed || this.#wanted <= this.#sent) return;
    this.#reading = true;
    this.#read().catch((error: unknown) => {
      if (!this.#closed) this.#parts.onError(error);
    });
  }

  close(): void {
    this.#closed = true;
  }

  async #read(): Promise<void> {
    try {
      while (this.#sent < this.#wanted) {
        const announced = this.#wanted;
        await this.#parts.drained();
        const lines = await this.#parts.read(this.#sent);
        if (this.#closed) return;
        for (const line of lines) {
          this.#sent = Math.max(this.#sent, line.rev ?? 0);
          this.#parts.emit(line);
        }
        // The retention has deleted the line, or it has changed again.
        if (lines.length === 0) this.#sent = announced;
      }
    } finally {
      this.#reading = false;
    }
  }
}

export function toEvent(line: JournalLine, shop: ChatShop): MessageEvent {
  const { seq, id, from, text, format, attachments, at, rev } = line;
  const author = line.author && authorOf(line.author, shop);
  return {
    ...{ seq, id, from, text, format, attachments, at },
    ...(author && { author }),
    ...(rev !== undefined && { rev }),
    ...(line.choices && { choices: line.choices }),
  };
}
