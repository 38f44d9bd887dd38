import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import { TurnBatch, workerUrl } from '../../../runtime/worker-threads.ts';
import type { CheckRequest, CheckSettings } from './check-message.ts';
import { DNS_DEFAULTS, type DnsOptions } from './dns-resolver.ts';
import { type AuthenticationVerdict, UNKNOWN_VERDICT } from './verdict.ts';

export interface AuthenticatorOptions {
  readonly hostname: string;
  readonly trustedAuthservIds: readonly string[];
  readonly dns?: Partial<DnsOptions>;
  /** For one message, in milliseconds. */
  readonly totalMs?: number;
  /** The worker's file, replaced in tests of failing workers. */
  readonly worker?: URL;
}

export interface Authenticator {
  /** Never rejects: a check that does not finish in time is `temperror`. */
  check(request: CheckRequest): Promise<AuthenticationVerdict>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly settle: (verdict: AuthenticationVerdict) => void;
  readonly timer: NodeJS.Timeout;
}

const MAX_HEAP_MB = 128;
/** For the same reason as in the threads that read mail (normalize/threads/mail-worker.ts). */
const YOUNG_GENERATION_MB = 12;
/** The thread itself ends a check; after this time it is too busy to do so. */
const THREAD_GRACE_MS = 500;

/**
 * Checks senders in a separate thread, which is started with the first message. There is a single
 * thread, so that all messages share the DNS cache and its breaker.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): Authenticator {
  const { hostname, trustedAuthservIds, totalMs = 5000 } = options;
  const dns = { ...DNS_DEFAULTS, ...options.dns };
  const settings: AuthenticationSettings = { hostname, trustedAuthservIds, totalMs, dns };
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  const outgoing = new TurnBatch<ToAuthenticationWorker>((messages) => {
    worker?.postMessage(messages);
  });
  let lastId = 0;
  let heardAt = 0;
  let stopped = false;

  const settle = (id: number, verdict: AuthenticationVerdict): void => {
    const found = waiting.get(id);
    if (found === undefined) return;
    waiting.delete(id);
    clearTimeout(found.timer);
    for (const method of ['spf', 'dkim', 'arc', 'dmarc'] as const) {
      metrics.authenticated.inc({ method, result: verdict[method] });
    }
    found.settle(verdict);
  };
  const end = (ended: Worker): void => {
    if (worker !== ended) return;
    worker = undefined;
    void ended.terminate();
    if (waiting.size > 0) logger.warn('email.authentication_died', { inFlight: waiting.size });
    for (const id of [...waiting.keys()]) settle(id, UNKNOWN_VERDICT);
  };
  const start = (): Worker => {
    const url = options.worker ?? workerUrl(import.meta.url, './authentication-worker.ts');
    const started = new Worker(url, {
      workerData: settings,
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MB,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
      env: {},
    });
    started.on('message', (messages: readonly FromAuthenticationWorker[]) => {
      heardAt = performance.now();
      for (const message of messages) {
        if ('error' in message) {
          logger.warn('email.not_authenticated', { error: message.error });
          settle(message.id, UNKNOWN_VERDICT);
        } else {
          settle(message.id, message.verdict);
        }
      }
    });
    for (const event of ['error', 'exit', 'messageerror']) started.on(event, () => end(started));
    return started;
  };

  return {
    check(request) {
      if (stopped) return Promise.resolve(UNKNOWN_VERDICT);
      const thread = (worker ??= start());
      const askedAt = performance.now();
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          settle(id, UNKNOWN_VERDICT);
          // It has not responded since, so it hangs, with everything in flight there.
          if (heardAt < askedAt) end(thread);
        }, totalMs + THREAD_GRACE_MS);
        waiting.set(id, { settle: resolve, timer });
        outgoing.add({ id, request });
      });
    },
    async stop() {
      stopped = true;
      const ended = worker;
      worker = undefined;
      for (const id of [...waiting.keys()]) settle(id, UNKNOWN_VERDICT);
      await ended?.terminate();
    },
  };
}

/** The data with which the thread is started. */
export interface AuthenticationSettings extends CheckSettings {
  readonly dns: DnsOptions;
}

export interface ToAuthenticationWorker {
  readonly id: number;
  readonly request: CheckRequest;
}

export type FromAuthenticationWorker =
  | { readonly id: number; readonly verdict: AuthenticationVerdict }
  /** The kind of error that ended the check. */
  | { readonly id: number; readonly error: string };
