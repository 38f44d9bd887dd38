import {
  MAX_HISTORY,
  type MessageEvent,
  type StatusEvent,
  type UpdateEvent,
} from '../../channels/chat/events.ts';
import type { Line } from './chat.ts';
import type { OutboxItem } from './outbox.ts';

type State = StatusEvent['state'];

/** A line's state only moves up: an outdated `accepted` may arrive after `delivered`. */
const RANK: Readonly<Record<State, number>> = { accepted: 0, failed: 1, delivered: 2, seen: 3 };
/** A larger gap is not filled: the lines before it are dropped, and fetched again by paging. */
const MAX_GAP = 200;

/**
 * The lines of the visitor's numbered record that a tab has: one run without gaps. New lines extend
 * it at the end, and pages of history at the beginning; repeated lines are ignored. A line that
 * arrives early is held until the gap before it is filled.
 */
export class LineRecord {
  #lines: Line[] = [];
  readonly #held = new Map<number, Line>();
  readonly #states = new Map<string, State>();
  /** The last texts of lines that have changed, by number; also of lines that are not here (yet). */
  readonly #updates = new Map<number, UpdateEvent>();
  #isComplete = false;

  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** The highest number of the run; 0 without one. */
  get top(): number {
    return this.#lines.at(-1)?.seq ?? 0;
  }

  /** The lowest number of the run. */
  get bottom(): number | undefined {
    return this.#lines[0]?.seq;
  }

  /** Nothing is older than this run. */
  get isComplete(): boolean {
    return this.#isComplete || this.bottom === 1;
  }

