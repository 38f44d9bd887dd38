import { setTimeout as delay } from 'node:timers/promises';
import { errorFields } from '../../../observability/logger.ts';
import { createShopDirectory, type SmsShop } from '../shop.ts';
import {
  accountsOf,
  reconcileAccount,
  type ReconciledAccount,
  type ReconcileParts,
} from './reconcile-account.ts';
import {
  type ApiPace,
  connectMessageLists,
  type MessageLists,
} from '../providers/twilio/message-lists.ts';
import { TwilioFailed } from '../providers/twilio/transport.ts';

const EVERY_MS = 10 * 60_000;
const MAX_PAGES = 100;
const LONGEST_WAIT_MS = 60 * 60_000;
/** After consecutive failures; then at the normal interval. */
const AFTER_FAILURE_MS = [5_000, 15_000, 60_000, 180_000];

export interface ReconciliationOptions {
  readonly shops: readonly SmsShop[];
  /** 10 minutes by default. */
  readonly everyMs?: number;
  readonly afterFailureMs?: readonly number[];
  /** 100 by default. */
  readonly maxPages?: number;
  readonly pace?: ApiPace;
}

export type ReconciliationParts = Omit<ReconcileParts, 'directory' | 'openedAt' | 'maxPages'>;

export interface Reconciliation {
  /** Ends a run in progress; messages that it has accepted stay accepted. */
  stop(): Promise<void>;
}

/**
 * Finds texts that Twilio could not deliver while the webhook was down: Twilio retries for seconds,
 * then gives up. It runs at once and every 10 minutes, separately for each account. A failure is
 * logged, counted, and retried sooner.
 */
export function startReconciliation(
  options: ReconciliationOptions,
  parts: ReconciliationParts,
): Reconciliation {
  const stopping = new AbortController();
  const directory = createShopDirectory(options.shops);
  const context = {
    ...parts,
    directory,
    openedAt: parts.clock(),
    maxPages: options.maxPages ?? MAX_PAGES,
  };
  const loops = accountsOf(options.shops).map((account) =>
    new AccountLoop(account, options, context, stopping.signal).run(),
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

class AccountLoop {
  readonly #account: ReconciledAccount;
  readonly #options: ReconciliationOptions;
  readonly #parts: ReconcileParts;
  readonly #signal: AbortSignal;
  #lists: MessageLists | undefined;
  #failures = 0;

  constructor(
    account: ReconciledAccount,
    options: ReconciliationOptions,
    parts: ReconcileParts,
    signal: AbortSignal,
  ) {
    this.#account = account;
    this.#options = options;
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Resolves when it is stopped; never rejects. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const waitMs = await this.#once();
      await delay(waitMs, undefined, { signal: this.#signal }).catch(() => undefined);
    }
  }

  /** Runs once. @returns how long to wait before the next run */
  async #once(): Promise<number> {
    const { everyMs = EVERY_MS } = this.#options;
    const startedAt = performance.now();
    try {
      this.#lists ??= await connectMessageLists(this.#account, {
        ...(this.#options.pace && { pace: this.#options.pace }),
        clock: this.#parts.clock,
        signal: this.#signal,
      });
      const found = await reconcileAccount(this.#account, this.#lists, this.#parts);
      const ms = Math.round(performance.now() - startedAt);
      const { accountSid } = this.#account;
      this.#parts.logger[found > 0 ? 'warn' : 'debug']('sms.reconciliation', {
        accountSid,
        found,
        ms,
      });
      this.#failures = 0;
      return everyMs;
    } catch (error) {
      return this.#signal.aborted ? 0 : this.#failed(error, everyMs);
    }
  }

  #failed(error: unknown, everyMs: number): number {
    const failure = error instanceof TwilioFailed ? error : undefined;
    const { afterFailureMs = AFTER_FAILURE_MS } = this.#options;
    const waitMs = Math.min(
      Math.max(afterFailureMs[this.#failures] ?? everyMs, failure?.retryAfterMs ?? 0),
      LONGEST_WAIT_MS,
    );
    this.#failures += 1;
    const { accountSid } = this.#account;
    this.#parts.metrics.alarms.inc({ alarm: 'sms_reconciliation' });
    this.#parts.logger.error('sms.reconciliation-failed', {
      accountSid,
      ...(failure ? { kind: failure.kind, reason: failure.message } : errorFields(error)),
      waitMs,
    });
    return waitMs;
  }
}
