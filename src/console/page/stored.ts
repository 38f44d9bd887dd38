interface KeyValues {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The getter throws where the browser forbids storage; there is none in Node.js. */
const storage = (): KeyValues | undefined =>
  (globalThis as { readonly localStorage?: KeyValues }).localStorage;

/** What this browser remembers. */
export function readStored(key: string): string | undefined {
  try {
    return storage()?.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Without storage, the choice lasts until the page is closed. */
export function store(key: string, value: string): void {
  try {
    storage()?.setItem(key, value);
  } catch {
    // See above.
  }
}

export function forget(key: string): void {
  try {
    storage()?.removeItem(key);
  } catch {
    // See above.
  }
}

/** The keys of what is stored. */
export function storedKeys(): readonly string[] {
  try {
    return Object.keys(storage() ?? {});
  } catch {
    return [];
  }
}
