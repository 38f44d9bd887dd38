import type { EntryRow } from '../../contract.ts';

/** A row as the list shows it. */
export interface ListedRow {
  readonly row: EntryRow;
  /** It no longer answers to the filters, but stays where it was so that nothing jumps. */
  readonly left: boolean;
}

interface Page {
  /** `before` of the request that gave it; undefined for the newest. */
  readonly before: string | undefined;
  readonly size: number;
  /** Undefined: dropped from memory, to be asked for again when it is looked at. */
  readonly rows: readonly ListedRow[] | undefined;
}

/** How many pages of rows stay in memory; of the others only where they begin. */
const PAGES_KEPT = 20;
/** The newest page grows with what arrives; at this size the list begins anew. */
const MOST_IN_FIRST_PAGE = 400;

/**
 * The pages of an endless list: what was loaded, what was dropped again, and where it goes on.
 * Immutable: each change is a new list.
 */
export class EntryPages {
  readonly #pages: readonly Page[];
  readonly #starts: readonly number[];
  /** Where each id of a row in memory is; made when it is first asked for. */
  #positions: ReadonlyMap<string, number> | undefined;
  /** `before` of the page after the last; undefined at the end, or before the first answer. */
  readonly next: string | undefined;
  readonly total: number;

  private constructor(pages: readonly Page[], next: string | undefined) {
    this.#pages = pages;
    this.next = next;
    const starts: number[] = [];
    let total = 0;
    for (const { size } of pages) {
      starts.push(total);
      total += size;
    }
    this.#starts = starts;
    this.total = total;
  }

  static readonly EMPTY = new EntryPages([], undefined);

  static begin(rows: readonly EntryRow[], next: string | undefined): EntryPages {
    return EntryPages.EMPTY.append(undefined, rows, next);
  }

  get isLoaded(): boolean {
    return this.#pages.length > 0;
  }

