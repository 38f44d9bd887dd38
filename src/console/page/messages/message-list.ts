import { batch, signal } from '@preact/signals';
import type { EntryList, EntryRow } from '../../contract.ts';
import { EntryPages } from './entry-pages.ts';
import type { EntryQuery } from './filters.ts';

interface MessageListParts {
  readonly entries: (query: EntryQuery, signal: AbortSignal) => Promise<EntryList>;
  readonly entry: (id: string, signal: AbortSignal) => Promise<EntryRow>;
  readonly clock: () => number;
}

type Announced = { readonly count: number; readonly more: boolean } | undefined;

const PAGE_SIZE = 100;
/** The next page is loaded when fewer rows than this remain below the window. */
const AHEAD_ROWS = 60;
/** The minimum time between two refreshes. */
const REFRESH_EVERY_MS = 1_000;
/**
 * The search index may lag behind the spool. After a change the list is refreshed after the first
 * delay, then after twice the previous delay up to the second; the next change restarts the
 * sequence.
 */
const RECHECK_AFTER_MS = 2_500;
const MAX_RECHECK_MS = 60_000;
/** The minimum time between two counts, each of which reads up to 10,000 rows. */
const COUNT_EVERY_MS = 2_000;
/** How many rows that no longer match the filters are requested one by one. */
const MAX_LOOKUPS = 25;

/**
 * The virtual list: pages are loaded while scrolling, rows change in place, and new rows are
 * announced unless the list is scrolled to its top.
 */
export class MessageList {
  readonly pages = signal(EntryPages.EMPTY);
  readonly failure = signal<unknown>(undefined);
  readonly loading = signal(false);
  readonly loadingMore = signal(false);
  readonly announced = signal<Announced>(undefined);
  readonly total = signal<EntryList['total']>(undefined);
  readonly searchIsComplete = signal(true);

  readonly #parts: MessageListParts;
  #query: EntryQuery = {};
  #abort = new AbortController();
  #window = { first: 0, end: 0 };
  #isAtTop = true;
  /** Ids changed since their page was loaded. */
  readonly #stale = new Set<string>();
  #hasNewEntries = false;
  #refreshing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #recheckTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether an entry changed since the last recheck. */
  #changedSinceRecheck = false;
  #refreshedAt = 0;
  #countedAt = 0;
  readonly #requested = new Set<string>();

  constructor(parts: MessageListParts) {
    this.#parts = parts;
  }

  get query(): EntryQuery {
    return this.#query;
  }

  /** Loads the list anew with these filters; the old rows stay until the response arrives. */
  async show(query: EntryQuery): Promise<void> {
    this.stop();
    const abort = (this.#abort = new AbortController());
    this.#query = query;
    this.loading.value = true;
    try {
      const answer = await this.#ask(undefined, abort.signal, true);
      if (abort.signal.aborted) return;
      batch(() => {
        this.pages.value = EntryPages.begin(answer.entries, answer.next);
        this.#take(answer);
        this.failure.value = undefined;
        this.announced.value = undefined;
        this.loading.value = false;
      });
    } catch (error) {
      if (abort.signal.aborted) return;
      batch(() => {
        this.failure.value = error;
        this.loading.value = false;
      });
    }
  }

  /** Aborts running requests; the list is kept for a return to the page. */
  stop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    clearTimeout(this.#timer);
    clearTimeout(this.#recheckTimer);
    this.#timer = undefined;
    this.#recheckTimer = undefined;
    this.#requested.clear();
    this.#refreshing = undefined;
    batch(() => {
      this.loading.value = false;
      this.loadingMore.value = false;
    });
  }

  /** Sets the visible rows, and loads missing rows and the next page. */
  look(first: number, end: number, isAtTop: boolean): void {
    this.#window = { first, end };
    this.#isAtTop = isAtTop;
    const pages = this.pages.value;
    for (const before of pages.missing(first, end)) void this.#fill(before);
    if (end + AHEAD_ROWS >= pages.total) void this.#more();
    if (this.#staleShown().length > 0) this.#schedule();
    if (isAtTop && this.announced.value !== undefined && !this.announced.value.more) {
      this.#hasNewEntries = true;
      this.#schedule();
    }
  }

  /** Called with the ids of new and changed entries. */
  changed(ids: readonly string[]): void {
    const pages = this.pages.value;
    for (const id of ids) {
      if (pages.indexOf(id) >= 0) this.#stale.add(id);
      else this.#hasNewEntries = true;
    }
    this.#schedule();
    this.#changedSinceRecheck = true;
    if (this.#recheckTimer === undefined) this.#recheckIn(RECHECK_AFTER_MS);
  }

  #recheckIn(waitMs: number): void {
    this.#changedSinceRecheck = false;
    this.#recheckTimer = setTimeout(() => {
      this.#recheckTimer = undefined;
      this.refreshAll();
      if (this.#changedSinceRecheck) this.#recheckIn(RECHECK_AFTER_MS);
      else if (waitMs < MAX_RECHECK_MS) this.#recheckIn(2 * waitMs);
    }, waitMs);
  }

  /** Refreshes the visible and the new rows, since changes may have been missed. */
  refreshAll(): void {
    for (const { row } of this.pages.value.rows()) this.#stale.add(row.id);
    this.#hasNewEntries = true;
    this.#schedule();
  }

  /** Whether the list is longer than a browser can scroll. */
  get isTruncated(): boolean {
    return this.pages.value.total >= MAX_ROWS && this.pages.value.next !== undefined;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#refreshing !== undefined) return;
    const wait = Math.max(0, this.#refreshedAt + REFRESH_EVERY_MS - this.#parts.clock());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const { signal: abort } = this.#abort;
      this.#refreshing = this.#refresh(abort).finally(() => {
        if (abort.aborted) return;
        this.#refreshing = undefined;
        this.#refreshedAt = this.#parts.clock();
        if (this.#hasNewEntries || this.#staleShown().length > 0) this.#schedule();
      });
    }, wait);
  }

