import type { PlainAck, SeenRequest, SessionEvent } from '../../channels/chat/events.ts';
import type { TabVisitor } from './tab-visitor.ts';

export interface SeenTellerParts {
  readonly visitor: TabVisitor;
  /** Undefined while there is no connection. */
  readonly session: () => SessionEvent | undefined;
  readonly request: (seen: SeenRequest) => Promise<PlainAck | undefined>;
  readonly delayMs: number;
}

/**
 * Tells the server what was looked at, for the visitor's other devices. Not for every line of a
 * replay: the server answers only so many calls. What it does not take is told the next time.
 */
export class SeenTeller {
  readonly #parts: SeenTellerParts;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: SeenTellerParts) {
    this.#parts = parts;
  }

  soon(): void {
    this.#timer ??= setTimeout(() => void this.#tell(), this.#parts.delayMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #tell(): Promise<void> {
    this.#timer = undefined;
    const { visitor, request } = this.#parts;
    const session = this.#parts.session();
    const seq = visitor.seen.peek();
    if (session === undefined || seq <= session.seenSeq) return;
    const answer = await request({ seq });
    if (answer?.ok === true && this.#parts.session()?.visitorId === session.visitorId) {
      visitor.update({ seenSeq: seq });
    }
  }
}
