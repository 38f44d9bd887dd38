/** The memory of a process after garbage collection, in bytes; it needs `--expose-gc`. */
export interface Memory {
  readonly rss: number;
  /** The heap and the external memory that it references. */
  readonly heap: number;
}

export function memoryAfterGc(): Memory {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('started without --expose-gc');
  // Weak references and finalizers need a second pass.
  for (let round = 0; round < 3; round += 1) gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}