  append(
    before: string | undefined,
    rows: readonly EntryRow[],
    next: string | undefined,
  ): EntryPages {
    const known = this.#known();
    const fresh = rows.filter(({ id }) => !known.has(id)).map(asListed);
    return new EntryPages([...this.#pages, { before, size: fresh.length, rows: fresh }], next);
  }

  /** Undefined where it is not in memory. */
  at(index: number): ListedRow | undefined {
    const page = this.#pageAt(index);
    return this.#pages[page]?.rows?.[index - (this.#starts[page] ?? 0)];
  }

  find(id: string): ListedRow | undefined {
    return this.at(this.indexOf(id));
  }

  /** -1 when it is not in memory. */
  indexOf(id: string): number {
    return this.#known().get(id) ?? -1;
  }

  /** Ids from one row to another, in the order of the list, as far as they are in memory. */
  between(a: string, b: string): readonly string[] {
    const [i, j] = [this.indexOf(a), this.indexOf(b)];
    if (i < 0 || j < 0) return [];
    const ids: string[] = [];
    for (let index = Math.min(i, j); index <= Math.max(i, j); index++) {
      const listed = this.at(index);
      if (listed !== undefined) ids.push(listed.row.id);
    }
    return ids;
  }

  /** All that are in memory. */
  *rows(): Generator<ListedRow> {
    for (const { rows } of this.#pages) if (rows !== undefined) yield* rows;
  }

  /** `before` of pages that a window looks at but that are not in memory. */
  missing(first: number, end: number): readonly (string | undefined)[] {
    return this.#touched(first, end)
      .filter((page) => this.#pages[page]?.rows === undefined)
      .map((page) => this.#pages[page]?.before);
  }

  /** `before` of pages that a window looks at. */
  shown(first: number, end: number): readonly (string | undefined)[] {
    return this.#touched(first, end).map((page) => this.#pages[page]?.before);
  }

  /**
   * The answer for a page that is known. Rows change in place; one that the answer should have and
   * has not is marked, and none comes in, so that nothing moves. A dropped page is filled again.
   * @param isLast nothing comes after the answer
   */
  refresh(before: string | undefined, answer: readonly EntryRow[], isLast: boolean): EntryPages {
    const byId = new Map(answer.map((row) => [row.id, row]));
    const pages = this.#pages.map((page): Page => {
      if (page.before !== before) return page;
      if (page.rows === undefined) {
        const rows = answer.slice(0, page.size).map(asListed);
        return { ...page, rows, size: rows.length };
      }
      // The newest page may be longer than an answer: nothing is known of what lies behind it.
      const told = page.rows.findLastIndex(({ row }) => byId.has(row.id));
      const rows = page.rows.map((listed, index): ListedRow => {
        const now = byId.get(listed.row.id);
        if (now !== undefined) return { row: now, left: false };
        return index <= told || isLast ? { ...listed, left: true } : listed;
      });
      return { ...page, rows };
    });
    return new EntryPages(pages, this.next);
  }

  /** One row as it is now, whether it still answers to the filters or not. */
  update(row: EntryRow): EntryPages {
    const index = this.indexOf(row.id);
    if (index < 0) return this;
    const at = this.#pageAt(index);
    const pages = this.#pages.map((page, number) =>
      number === at
        ? {
            ...page,
            rows: page.rows?.map((listed) =>
              listed.row.id === row.id ? { ...listed, row } : listed,
            ),
          }
        : page,
    );
    return new EntryPages(pages, this.next);
  }

  /**
   * How many of the newest answer belong into the list and are not in it yet: those that arrived
   * since, and older ones that came to answer to the filters. What lies behind all that is shown
   * comes with the next page, if there is one. `more`: nothing of the answer is known, so that there
   * are still others between it and the list.
   */
  newIn(newest: readonly EntryRow[]): { readonly count: number; readonly more: boolean } {
    const news = this.#news(newest).length;
    return { count: news, more: news > 0 && news === newest.length && this.total > 0 };
  }

  /** Puts what is new where it belongs; begins anew when there is a gap, or too much. */
  prepend(newest: readonly EntryRow[], next: string | undefined): EntryPages {
    const { count, more } = this.newIn(newest);
    const [first, ...rest] = this.#pages;
    if (more || first?.rows === undefined || first.size + count > MOST_IN_FIRST_PAGE) {
      return EntryPages.begin(newest, next);
    }
    const rows = [...this.#news(newest).map(asListed), ...first.rows].toSorted(
      (a, b) => b.row.receivedAt - a.row.receivedAt,
    );
    return new EntryPages([{ ...first, rows, size: rows.length }, ...rest], this.next);
  }

  #news(newest: readonly EntryRow[]): readonly EntryRow[] {
    const known = this.#known();
    const lastKnown = newest.findLastIndex(({ id }) => known.has(id));
    const head = this.at(0)?.row.receivedAt ?? 0;
    const isWhole = this.#pages.length === 1 && this.next === undefined;
    return newest.filter(
      ({ id, receivedAt }, index) =>
        !known.has(id) && (isWhole || index < lastKnown || receivedAt >= head),
    );
  }

  /** Drops the rows of pages that are far from what is looked at; the newest tell what is new. */
  trimmed(first: number, end: number): EntryPages {
    const inMemory = this.#pages.filter(({ rows }) => rows !== undefined).length;
    if (inMemory <= PAGES_KEPT) return this;
    const middle = this.#pageAt(Math.floor((first + end) / 2));
    const near = (page: number) => Math.abs(page - middle) <= PAGES_KEPT / 2;
    const pages = this.#pages.map((page, number) =>
      number === 0 || near(number) ? page : { ...page, rows: undefined },
    );
    return new EntryPages(pages, this.next);
  }

  /** By bisection: a deep list has thousands of pages. */
  #pageAt(index: number): number {
    let low = 0;
    let high = this.#pages.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #touched(first: number, end: number): readonly number[] {
    if (this.total === 0 || end <= first) return [];
    const from = this.#pageAt(first);
    const to = this.#pageAt(Math.min(end, this.total) - 1);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  }

  #known(): ReadonlyMap<string, number> {
    if (this.#positions !== undefined) return this.#positions;
    const positions = new Map<string, number>();
    for (const [page, { rows = [] }] of this.#pages.entries()) {
      const start = this.#starts[page] ?? 0;
      for (const [index, { row }] of rows.entries()) positions.set(row.id, start + index);
    }
    this.#positions = positions;
    return positions;
  }
}

const asListed = (row: EntryRow): ListedRow => ({ row, left: false });
