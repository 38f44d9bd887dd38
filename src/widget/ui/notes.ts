/** Small things to remember on this device; lost where a page may not store anything. */
export interface Notes {
  has(name: string): boolean;
  set(name: string, isSet: boolean): void;
}

export function createNotes(storage: Storage | undefined, prefix: string): Notes {
  const lost = new Set<string>();
  return {
    has: (name) => {
      try {
        return storage?.getItem(prefix + name) === '1' || lost.has(name);
      } catch {
        return lost.has(name);
      }
    },
    set: (name, isSet) => {
      if (isSet) lost.add(name);
      else lost.delete(name);
      try {
        if (isSet) storage?.setItem(prefix + name, '1');
        else storage?.removeItem(prefix + name);
      } catch {
        // It is remembered until the page goes.
      }
    },
  };
}
