import { errorFields, type Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { CallFailed, NotAnswered, RpcThread, workerUrl } from '../../../runtime/worker-rpc.ts';
import type { CheckRequest, CheckSettings } from './check-message.ts';
import { DNS_DEFAULTS, type DnsOptions } from './dns-resolver.ts';
import { type AuthenticationVerdict, UNENDED_VERDICT } from './verdict.ts';
import type { TimedVerdict } from './verdict-lifetime.ts';
import { questionOf, VerdictMemo } from './verdict-memo.ts';

export interface AuthenticatorOptions {
  readonly hostname: string;
  readonly trustedAuthservIds: readonly string[];
  readonly dns?: Partial<DnsOptions>;
  /** For the look-ups of one message, in milliseconds. */
  readonly totalMs?: number;
  /** For one message, in milliseconds: a busy machine needs longer than DNS. */
  readonly endsWithinMs?: number;
  /** The worker's file, replaced in tests of failing workers. */
  readonly worker?: URL;
}

/** The data with which the thread is started. */
export interface AuthenticationSettings extends CheckSettings {
  readonly dns: DnsOptions;
}

export interface AuthenticationThread {
  check(request: CheckRequest): Promise<TimedVerdict>;
}

export interface Authenticator {
  /**
   * Never rejects: without an answer from DNS in time, the verdict is `temperror`; if the check does
   * not end, or fails, it is `UNENDED_VERDICT`.
   */
  check(request: CheckRequest): Promise<AuthenticationVerdict>;
  /** Raises the alarm: a message is held because the checks of its sender did not end. */
  alarm(): void;
  stop(): Promise<void>;
}

/** The young generation is small for the same reason as in the threads that read mail. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 12 };
/** The thread itself ends look-ups and checks; after this time it is too busy, or hangs. */
const THREAD_GRACE_MS = 500;

interface AuthenticatorDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/**
 * Checks senders in a separate thread, which is started with the first message. It has a single
 * thread, so that all its messages share the DNS cache and its breaker. The verdict on mail without
 * signatures is remembered here as long as its DNS answers are.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
  { logger, metrics, clock }: AuthenticatorDeps,
): Authenticator {
  const { hostname, trustedAuthservIds, totalMs = 5000, endsWithinMs = 60_000 } = options;
  const limits = { totalMs, endsWithinMs };
  const dns = { ...DNS_DEFAULTS, ...options.dns };
  const settings: AuthenticationSettings = { hostname, trustedAuthservIds, ...limits, dns };
  const url = options.worker ?? workerUrl(import.meta.url, './authentication-worker.ts');
  const memo = new VerdictMemo(clock);
  let thread: RpcThread<AuthenticationThread> | undefined;
  let stopped = false;

  const start = (): RpcThread<AuthenticationThread> =>
    new RpcThread(url, {
      data: settings,
      limits: LIMITS,
      deadlinesMs: { check: totalMs + THREAD_GRACE_MS },
      extendToMs: endsWithinMs + THREAD_GRACE_MS,
      onDeath: (inFlight) => {
        thread = undefined;
        if (inFlight > 0) logger.warn('email.authentication_died', { inFlight });
      },
    });
  const verdictOf = async (request: CheckRequest): Promise<AuthenticationVerdict> => {
    try {
      const question = questionOf(request);
      const known = question === undefined ? undefined : memo.get(question);
      if (known !== undefined) return known;
      thread ??= start();
      const askedAt = clock();
      const { verdict, holdsMs } = await thread.call('check', request);
      if (question !== undefined && holdsMs > 0) memo.set(question, verdict, askedAt + holdsMs);
      return verdict;
    } catch (error) {
      if (error instanceof NotAnswered) return UNENDED_VERDICT;
      const failure = error instanceof CallFailed ? { error: error.failure.name } : undefined;
      logger.warn('email.not_authenticated', failure ?? errorFields(error));
      return UNENDED_VERDICT;
    }
  };

  return {
    async check(request) {
      if (stopped) return UNENDED_VERDICT;
      const verdict = await verdictOf(request);
      for (const method of ['spf', 'dkim', 'arc', 'dmarc'] as const) {
        metrics.authenticated.inc({ method, result: verdict[method] });
      }
      return verdict;
    },
    alarm() {
      metrics.alarms.inc({ alarm: 'sender_not_checked' });
      logger.error('email.sender_not_checked');
    },
    async stop() {
      stopped = true;
      await thread?.stop();
    },
  };
}
