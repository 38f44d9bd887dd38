import { EXIT, type ExitCode } from './exit-codes.ts';

/** The events of `process` that a long-running command handles. */
export interface ProcessEvents {
  /** Undefined where the command has no process of its own. */
  readonly pid?: number;
  on(event: string, listener: (reason: unknown) => void): unknown;
  off(event: string, listener: (reason: unknown) => void): unknown;
  exit(code: number): unknown;
}

type End =
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'unexpected'; readonly error: unknown };

export interface ProcessEnd {
  /** Resolves once, with the reason to end. */
  readonly first: Promise<End>;
  stop(): void;
}

/**
 * Under `npm start` one Ctrl-C arrives twice, from the terminal and forwarded by npm, so signals
 * this close together count as one.
 */
const SAME_SIGNAL_MS = 1000;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Requests a reload, or, in a process with a terminal, reports that the terminal was closed. */
const HANG_UP = 'SIGHUP';
const UNEXPECTED = ['unhandledRejection', 'uncaughtException'] as const;

/**
 * Watches for reasons to end the process. The first signal or uncaught error requests a graceful
 * stop; a second signal ends the process at once.
 * @param onUnexpected called for every uncaught error, during the stop too
 * @param onHangUp called for every SIGHUP; returns true to request the end
 */
export function watchProcess(
  events: ProcessEvents,
  onUnexpected: (error: unknown) => void,
  clock: () => number = () => performance.now(),
  onHangUp: () => boolean = () => true,
): ProcessEnd {
  let resolveFirst: (end: End) => void = () => undefined;
  const first = new Promise<End>((resolve) => (resolveFirst = resolve));
  let firstSignalAt: number | undefined;
  const listeners = new Map<string, (reason: unknown) => void>();
  for (const signal of SIGNALS) {
    listeners.set(signal, () => {
      const now = clock();
      firstSignalAt ??= now;
      if (now - firstSignalAt >= SAME_SIGNAL_MS) events.exit(1);
      else resolveFirst({ kind: 'signal', signal });
    });
  }
  listeners.set(HANG_UP, () => {
    if (onHangUp()) resolveFirst({ kind: 'signal', signal: HANG_UP });
  });
  for (const event of UNEXPECTED) {
    listeners.set(event, (error) => {
      onUnexpected(error);
      resolveFirst({ kind: 'unexpected', error });
    });
  }
  for (const [event, listener] of listeners) events.on(event, listener);
  return {
    first,
    stop: () => {
      for (const [event, listener] of listeners) events.off(event, listener);
    },
  };
}

/** A signal interrupted a command, which has cleaned up. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly code: ExitCode;

  constructor(code: ExitCode) {
    super('interrupted');
    this.code = code;
  }
}

/** In the shell's convention: 128 plus the number of the signal. */
const CODES = [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
  ['SIGHUP', EXIT.hungUp],
] as const;

/**
 * Runs work that a signal may interrupt between two steps, so that progress bars, partial files and
 * the audit log are cleaned up first. A second signal ends the process at once.
 * @param work throws the reason of its signal when it is aborted
 * @throws {Interrupted} a signal arrived
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
    // An interrupted stream throws its own error.
    ended.signal.throwIfAborted();
    throw error;
  } finally {
    for (const off of listeners) off();
  }
}
