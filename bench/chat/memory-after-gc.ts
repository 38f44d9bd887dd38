/** What a process holds once its garbage is gone; it runs with `--expose-gc`. Bytes. */
export interface Memory {
  readonly rss: number;
  /** The heap, and what hangs on it outside. */
  readonly heap: number;
}

export function memoryAfterGc(): Memory {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('started without --expose-gc');
  // Weak references and finalizers take a second round.
  for (let round = 0; round < 3; round += 1) gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}
