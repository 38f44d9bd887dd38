/** Where the widget keeps what it remembers: also the loader looks here whether there is a session. */

export const SESSION = 'session';

/** Apart for each gateway and key: a site may have several, and one gateway serves many. */
export function storagePrefix(gatewayUrl: string, key: string): string {
  const { origin, basePath } = gatewayAddress(gatewayUrl);
  return `sluice:${origin}${basePath}:${encodeURIComponent(key)}:`;
}

export interface GatewayAddress {
  readonly origin: string;
  /** Empty, or as `/support`: a gateway behind a path of a larger site. */
  readonly basePath: string;
}

/** @throws {TypeError} this is no URL */
export function gatewayAddress(gatewayUrl: string): GatewayAddress {
  const { origin, pathname } = new URL(gatewayUrl);
  return { origin, basePath: pathname.replace(/\/+$/, '') };
}

/** The page's storage; undefined where a browser or a sandbox forbids it. */
export function pageStorage(): Storage | undefined {
  try {
    return window.localStorage;
  } catch {
    return undefined;
  }
}

/** A note that may be missing, or lost. */
export function read(storage: Storage | undefined, key: string): string | undefined {
  try {
    return storage?.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function write(storage: Storage | undefined, key: string, value: string): void {
  try {
    storage?.setItem(key, value);
  } catch {
    // Full or forbidden: what is noted here only spares the visitor a repetition.
  }
}

/** Removes every note whose key begins so. */
export function forget(storage: Storage | undefined, prefix: string): void {
  for (const key in storage) if (key.startsWith(prefix)) storage.removeItem(key);
}

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
    return Array.from({ length: storage.length }, (_, index) => storage.key(index)).flatMap(
      (key) => (key === null ? [] : (this.nameOf(key) ?? [])),
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
