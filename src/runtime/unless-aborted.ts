/** What `AbortSignal` and the signals of libraries that are like it have in common. */
interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener?: (type: 'abort', listener: () => void) => void;
  removeEventListener?: (type: 'abort', listener: () => void) => void;
}

/**
 * The result of the work, which goes on after the signal is aborted; what becomes of it then is dropped.
 * @throws the signal's reason immediately when it is aborted
 */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: Signal | undefined,
): Promise<Value> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal?.addEventListener?.('abort', onAbort);
    if (signal?.aborted === true) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal?.removeEventListener?.('abort', onAbort);
  }
}
