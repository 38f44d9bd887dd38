import { signal, untracked } from '@preact/signals-core';
import type { MessageAck, MessageRequest } from '../../channels/chat/events.ts';
import { backoffMs } from './backoff.ts';
import type { Outbox } from './outbox.ts';
import { type OutboxItem, waitOf } from './outbox-item.ts';
import type { SendLease } from './send-lease.ts';

export interface SenderParts {
  readonly outbox: Outbox;
  readonly lease: SendLease;
  readonly leaseMs: number;
  readonly now: () => number;
  /** As whom this tab is connected; undefined while it is not. */
  readonly visitorId: () => string | undefined;
  readonly request: (message: MessageRequest) => Promise<MessageAck | undefined>;
  /** The server did not answer in time. */
  readonly onHung: () => void;
}

const BUSY = { minMs: 2_000, maxMs: 30_000 };

/**
 * Empties the outbox: one message at a time, in order, each until it is acknowledged or refused for
 * good. `pump` is called after everything that could make the next step possible.
 */
export class Sender {
  readonly #parts: SenderParts;
  readonly #onDrained: ((isDrained: boolean) => void)[] = [];
  readonly #inFlight = signal<string | undefined>(undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** The message that waits for its acknowledgement. */
  get inFlight(): string | undefined {
    return this.#inFlight.value;
  }

  pump(): void {
    const { outbox, lease, leaseMs, now, visitorId } = this.#parts;
    clearTimeout(this.#timer);
    const visitor = visitorId();
    const item = untracked(() => (visitor === undefined ? undefined : outbox.head(visitor)));
    if (item === undefined) {
      lease.release();
      this.#answer(true);
      return;
    }
    const wait = waitOf(item, now());
    if (this.#inFlight.peek() === undefined && wait > 0) {
      lease.release();
      this.#answer(false);
      this.#wakeIn(wait);
      return;
    }
    const taken = lease.take();
    if (this.#inFlight.peek() !== undefined) this.#wakeIn(leaseMs / 3);
    else if (taken > 0) this.#wakeIn(taken);
    else void this.#send(item);
  }

  /** Resolves when there is nothing to send; with false when that will take its time. */
  drained(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#onDrained.push(resolve);
      this.pump();
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#parts.lease.release();
  }

  async #send(item: OutboxItem): Promise<void> {
    const { id, text, files } = item;
    const uploads = files.flatMap((file) => file.id ?? []);
    this.#inFlight.value = id;
    this.#wakeIn(this.#parts.leaseMs / 3);
    const answer = await this.#parts.request({ id, text, ...(uploads.length > 0 && { uploads }) });
    this.#inFlight.value = undefined;
    if (answer === undefined) {
      // Still connected as the same visitor: it was the answer that did not come.
      if (this.#parts.visitorId() === item.visitorId) this.#parts.onHung();
    } else {
      this.#settle(id, answer);
    }
    this.pump();
  }

  #settle(id: string, answer: MessageAck): void {
    const { outbox, now } = this.#parts;
    const item = outbox.find(id);
    if (answer.ok) {
      this.#busy = 0;
      outbox.acknowledge(id, answer.seq);
    } else if (item !== undefined && item.seq === undefined) {
      const { error, retryAfter } = answer;
      if (error === 'rate_limited' || error === 'busy') {
        const wait = retryAfter === undefined ? backoffMs(this.#busy++, BUSY) : retryAfter * 1000;
        outbox.put({ ...item, retryAt: now() + wait });
      } else {
        outbox.put({ ...item, error });
      }
    }
  }

  #answer(isDrained: boolean): void {
    for (const resolve of this.#onDrained.splice(0)) resolve(isDrained);
  }

  #wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.pump(), ms);
  }
}
