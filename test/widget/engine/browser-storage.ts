/** One origin's localStorage: what one page writes, the others hear of by `storage` events. */
export class BrowserStorage {
  readonly #values = new Map<string, string>();
  readonly #pages = new Set<PageStorage>();

  /** The storage as a new page of this browser has it. */
  page(): PageStorage {
    const page = new PageStorage(this.#values, (change) => {
      for (const other of this.#pages) if (other !== page) other.hear(change);
    });
    this.#pages.add(page);
    return page;
  }

  /** A page that is gone, or frozen, hears nothing. */
  close(page: PageStorage): void {
    this.#pages.delete(page);
  }

  /** A frozen page is thawed. */
  reopen(page: PageStorage): void {
    this.#pages.add(page);
  }

  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }
}

export interface Change {
  readonly key: string | null;
  readonly newValue: string | null;
}

/** `window` and `window.localStorage` of one page. */
export class PageStorage implements Storage {
  readonly window = new EventTarget();
  /** Thrown by every write. */
  refuses: Error | undefined;
  #isFrozen = false;
  readonly #values: Map<string, string>;
  readonly #tell: (change: Change) => void;

  constructor(values: Map<string, string>, tell: (change: Change) => void) {
    this.#values = values;
    this.#tell = tell;
  }

  /** Nothing that this page writes from now on is stored. */
  freeze(): void {
    this.#isFrozen = true;
  }

  get length(): number {
    return this.#values.size;
  }

  key(index: number): string | null {
    return [...this.#values.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (this.refuses) throw this.refuses;
    if (this.#isFrozen || this.#values.get(key) === value) return;
    this.#values.set(key, value);
    this.#tell({ key, newValue: value });
  }

  removeItem(key: string): void {
    if (!this.#isFrozen && this.#values.delete(key)) this.#tell({ key, newValue: null });
  }

  clear(): void {
    if (this.#values.size === 0) return;
    this.#values.clear();
    this.#tell({ key: null, newValue: null });
  }

  /** Events come later, as from another process. */
  hear(change: Change): void {
    setImmediate(() => {
      this.window.dispatchEvent(
        Object.assign(new Event('storage'), { ...change, storageArea: this }),
      );
    });
  }
}
