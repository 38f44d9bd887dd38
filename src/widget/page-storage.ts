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
