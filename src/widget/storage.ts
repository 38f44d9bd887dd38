// The browser's storage: the names under which the widget keeps data, and safe access to it.

/**
 * The visitor's session. The loader reads it too, to decide whether to load the main part at once.
 */
export const SESSION = 'session';

/**
 * The prefix of all names. It contains the gateway and key, because a site may use several widgets.
 */
export function storagePrefix(gatewayUrl: string, key: string): string {
  const { origin, basePath } = gatewayAddress(gatewayUrl);
  return `sluice:${origin}${basePath}:${encodeURIComponent(key)}:`;
}

export interface GatewayAddress {
  readonly origin: string;
  /**
   * Without a slash at its end; empty, or `/support` for a gateway behind a path of a larger site.
   */
  readonly basePath: string;
}

/** @throws {TypeError} `gatewayUrl` is not a URL */
export function gatewayAddress(gatewayUrl: string): GatewayAddress {
  const { origin, pathname } = new URL(gatewayUrl);
  return { origin, basePath: pathname.replace(/\/$/, '') };
}

/** The page's storage; undefined where a browser or a sandbox forbids it. */
export const pageStorage = (): Storage | undefined => attempt(() => window.localStorage);

/** That of this tab, which ends with it. */
export const tabStorage = (): Storage | undefined => attempt(() => window.sessionStorage);

/** Undefined when the note is missing or the storage cannot be read. */
export const readNote = (storage: Storage | undefined, key: string): string | undefined =>
  attempt(() => storage?.getItem(key)) ?? undefined;

/** A full or forbidden storage loses the note: the visitor then sees something a second time. */
export function writeNote(storage: Storage | undefined, key: string, value: string): void {
  attempt(() => storage?.setItem(key, value));
}

/** Removes every note whose key begins with `prefix`. */
export function removeNotes(storage: Storage | undefined, prefix: string): void {
  for (const key in storage) if (key.startsWith(prefix)) storage.removeItem(key);
}

/**
 * JSON values in a browser's storage, under a prefix. It never throws: a value that the storage
 * refuses (full, forbidden, missing) is kept in memory until the page is closed.
 */
export class SafeStorage {
  readonly #storage: Storage | undefined;
  readonly #prefix: string;
  readonly #memory = new Map<string, string>();

  constructor(storage: Storage | undefined, prefix: string) {
    this.#storage = storage;
    this.#prefix = prefix;
  }

  /** Undefined when there is no value, or it is not JSON. */
  get(name: string): unknown {
    return parsed(this.#memory.get(name) ?? attempt(() => this.#storage?.getItem(this.#key(name))));
  }

  set(name: string, value: unknown): void {
    const json = JSON.stringify(value, asIs);
    const isStored = attempt(() => {
      this.#storage?.setItem(this.#key(name), json);
      return this.#storage !== undefined;
    });
    if (isStored === true) this.#memory.delete(name);
    else this.#memory.set(name, json);
  }

  /** @param onlyInMemory the stored value stays, because it belongs to another visitor */
  remove(name: string, onlyInMemory?: boolean): void {
    this.#memory.delete(name);
    if (!onlyInMemory) attempt(() => this.#storage?.removeItem(this.#key(name)));
  }

  names(): string[] {
    const stored = attempt(() => this.#storedNames()) ?? [];
    return [...new Set([...stored, ...this.#memory.keys()])];
  }

  /** The name that a key of the storage stands for; undefined when the key is not the widget's. */
  nameOf(key: string): string | undefined {
    return key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : undefined;
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  #storedNames(): string[] {
    const storage = this.#storage;
    if (storage === undefined) return [];
    const keys: string[] = [];
    for (let n = 0; n < storage.length; n += 1) keys.push(storage.key(n) ?? '');
    return keys.flatMap((key) => this.nameOf(key) ?? []);
  }
}

/**
 * For `JSON.stringify`, which gives a replacer the object that has the value: each value as it is.
 * Prototype.js 1.6, which old shops have on every page, gives arrays and strings a `toJSON` that
 * makes JSON within JSON of them.
 */
export function asIs(this: Readonly<Record<string, unknown>>, key: string): unknown {
  return this[key];
}

/** Undefined when `json` is missing or not JSON. */
export const parsed = (json: string | null | undefined): unknown =>
  typeof json === 'string' ? attempt((): unknown => JSON.parse(json)) : undefined;

function attempt<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}
