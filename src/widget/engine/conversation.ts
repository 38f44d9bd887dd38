import { batch, computed, type ReadonlySignal, signal } from '@preact/signals-core';
import {
  type HistoryAck,
  type HistoryRequest,
  MAX_HISTORY,
  type MessageEvent,
  type SessionEvent,
  type StatusEvent,
  type UpdateEvent,
} from '../../channels/chat/events.ts';
import type { Chat, Line } from './chat.ts';
import { LineRecord } from './line-record.ts';

interface ConversationParts {
  /** Undefined: no answer, or no connection. */
  readonly history: (request: HistoryRequest) => Promise<HistoryAck | undefined>;
  /** The highest number of the record has changed; 0 when it is empty. */
  readonly onTop: (top: number) => void;
  readonly retryMs: number;
}

const PAGE = 50;

/** The numbered lines as signals; it fetches the lines that the server does not send by itself. */
export class Conversation {
  readonly older: Chat['older'] = computed(() => this.#older());
  readonly #parts: ConversationParts;
  readonly #record = new LineRecord();
  readonly #lines = signal(this.#record.lines);
  readonly #isComplete = signal(false);
  readonly #isLoading = signal(false);
  readonly #session = signal<SessionEvent | undefined>(undefined);
  /** Counts `clear`s: an answer to a request from before is ignored. */
  #epoch = 0;
  #isRepairing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  get lines(): ReadonlySignal<readonly Line[]> {
    return this.#lines;
  }

  get top(): number {
    return this.#record.top;
  }

  add(event: MessageEvent): void {
    this.#record.add(event);
    this.#changed();
    if (this.#record.gap !== undefined) void this.#repair();
  }

  mark(status: StatusEvent): void {
    if (this.#record.mark(status)) this.#changed();
  }

  revise(update: UpdateEvent): void {
    this.#record.revise(update);
    this.#changed();
  }

  /** There is a connection: fetches the newest lines when there are none, and missing states. */
  connected(session: SessionEvent): void {
    this.#session.value = session;
    if (this.#record.gap !== undefined) void this.#repair();
    if (this.#record.lines.length === 0 && session.lastSeq > 0) void this.loadOlder();
    // The server sends a state once, to the tabs that are connected. For lines that this tab has
    // already, only `history` makes it send the states again.
    const { unsettled } = this.#record;
    if (unsettled !== undefined) void this.#parts.history(unsettled);
  }

  /** Forgets everything. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#epoch += 1;
    this.#isRepairing = false;
    this.#record.clear();
    batch(() => {
      this.#isLoading.value = false;
      this.#session.value = undefined;
      this.#changed();
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async loadOlder(): Promise<void> {
    if (this.#isLoading.value || this.#record.isComplete) return;
    clearTimeout(this.#timer);
    this.#isLoading.value = true;
    const { bottom } = this.#record;
    const request = { limit: PAGE, ...(bottom !== undefined && { before: bottom }) };
    const epoch = this.#epoch;
    const answer = await this.#parts.history(request);
    if (epoch !== this.#epoch) return;
    batch(() => {
      this.#isLoading.value = false;
      if (answer?.ok === true) {
        this.#record.addOlder(answer.messages, answer.more);
        this.#changed();
      }
    });
    // The log is empty, so no scrolling would ask again. After a lost connection, `connected` asks.
    if (answer?.ok === false && this.#record.lines.length === 0) {
      this.#retryIn(answer.retryAfter, () => void this.loadOlder());
    }
  }

  /** Fetches the missing lines before those that arrived early. */
  async #repair(): Promise<void> {
    if (this.#isRepairing) return;
    this.#isRepairing = true;
    const epoch = this.#epoch;
    for (let gap = this.#record.gap; gap !== undefined; gap = this.#record.gap) {
      const limit = Math.min(gap.limit, MAX_HISTORY);
      const answer = await this.#parts.history({ before: gap.before, limit });
      if (epoch !== this.#epoch) return;
      if (answer?.ok !== true) {
        this.#isRepairing = false;
        if (answer) this.#retryIn(answer.retryAfter, () => void this.#repair());
        return;
      }
      this.#record.fillGap(gap.before, answer.messages, answer.more);
      this.#changed();
    }
    this.#isRepairing = false;
  }

  #older(): Chat['older']['value'] {
    if (this.#isComplete.value || this.#session.value?.lastSeq === 0) return 'none';
    if (this.#isLoading.value) return 'loading';
    return this.#lines.value.length === 0 ? 'unknown' : 'some';
  }

  #retryIn(seconds = this.#parts.retryMs / 1000, step: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(step, seconds * 1000);
  }

  #changed(): void {
    batch(() => {
      this.#lines.value = this.#record.lines;
      this.#isComplete.value = this.#record.isComplete;
      this.#parts.onTop(this.#record.top);
    });
  }
}
