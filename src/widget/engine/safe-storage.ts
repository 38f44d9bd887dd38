/**
 * JSON values in a browser's storage, under a prefix. It never throws: what the storage refuses
 * (full, forbidden, missing) is kept in memory for as long as the page lives.
 */
export class SafeStorage {
  readonly #storage: Storage | undefined;
  readonly #prefix: string;
  readonly #memory = new Map<string, string>();

  constructor(storage: Storage | undefined, prefix: string) {
    this.#storage = storage;
    this.#prefix = prefix;
  }

  /** Undefined when there is none, or it is not JSON. */
  get(name: string): unknown {
    return parsed(this.#memory.get(name) ?? attempt(() => this.#storage?.getItem(this.#key(name))));
  }

  set(name: string, value: unknown): void {
    const json = JSON.stringify(value);
    const isStored = attempt(() => {
      this.#storage?.setItem(this.#key(name), json);
      return this.#storage !== undefined;
    });
    if (isStored === true) this.#memory.delete(name);
    else this.#memory.set(name, json);
  }

  /** @param isKept only what is in memory goes: what is stored is somebody else's */
  remove(name: string, isKept?: boolean): void {
    this.#memory.delete(name);
    if (!isKept) attempt(() => this.#storage?.removeItem(this.#key(name)));
  }

  names(): string[] {
    const stored = attempt(() => this.#storedNames()) ?? [];
    return [...new Set([...stored, ...this.#memory.keys()])];
  }

  /** The name behind a storage's own key; undefined when it is somebody else's. */
  nameOf(key: string): string | undefined {
    return key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : undefined;
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  #storedNames(): string[] {
    const storage = this.#storage;
    if (storage === undefined) return [];
    return Array.from({ length: storage.length }, (_, index) => storage.key(index)).flatMap((key) =>
      key === null ? [] : (this.nameOf(key) ?? []),
    );
  }
}

/** What was stored as JSON; undefined when it is not. */
export const parsed = (json: string | null | undefined): unknown =>
  typeof json === 'string' ? attempt((): unknown => JSON.parse(json)) : undefined;

function attempt<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}
