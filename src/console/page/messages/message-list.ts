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
/** Begins to load the next page when so many rows are left below the window. */
const AHEAD_ROWS = 60;
/** The shortest time between two requests, however many entries change. */
const REFRESH_EVERY_MS = 1_000;
/**
 * The index of states and words lags behind the spool, on a busy machine by much. After a change the
 * list asks again after the first of these times, then after twice as long each time, up to the
 * second, and begins anew with the next change.
 */
const ASK_AGAIN_AFTER_MS = 2_500;
const ASK_AGAIN_UP_TO_MS = 60_000;
/** Counting reads up to 10,000 rows: once in a while is enough. */
const COUNT_EVERY_MS = 2_000;
/** Rows that left the filters and are looked up one by one, to say what became of them. */
const MOST_LOOKED_UP = 25;

/**
 * The endless list as it is on the page: pages that come as one scrolls, rows that change in
 * place, new ones that are announced and not put before what one reads.
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
  /** Ids that changed since their page was read. */
  readonly #stale = new Set<string>();
  #hasNews = false;
  #refreshing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;
  /** Something changed since the list last decided when to ask again. */
  #changedLately = false;
  #refreshedAt = 0;
  #countedAt = 0;
  readonly #asked = new Set<string>();

  constructor(parts: MessageListParts) {
    this.#parts = parts;
  }

  get query(): EntryQuery {
    return this.#query;
  }

  /** Begins anew with these filters; what was shown stays until the answer is there. */
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

  /** Stops requests under way; the list itself is kept for a return to the page. */
  stop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    clearTimeout(this.#timer);
    clearTimeout(this.#later);
    this.#timer = undefined;
    this.#later = undefined;
    this.#asked.clear();
    this.#refreshing = undefined;
    batch(() => {
      this.loading.value = false;
      this.loadingMore.value = false;
    });
  }

  /** What is on the screen now: loads what is missing there, and what comes soon. */
  look(first: number, end: number, isAtTop: boolean): void {
    this.#window = { first, end };
    this.#isAtTop = isAtTop;
    const pages = this.pages.value;
    for (const before of pages.missing(first, end)) void this.#fill(before);
    if (end + AHEAD_ROWS >= pages.total) void this.#more();
    if (this.#staleShown().length > 0) this.#schedule();
    if (isAtTop && this.announced.value !== undefined && !this.announced.value.more) {
      this.#hasNews = true;
      this.#schedule();
    }
  }

  /** The gateway says that these are new or have changed. */
  changed(ids: readonly string[]): void {
    const pages = this.pages.value;
    for (const id of ids) {
      if (pages.indexOf(id) >= 0) this.#stale.add(id);
      else this.#hasNews = true;
    }
    this.#schedule();
    this.#changedLately = true;
    if (this.#later === undefined) this.#askLater(ASK_AGAIN_AFTER_MS);
  }

  #askLater(waitMs: number): void {
    this.#changedLately = false;
    this.#later = setTimeout(() => {
      this.#later = undefined;
      this.refreshAll();
      if (this.#changedLately) this.#askLater(ASK_AGAIN_AFTER_MS);
      else if (waitMs < ASK_AGAIN_UP_TO_MS) this.#askLater(2 * waitMs);
    }, waitMs);
  }

  /** Reads again what is shown and what is new, since changes may have been missed. */
  refreshAll(): void {
    for (const { row } of this.pages.value.rows()) this.#stale.add(row.id);
    this.#hasNews = true;
    this.#schedule();
  }

  /** Whether there is more than one can scroll through. */
  get isCut(): boolean {
    return this.pages.value.total >= MOST_ROWS && this.pages.value.next !== undefined;
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
        if (this.#hasNews || this.#staleShown().length > 0) this.#schedule();
      });
    }, wait);
  }

  /** A failed request is repeated with the next change. */
  async #refresh(abort: AbortSignal): Promise<void> {
    // Of a list that is open for days, most of what has changed is no longer in it.
    for (const id of this.#stale) if (this.pages.value.indexOf(id) < 0) this.#stale.delete(id);
    try {
      const hadNews = this.#hasNews;
      this.#hasNews = false;
      if (hadNews) await this.#readNewest(abort);
      await this.#readShown(abort);
    } catch {
      this.#hasNews = this.#hasNews && !abort.aborted;
    }
  }

  async #readNewest(abort: AbortSignal): Promise<void> {
    const answer = await this.#ask(undefined, abort, this.#isCountDue());
    if (abort.aborted) return;
    batch(() => {
      this.#take(answer);
      const news = this.pages.value.newIn(answer.entries);
      if (news.count === 0) {
        this.announced.value = undefined;
      } else if (this.#isAtTop) {
        this.pages.value = this.pages.value.prepend(answer.entries, answer.next);
        this.announced.value = undefined;
      } else {
        this.announced.value = news;
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
    for (const id of changed.slice(0, MOST_LOOKED_UP)) {
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
    const ids: string[] = [];
    for (let index = first; index < end; index++) {
      const listed = this.pages.value.at(index);
      if (listed !== undefined && this.#stale.has(listed.row.id)) ids.push(listed.row.id);
    }
    return ids;
  }

  async #more(): Promise<void> {
    const { next } = this.pages.value;
    if (next === undefined || this.isCut || this.#asked.has(next)) return;
    this.loadingMore.value = true;
    await this.#load(next, (answer) => {
      this.pages.value = this.pages.value.append(next, answer.entries, answer.next);
    });
    this.loadingMore.value = false;
  }

  async #fill(before: string | undefined): Promise<void> {
    if (this.#asked.has(before ?? '')) return;
    await this.#load(before, (answer) => {
      const isLast = answer.next === undefined;
      this.pages.value = this.pages.value.refresh(before, answer.entries, isLast);
    });
  }

  async #load(before: string | undefined, take: (answer: EntryList) => void): Promise<void> {
    const { signal: abort } = this.#abort;
    this.#asked.add(before ?? '');
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
      this.#asked.delete(before ?? '');
    }
  }

  /** Asks again for what did not come. */
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
    if (!answer.searchIsComplete && this.#later === undefined) this.#askLater(ASK_AGAIN_AFTER_MS);
    if (answer.total === undefined) return;
    this.total.value = answer.total;
    this.#countedAt = this.#parts.clock();
  }

  #isCountDue(): boolean {
    return this.#parts.clock() - this.#countedAt >= COUNT_EVERY_MS;
  }
}

/**
 * Which rows of a long list are on the page. Rows have one height, so that a million of them cost
 * what a screenful costs.
 */
export interface ListWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Browsers limit heights to some 16 million pixels; older rows need the time filter. */
const MOST_ROWS = 200_000;

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

/** Where to scroll so that a row is wholly seen; the same position when it is. */
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
