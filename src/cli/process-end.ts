/** The events of `process` that a long-running command answers. */
export interface ProcessEvents {
  on(event: string, listener: (reason: unknown) => void): unknown;
  off(event: string, listener: (reason: unknown) => void): unknown;
  exit(code: number): unknown;
}

export type End =
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'unexpected'; readonly error: unknown };

export interface ProcessEnd {
  /** Resolves once, with what asked for the end. */
  readonly first: Promise<End>;
  stop(): void;
}

/**
 * Under `npm start` one Ctrl-C arrives twice, from the terminal and forwarded by npm: signals this
 * close together are one.
 */
const SAME_SIGNAL_MS = 1000;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** "Read your configuration again" for whatever has no terminal; else that the terminal has gone. */
const HANG_UP = 'SIGHUP';
const UNEXPECTED = ['unhandledRejection', 'uncaughtException'] as const;

/**
 * Watches for what should end the process. The first signal, or a bug that nobody caught, asks
 * for a graceful stop; a second signal ends the process at once.
 * @param onUnexpected told of every bug, also during the stop
 * @param onHangUp told of every SIGHUP; true when that asks for the end
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
