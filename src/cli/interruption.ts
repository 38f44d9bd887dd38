import { EXIT, type ExitCode } from './exit-codes.ts';
import type { ProcessEvents } from './process-end.ts';

/** A signal broke a command off; what it had begun is put in order. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly code: ExitCode;

  constructor(code: ExitCode) {
    super('broken off');
    this.code = code;
  }
}

/** As a shell tells it: 128 and the number of the signal. */
const CODES = [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
  ['SIGHUP', EXIT.hungUp],
] as const;

/** Under npm one Ctrl-C arrives twice, from the terminal and forwarded. */
const SAME_SIGNAL_MS = 1000;

/**
 * Work that a signal may break off between two steps, so that bars, half files and the audit are
 * put in order first. A second signal ends the process at once.
 * @param work throws the reason of its signal when that is aborted
 * @throws {Interrupted} a signal came
 */
export async function interruptible<T>(
  events: ProcessEvents,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  let firstAt = -Infinity;
  const listeners = CODES.map(([signal, code]) => {
    const listener = (): void => {
      if (!ended.signal.aborted) {
        firstAt = performance.now();
        ended.abort(new Interrupted(code));
      } else if (performance.now() - firstAt >= SAME_SIGNAL_MS) events.exit(code);
    };
    events.on(signal, listener);
    return () => events.off(signal, listener);
  });
  try {
    return await work(ended.signal);
  } catch (error) {
    // A stream that was broken off has an error of its own.
    ended.signal.throwIfAborted();
    throw error;
  } finally {
    for (const off of listeners) off();
  }
}
