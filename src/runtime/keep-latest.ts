/** Sets the value of a key as the latest, and removes the oldest keys above the limit. */
export function setLatest<K, V>(kept: Map<K, V>, key: K, value: V, most: number): void {
  kept.delete(key);
  kept.set(key, value);
  dropOldest(kept, most);
}

/** Adds a value as the latest, and removes the oldest ones above the limit. */
export function addLatest<T>(kept: Set<T>, value: T, most: number): void {
  kept.delete(value);
  kept.add(value);
  dropOldest(kept, most);
}

function dropOldest<K>(kept: Map<K, unknown> | Set<K>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}