  /** The page of history that fills the gap before the held lines. */
  get gap(): { readonly before: number; readonly limit: number } | undefined {
    if (this.#held.size === 0) return undefined;
    const before = Math.min(...this.#held.keys());
    return { before, limit: before - this.top - 1 };
  }

  /**
   * The page of history with all of the visitor's lines that may have another state by now: those
   * that were not at the platform, and one without an answer, which may have been seen.
   */
  get unsettled(): { readonly before: number; readonly limit: number } | undefined {
    const open = this.#lines.filter(
      ({ from, state, seq }) =>
        from === 'visitor' && (state === 'accepted' || (state === 'delivered' && seq === this.top)),
    );
    const [first, last] = [open[0]?.seq, open.at(-1)?.seq];
    if (first === undefined || last === undefined) return undefined;
    return { before: last + 1, limit: Math.min(last - first + 1, MAX_HISTORY) };
  }

  /** Adds a line that the server has sent. */
  add(event: MessageEvent): void {
    const { seq } = event;
    if (this.#lines.length > 0 && seq <= this.top) return;
    const gap = this.#lines.length === 0 || this.#held.size > 0 ? 0 : seq - this.top - 1;
    if (gap > MAX_GAP) this.#forgetLines();
    this.#held.set(seq, this.#line(event));
    if (this.#lines.length === 0) this.#release(seq);
    else this.#releaseNext();
  }

  /** Adds a page from before the run, or the newest page when there is no run. */
  addOlder(page: readonly MessageEvent[], more: boolean): void {
    const { bottom = Infinity } = this;
    const older = page.filter(({ seq }) => seq < bottom).map((event) => this.#line(event));
    this.#lines = [...older, ...this.#lines];
    if (!more) this.#isComplete = true;
    this.#releaseNext();
  }

  /** Adds the page that `gap` asked for. Numbers that the page lacks do not exist. */
  fillGap(before: number, page: readonly MessageEvent[], more: boolean): void {
    for (const event of page) {
      if (event.seq > this.top && event.seq < before) this.#held.set(event.seq, this.#line(event));
    }
    const lowest = page[0]?.seq ?? 0;
    if (lowest <= this.top + 1 || !more) this.#release(before);
  }

  /** @returns whether a line has changed */
  mark({ id, ...status }: StatusEvent): boolean {
    // A later version of the gateway may have further states.
    const state = status.state in RANK ? status.state : 'delivered';
    const known = this.#states.get(id);
    if (known !== undefined && RANK[known] >= RANK[state]) return false;
    this.#states.set(id, state);
    const isMarked = (line: Line): boolean => line.id === id && line.from === 'visitor';
    if (!this.#lines.some(isMarked)) return false;
    this.#lines = this.#lines.map((line) => (isMarked(line) ? { ...line, state } : line));
    return true;
  }

  /** A line's text has changed. */
  revise(update: UpdateEvent): void {
    const { seq, rev } = update;
    if (rev <= (this.#updates.get(seq)?.rev ?? 0)) return;
    this.#updates.set(seq, update);
    this.#lines = this.#lines.map((line) => (line.seq === seq ? this.#latest(line) : line));
    const held = this.#held.get(seq);
    if (held) this.#held.set(seq, this.#latest(held));
  }

  /** The line with its last text. */
  #latest(line: Line): Line {
    const update = this.#updates.get(line.seq ?? 0);
    if (!update || update.rev <= (line.rev ?? 0)) return line;
    const { rev, text, format } = update;
    return { ...line, rev, text, format };
  }

  /** Drops everything: the visitor or the server's database is another one. */
  clear(): void {
    this.#forgetLines();
    this.#states.clear();
    this.#updates.clear();
  }

  #forgetLines(): void {
    this.#lines = [];
    this.#held.clear();
    this.#isComplete = false;
  }

  #releaseNext(): void {
    if (this.#held.has(this.top + 1)) this.#release(this.top + 1);
  }

  /** Moves held lines into the run: all up to `seq`, and those that follow without a gap. */
  #release(seq: number): void {
    const waiting = [...this.#held].sort(([one], [other]) => one - other);
    const lines = [...this.#lines];
    for (const [number, line] of waiting) {
      const top = lines.at(-1)?.seq ?? 0;
      if (number > seq && number !== top + 1) break;
      this.#held.delete(number);
      if (number > top) lines.push(line);
    }
    this.#lines = lines;
  }

  #line({ attachments, ...event }: MessageEvent): Line {
    const { from, id } = event;
    const state = from === 'agent' ? 'delivered' : (this.#states.get(id) ?? 'accepted');
    return this.#latest({ ...event, files: attachments, state });
  }
}

/**
 * The conversation in display order: the numbered lines, then the outbox. A message that is in both
 * is shown once, as the numbered line.
 * @param sending the id of the message that waits for its acknowledgement
 */
export function mergeLines(
  numbered: readonly Line[],
  outbox: readonly OutboxItem[],
  sending: string | undefined,
): readonly Line[] {
  if (outbox.length === 0) return numbered;
  const own = new Set(numbered.flatMap(({ id, from }) => (from === 'visitor' ? id : [])));
  const waiting = outbox.filter(({ id }) => !own.has(id));
  const acknowledged = waiting.filter(({ seq }) => seq !== undefined);
  acknowledged.sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
  const queued = waiting.filter(({ seq }) => seq === undefined);
  // The browser's clock may be wrong: no line gets an earlier time than the one above it.
  let latest = numbered.at(-1)?.at ?? 0;
  return [
    ...numbered,
    ...[...acknowledged, ...queued].map((item) => {
      latest = Math.max(latest, item.at);
      return lineOf(item, latest, sending);
    }),
  ];
}

function lineOf(item: OutboxItem, at: number, sending: string | undefined): Line {
  const { id, text, files, error, retryAt } = item;
  const state = stateOf(item, sending);
  return {
    ...{ id, from: 'visitor', text, format: 'TEXT', files, at, state },
    ...(error !== undefined && { error }),
    ...(retryAt !== undefined && state === 'queued' && { retryAt }),
  };
}

function stateOf({ id, error, seq }: OutboxItem, sending: string | undefined): Line['state'] {
  if (seq !== undefined) return 'accepted';
  if (error !== undefined) return 'failed';
  return id === sending ? 'sending' : 'queued';
}
