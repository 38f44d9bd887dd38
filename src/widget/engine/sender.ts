import { signal, untracked } from '@preact/signals-core';
import type {
  MessageAck,
  MessageRequest,
  PageInfo,
  PlainAck,
  SeenRequest,
  SessionEvent,
} from '../../channels/chat/events.ts';
import type { SafeStorage } from '../storage.ts';
import { type Outbox, type OutboxItem, waitOf } from './outbox.ts';
import type { TabVisitor } from './tab-visitor.ts';
import { backoffMs } from './timing.ts';

interface SenderParts {
  readonly outbox: Outbox;
  readonly lease: SendLease;
  readonly leaseMs: number;
  readonly now: () => number;
  /** The visitor of this tab's connection; undefined without a connection. */
  readonly visitorId: () => string | undefined;
  readonly request: (message: MessageRequest) => Promise<MessageAck | undefined>;
  readonly pageInfo?: (() => PageInfo) | undefined;
  /** The server did not answer in time. */
  readonly onNoAnswer: () => void;
}

const BUSY = { minMs: 2_000, maxMs: 30_000 };

/**
 * Sends the outbox: one message at a time, in order, each until it is acknowledged or permanently
 * refused. `pump` is called after every event that may allow the next step.
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

  /**
   * Resolves with true when the outbox is empty, and with false when its next message has to wait.
   */
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
    const answer = await this.#parts.request({
      ...{ id, text, page: this.#parts.pageInfo?.() },
      ...(uploads.length > 0 && { uploads }),
    });
    this.#inFlight.value = undefined;
    if (answer === undefined) {
      // The connection is still the same visitor's, so the server did not answer in time.
      if (this.#parts.visitorId() === item.visitorId) this.#parts.onNoAnswer();
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

export const LEASE = 'sender';

/**
 * Decides which tab sends. Without it each tab would send the same messages, and use up the
 * visitor's rate limit. It need not be exact: when two tabs send the same message, the gateway
 * stores it once.
 */
export class SendLease {
  readonly #storage: SafeStorage;
  readonly #tab: string;
  readonly #leaseMs: number;
  readonly #now: () => number;

  constructor(storage: SafeStorage, tab: string, leaseMs: number, now: () => number) {
    this.#storage = storage;
    this.#tab = tab;
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  /** Takes or renews the lease. @returns 0, or the milliseconds for which another tab holds it */
  take(): number {
    const now = this.#now();
    const { tab, until } = this.#read();
    const wait = tab === this.#tab ? 0 : until - now;
    // A wait longer than a lease means that the clock was set back.
    if (wait > 0 && wait <= this.#leaseMs) return wait;
    this.#storage.set(LEASE, [this.#tab, now + this.#leaseMs]);
    return 0;
  }

  release(): void {
    if (this.#read().tab === this.#tab) this.#storage.remove(LEASE);
  }

  #read(): { tab: unknown; until: number } {
    const value = this.#storage.get(LEASE);
    const [tab, until] = Array.isArray(value) ? (value as unknown[]) : [];
    return { tab, until: typeof until === 'number' ? until : 0 };
  }
}

interface SeenReporterParts {
  readonly visitor: TabVisitor;
  /** Undefined while there is no connection. */
  readonly session: () => SessionEvent | undefined;
  readonly request: (seen: SeenRequest) => Promise<PlainAck | undefined>;
  readonly delayMs: number;
}

/**
 * Tells the server which lines were seen, for the visitor's other devices. Several lines are
 * reported together, because the server limits the rate of requests. A report that fails is
 * repeated with the next one.
 */
export class SeenReporter {
  readonly #parts: SeenReporterParts;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: SeenReporterParts) {
    this.#parts = parts;
  }

  schedule(): void {
    this.#timer ??= setTimeout(() => void this.#report(), this.#parts.delayMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #report(): Promise<void> {
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