  /** A failed refresh is repeated at the next change. */
  async #refresh(abort: AbortSignal): Promise<void> {
    // Removes ids that are no longer in the list.
    for (const id of this.#stale) if (this.pages.value.indexOf(id) < 0) this.#stale.delete(id);
    try {
      const hadNewEntries = this.#hasNewEntries;
      this.#hasNewEntries = false;
      if (hadNewEntries) await this.#readNewest(abort);
      await this.#readShown(abort);
    } catch {
      this.#hasNewEntries = this.#hasNewEntries && !abort.aborted;
    }
  }

  async #readNewest(abort: AbortSignal): Promise<void> {
    const answer = await this.#ask(undefined, abort, this.#isCountDue());
    if (abort.aborted) return;
    batch(() => {
      this.#take(answer);
      const missing = this.pages.value.newIn(answer.entries);
      if (missing.count === 0) {
        this.announced.value = undefined;
      } else if (this.#isAtTop) {
        this.pages.value = this.pages.value.prepend(answer.entries, answer.next);
        this.announced.value = undefined;
      } else {
        this.announced.value = missing;
      }
    });
  }

  async #readShown(abort: AbortSignal): Promise<void> {
    const changed = this.#staleShown();
    if (changed.length === 0) return;
    const { first, end } = this.#window;
    for (const before of this.pages.value.shown(first, end)) {
      const answer = await this.#ask(before, abort);
      if (abort.aborted) return;
      const isLast = answer.next === undefined;
      this.pages.value = this.pages.value.refresh(before, answer.entries, isLast);
      for (const { id } of answer.entries) this.#stale.delete(id);
    }
    for (const id of changed.slice(0, MAX_LOOKUPS)) {
      if (!this.#stale.delete(id)) continue;
      const row = await this.#parts.entry(id, abort);
      if (abort.aborted) return;
      this.pages.value = this.pages.value.update(row);
    }
    for (const id of changed) this.#stale.delete(id);
  }

  #staleShown(): readonly string[] {
    if (this.#stale.size === 0) return [];
    const { first, end } = this.#window;
    return this.pages.value.ids(first, end).filter((id) => this.#stale.has(id));
  }

  async #more(): Promise<void> {
    const { next } = this.pages.value;
    if (next === undefined || this.isTruncated || this.#requested.has(next)) return;
    this.loadingMore.value = true;
    await this.#load(next, (answer) => {
      this.pages.value = this.pages.value.append(next, answer.entries, answer.next);
    });
    this.loadingMore.value = false;
  }

  async #fill(before: string | undefined): Promise<void> {
    if (this.#requested.has(before ?? '')) return;
    await this.#load(before, (answer) => {
      const isLast = answer.next === undefined;
      this.pages.value = this.pages.value.refresh(before, answer.entries, isLast);
    });
  }

  async #load(before: string | undefined, take: (answer: EntryList) => void): Promise<void> {
    const { signal: abort } = this.#abort;
    this.#requested.add(before ?? '');
    try {
      const answer = await this.#ask(before, abort);
      if (abort.aborted) return;
      batch(() => {
        take(answer);
        const { first, end } = this.#window;
        this.pages.value = this.pages.value.trimmed(first, end);
        this.failure.value = undefined;
      });
    } catch (error) {
      if (!abort.aborted) this.failure.value = error;
    } finally {
      this.#requested.delete(before ?? '');
    }
  }

  /** Repeats a failed request. */
  retry(): void {
    this.failure.value = undefined;
    if (!this.pages.value.isLoaded) void this.show(this.#query);
    else this.look(this.#window.first, this.#window.end, this.#isAtTop);
  }

  #ask(before: string | undefined, abort: AbortSignal, counted = false): Promise<EntryList> {
    return this.#parts.entries(
      {
        ...this.#query,
        limit: String(PAGE_SIZE),
        ...(before !== undefined && { before }),
        ...(counted && { count: '1' }),
      },
      abort,
    );
  }

  #take(answer: EntryList): void {
    this.searchIsComplete.value = answer.searchIsComplete;
    if (!answer.searchIsComplete && this.#recheckTimer === undefined)
      this.#recheckIn(RECHECK_AFTER_MS);
    if (answer.total === undefined) return;
    this.total.value = answer.total;
    this.#countedAt = this.#parts.clock();
  }

  #isCountDue(): boolean {
    return this.#parts.clock() - this.#countedAt >= COUNT_EVERY_MS;
  }
}

/**
 * The rows of the list that are in the document. All rows have the same height, so the cost does
 * not depend on the length of the list.
 */
export interface ListWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Browsers limit heights to about 16 million pixels; older rows need the time filter. */
const MAX_ROWS = 200_000;

const OVERSCAN_ROWS = 8;

export function visibleRows(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  total: number,
): ListWindow {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN_ROWS);
  const end = Math.min(total, Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN_ROWS);
  return { first: Math.min(first, Math.max(0, total - 1)), end: Math.max(end, 0) };
}

/** The scroll position that makes a row fully visible; unchanged when it is. */
export function scrollToShow(
  index: number,
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  const bottom = top + rowHeight;
  return bottom > scrollTop + viewHeight ? bottom - viewHeight : scrollTop;
}
