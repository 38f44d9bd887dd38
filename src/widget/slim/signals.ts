/**
 * As much of `@preact/signals-core` as the widget needs, in its place within the bundle: the same
 * meaning of `signal`, `computed`, `effect`, `batch` and `untracked`, without finding cycles and
 * without letting go of what a `computed` reads that nothing reads.
 */

interface Source {
  /** Grows with every change of the value. */
  version: number;
  readonly readers: Set<Reader>;
  /** Brings the value up to date; nothing to do for a plain signal. */
  refresh(): void;
}

interface Reader {
  /** What it has read, and which version of it. */
  sources: Map<Source, number>;
  /** Something that it has read may have changed. */
  stale(): void;
}

let reading: Reader | undefined;
/** Effects that have to look whether they run again. */
let waiting = new Set<Reader & { run(): void }>();
let isRunning = false;
let batches = 0;

function readAs<T>(reader: Reader | undefined, read: () => T): T {
  const outer = reading;
  reading = reader;
  try {
    return read();
  } finally {
    reading = outer;
  }
}

export const untracked = <T>(read: () => T): T => readAs(undefined, read);

/** Effects run once at its end. */
export function batch<T>(act: () => T): T {
  batches += 1;
  try {
    return act();
  } finally {
    batches -= 1;
    runWaiting();
  }
}

function noteRead(source: Source): void {
  if (!reading) return;
  reading.sources.set(source, source.version);
  source.readers.add(reading);
}

function forget(reader: Reader): void {
  for (const source of reader.sources.keys()) source.readers.delete(reader);
  reader.sources = new Map();
}

/** Whether anything that was read is another value now. */
function hasChanged(reader: Reader): boolean {
  for (const [source, version] of reader.sources) {
    source.refresh();
    if (source.version !== version) return true;
  }
  return false;
}

function runWaiting(): void {
  if (isRunning || batches > 0) return;
  isRunning = true;
  try {
    while (waiting.size > 0) {
      const now = waiting;
      waiting = new Set();
      for (const reader of now) if (hasChanged(reader)) reader.run();
    }
  } finally {
    isRunning = false;
  }
}

export function signal<T>(initial: T) {
  let value = initial;
  const source: Source = { version: 0, readers: new Set(), refresh: () => undefined };
  return {
    get value(): T {
      noteRead(source);
      return value;
    },
    set value(next: T) {
      if (next === value) return;
      value = next;
      source.version += 1;
      for (const reader of [...source.readers]) reader.stale();
      runWaiting();
    },
    peek: (): T => value,
    subscribe: (tell: (value: T) => void) =>
      effect(() => {
        noteRead(source);
        untracked(() => tell(value));
      }),
  };
}

export function computed<T>(compute: () => T) {
  let value: T | undefined;
  let isStale = true;
  const reader: Reader = {
    sources: new Map(),
    stale: () => {
      if (isStale) return;
      isStale = true;
      for (const each of [...source.readers]) each.stale();
    },
  };
  const source: Source = {
    version: 0,
    readers: new Set(),
    refresh: () => {
      if (!isStale) return;
      isStale = false;
      if (source.version > 0 && !hasChanged(reader)) return;
      forget(reader);
      const next = readAs(reader, compute);
      if (next === value && source.version > 0) return;
      value = next;
      source.version += 1;
    },
  };
  const peek = (): T => {
    source.refresh();
    return value as T;
  };
  return {
    get value(): T {
      source.refresh();
      noteRead(source);
      return value as T;
    },
    peek,
    subscribe: (tell: (value: T) => void) =>
      effect(() => {
        source.refresh();
        noteRead(source);
        untracked(() => tell(value as T));
      }),
  };
}

/** Runs now, and again whenever something that it read last is another value. */
export function effect(act: () => unknown): () => void {
  let undo: (() => void) | undefined;
  const stop = (): void => {
    forget(reader);
    waiting.delete(reader);
    undo?.();
    undo = undefined;
  };
  const reader: Reader & { run(): void } = {
    sources: new Map(),
    stale: () => waiting.add(reader),
    run: () => {
      stop();
      const end = readAs(reader, act);
      undo = typeof end === 'function' ? (end as () => void) : undefined;
    },
  };
  reader.run();
  return stop;
}
