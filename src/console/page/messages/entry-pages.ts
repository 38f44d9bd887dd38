import type { EntryRow } from '../../contract.ts';

/** A row of the list. */
export interface ListedRow {
  readonly row: EntryRow;
  /** It no longer matches the filters, but keeps its place so that other rows do not move. */
  readonly noLongerMatches: boolean;
}

interface Page {
  /** `before` of its request; undefined for the newest page. */
  readonly before: string | undefined;
  readonly size: number;
  /** Undefined when dropped from memory; it is loaded again when it becomes visible. */
  readonly rows: readonly ListedRow[] | undefined;
}

/** How many pages keep their rows; of other pages only the sizes are kept. */
const PAGES_KEPT = 20;
/** The newest page grows as messages arrive; above this size the list is loaded anew. */
const MAX_IN_FIRST_PAGE = 400;

/**
 * The pages of the virtual list, some of them without rows in memory. Immutable: every change
 * returns a new list.
 */
export class EntryPages {
  readonly #pages: readonly Page[];
  readonly #starts: readonly number[];
  /** The index of each loaded id; computed on first use. */
  #positions: ReadonlyMap<string, number> | undefined;
  /** `before` of the next page; undefined at the end, or before the first response. */
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
    const added = rows.filter(({ id }) => !known.has(id)).map(asListed);
    return new EntryPages([...this.#pages, { before, size: added.length, rows: added }], next);
  }

  /** Undefined when the row is not in memory. */
  at(index: number): ListedRow | undefined {
    const page = this.#pageAt(index);
    return this.#pages[page]?.rows?.[index - (this.#starts[page] ?? 0)];
  }

  find(id: string): ListedRow | undefined {
    return this.at(this.indexOf(id));
  }

  /** -1 when the row is not in memory. */
  indexOf(id: string): number {
    return this.#known().get(id) ?? -1;
  }

  /** The loaded ids from one row to another, in list order. */
  between(a: string, b: string): readonly string[] {
    const [i, j] = [this.indexOf(a), this.indexOf(b)];
    return i < 0 || j < 0 ? [] : this.ids(Math.min(i, j), Math.max(i, j) + 1);
  }

  /** The loaded ids in a window. */
  ids(first: number, end: number): readonly string[] {
    const ids: string[] = [];
    for (let index = first; index < end; index++) {
      const listed = this.at(index);
      if (listed !== undefined) ids.push(listed.row.id);
    }
    return ids;
  }

  /** All loaded rows. */
  *rows(): Generator<ListedRow> {
    for (const { rows } of this.#pages) if (rows !== undefined) yield* rows;
  }

  /** `before` of the pages in a window whose rows are not in memory. */
  missing(first: number, end: number): readonly (string | undefined)[] {
    return this.#touched(first, end)
      .filter((page) => this.#pages[page]?.rows === undefined)
      .map((page) => this.#pages[page]?.before);
  }

  /** `before` of the pages in a window. */
  shown(first: number, end: number): readonly (string | undefined)[] {
    return this.#touched(first, end).map((page) => this.#pages[page]?.before);
  }

  /**
   * Applies a response for a known page. Rows are updated in place; rows missing from the response
   * are marked, and no rows are added, so that nothing moves. A dropped page is filled again.
   * @param isLast no entries follow the response
   */
  refresh(before: string | undefined, answer: readonly EntryRow[], isLast: boolean): EntryPages {
    const byId = new Map(answer.map((row) => [row.id, row]));
    const pages = this.#pages.map((page): Page => {
      if (page.before !== before) return page;
      if (page.rows === undefined) {
        const rows = answer.slice(0, page.size).map(asListed);
        return { ...page, rows, size: rows.length };
      }
      // The newest page may be longer than a response, which says nothing about the rows after it.
      const lastInAnswer = page.rows.findLastIndex(({ row }) => byId.has(row.id));
      const rows = page.rows.map((listed, index): ListedRow => {
        const now = byId.get(listed.row.id);
        if (now !== undefined) return { row: now, noLongerMatches: false };
        return index <= lastInAnswer || isLast ? { ...listed, noLongerMatches: true } : listed;
      });
      return { ...page, rows };
    });
    return new EntryPages(pages, this.next);
  }

  /** Updates one row, whether it still matches the filters or not. */
  update(row: EntryRow): EntryPages {
    const index = this.indexOf(row.id);
    if (index < 0) return this;
    const at = this.#pageAt(index);
    const updated = (listed: ListedRow) => (listed.row.id === row.id ? { ...listed, row } : listed);
    const pages = this.#pages.map((page, number) =>
      number === at ? { ...page, rows: page.rows?.map(updated) } : page,
    );
    return new EntryPages(pages, this.next);
  }

  /**
   * How many entries of the newest response belong in the list but are not in it: new ones, and
   * older ones that now match the filters. Entries beyond the loaded pages are excluded, since the
   * next page brings them. `more`: no entry of the response is in the list, so others may lie
   * between.
   */
  newIn(newest: readonly EntryRow[]): { readonly count: number; readonly more: boolean } {
    const count = this.#missingFrom(newest).length;
    return { count, more: count > 0 && count === newest.length && this.total > 0 };
  }

  /** Inserts new entries in order; restarts the list when there is a gap or too many. */
  prepend(newest: readonly EntryRow[], next: string | undefined): EntryPages {
    const { count, more } = this.newIn(newest);
    const [first, ...rest] = this.#pages;
    if (more || first?.rows === undefined || first.size + count > MAX_IN_FIRST_PAGE) {
      return EntryPages.begin(newest, next);
    }
    const rows = [...this.#missingFrom(newest).map(asListed), ...first.rows].toSorted(
      (a, b) => b.row.receivedAt - a.row.receivedAt,
    );
    return new EntryPages([{ ...first, rows, size: rows.length }, ...rest], this.next);
  }

  #missingFrom(newest: readonly EntryRow[]): readonly EntryRow[] {
    const known = this.#known();
    const lastKnown = newest.findLastIndex(({ id }) => known.has(id));
    const head = this.at(0)?.row.receivedAt ?? 0;
    const isWhole = this.#pages.length === 1 && this.next === undefined;
    return newest.filter(
      ({ id, receivedAt }, index) =>
        !known.has(id) && (isWhole || index < lastKnown || receivedAt >= head),
    );
  }

  /** Drops the rows of pages far from the window. The first page stays, to detect new entries. */
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

  /** Binary search, since a long list has thousands of pages. */
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

const asListed = (row: EntryRow): ListedRow => ({ row, noLongerMatches: false });
