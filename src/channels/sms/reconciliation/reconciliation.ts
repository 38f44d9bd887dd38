import { setTimeout as delay } from 'node:timers/promises';
import { errorFields } from '../../../observability/logger.ts';
import type { Leases } from '../../../runtime/leases.ts';
import { createShopDirectory, type SmsShop } from '../shop.ts';
import type { ApiPace, MessageLists } from '../provider.ts';
import { APIS } from '../providers/registry.ts';
import { ProviderFailed } from '../providers/requests.ts';
import {
  reconcileAccount,
  type ReconciledAccount,
  type ReconcileParts,
} from './reconcile-account.ts';

const EVERY_MS = 10 * 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;
/** A run that takes longer may be repeated by another gateway, which only finds nothing more. */
const RUN_WITHIN_MS = 5 * 60_000;
/** How often a gateway checks whether the one that runs has ended. */
const LOOK_EVERY_MS = 60_000;
/** After consecutive failures; then at the normal interval. */
const AFTER_FAILURE_MS = [5_000, 15_000, 60_000, 180_000];

export interface ReconciliationOptions {
  readonly shops: readonly SmsShop[];
  /** 10 minutes by default. */
  readonly everyMs?: number;
  readonly afterFailureMs?: readonly number[];
  /** The provider's own limit by default. */
  readonly maxPages?: number;
  readonly pace?: ApiPace;
}

export interface ReconciliationParts extends Omit<ReconcileParts, 'directory' | 'openedAt'> {
  readonly leases: Leases;
}

export interface Reconciliation {
  /** Ends a run in progress; messages that it has accepted stay accepted. */
  stop(): Promise<void>;
}

/**
 * Finds texts that a provider could not deliver while the webhook was down: providers retry for
 * seconds, then give up. It runs at once and every 10 minutes, separately for each account, in one
 * of the gateways with a common store. A failure is logged, counted, and retried sooner. Accounts
 * of a provider that does not list what it received are left out.
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
  };
  const loops = reconciledAccounts(options).map((account) =>
    repeatFor(account, options, context, stopping.signal),
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

const reconciledAccounts = ({ shops, maxPages }: ReconciliationOptions): ReconciledAccount[] =>
  APIS.flatMap(({ name, lists }) => {
    if (lists === undefined) return [];
    const limits = { inFlightMs: lists.inFlightMs, maxPages: maxPages ?? lists.maxPages };
    const ofProvider = shops.filter(({ account }) => account.provider === name);
    return lists.accountsOf(ofProvider).map((account) => ({ ...account, ...limits }));
  });

/** Resolves when it is stopped; never rejects. */
async function repeatFor(
  account: ReconciledAccount,
  { everyMs = EVERY_MS, afterFailureMs = AFTER_FAILURE_MS, pace }: ReconciliationOptions,
  parts: ReconcileParts & Pick<ReconciliationParts, 'leases'>,
  signal: AbortSignal,
): Promise<void> {
  const { name: accountSid } = account;
  const { clock, leases, logger, metrics } = parts;
  const lease = `sms reconciliation ${accountSid}`;
  let lists: MessageLists | undefined;
  let failures = 0;
  do {
    const startedAt = performance.now();
    let waitMs = everyMs;
    try {
      if (!(await leases.take(lease, RUN_WITHIN_MS))) {
        await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
        continue;
      }
      lists ??= await account.connect({ ...(pace && { pace }), clock, signal });
      const found = await reconcileAccount(account, lists, parts);
      const ms = Math.round(performance.now() - startedAt);
      logger[found > 0 ? 'warn' : 'debug']('sms.reconciliation', { accountSid, found, ms });
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      const failure = error instanceof ProviderFailed ? error : undefined;
      const longerMs = Math.max(afterFailureMs[failures] ?? everyMs, failure?.retryAfterMs ?? 0);
      waitMs = Math.min(longerMs, LONGEST_WAIT_MS);
      failures += 1;
      metrics.alarms.inc({ alarm: 'sms_reconciliation' });
      logger.error('sms.reconciliation_failed', {
        accountSid,
        ...(failure ? { kind: failure.kind, reason: failure.message } : errorFields(error)),
        waitMs,
      });
    }
    // The next run is this gateway's, too, unless it ends before.
    await leases.take(lease, waitMs + LOOK_EVERY_MS).catch(() => undefined);
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  } while (!signal.aborted);
  await leases.release(lease).catch(() => undefined);
}
