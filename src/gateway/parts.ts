import { type Authenticator } from '../channels/email/authentication/authenticator.ts';
import type { CompleteConfig } from '../config/complete.ts';
import { Conversations } from '../delivery/conversations.ts';
import { Dispatcher } from '../delivery/dispatcher.ts';
import type { ShopPlatform } from '../delivery/shop-platform.ts';
import { Housekeeping } from './housekeeping.ts';
import type { LiveConfig } from './live-config.ts';
import { createNormalizers } from './normalizers.ts';
import { storedFormOf } from './stored-forms.ts';
import type { Backlog } from '../intake/backlog.ts';
import { type Intake } from '../intake/intake.ts';
import { NotReady } from '../observability/health.ts';
import { type Logger } from '../observability/logger.ts';
import { type Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Clock } from '../runtime/clock.ts';
import type { Current } from '../runtime/current.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { Entry, Outcome } from '../spool/entry.ts';
import { SpoolFull } from '../spool/errors.ts';
import { openSqliteStore, type Store } from '../spool/sqlite/open.ts';

/** The dependencies of every part. */
export interface Base {
  /** The configuration at the start, for values that a reload does not change. */
  readonly config: CompleteConfig;
  readonly live: LiveConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
  readonly stack: StopStack;
  /** The time that work in flight gets at a stop. */
  readonly grace: { readonly ms: number };
  readonly authenticator: Authenticator;
}

/** New messages are refused when less disk space than this is free. */
const reserveBytes = ({ smtp }: CompleteConfig): number => 1.5 * smtp.maxMessageBytes;

export function notReady(why: string): never {
  throw new NotReady(why);
}

/**
 * Fails while the intake would refuse every message for lack of space, so that a load balancer
 * routes around this gateway. It is evaluated on every probe, so readiness returns automatically.
 * @throws {NotReady}
 */
export async function takesMessages(intake: Intake): Promise<void> {
  try {
    await intake.assertSpace([]);
  } catch (error) {
    if (error instanceof SpoolFull) notReady(`no messages are taken in: ${error.message}`);
    throw error;
  }
}

export async function openStore(
  { config, logger, metrics, stack }: Base,
  fail: (error: Error) => void,
): Promise<Store> {
  const store = await openSqliteStore({
    dir: config.dataDir,
    role: 'owner',
    reserveBytes: reserveBytes(config),
    onCommit: (seconds, operations) => {
      metrics.commitSeconds.observe(seconds);
      metrics.commitEntries.observe(operations);
    },
    onIndexFailure: (reason) => logger.warn('search.index_failed', { reason }),
  });
  stack.push('spool', () => store.spool.close());
  store.spool.onFatal(fail);
  const { requeued, orphans, missing } = await store.spool.recover();
  if (requeued + orphans > 0) logger.info('spool.recovered', { requeued, orphans });
  for (const entry of missing) {
    metrics.alarms.inc({ alarm: 'raw_missing' });
    logger.error('spool.raw_missing', { entry });
  }
  return store;
}

export function startDelivery(
  base: Base,
  store: Store,
  intake: Intake,
  shops: Current<readonly ShopPlatform[]>,
  onSettled: (entry: Entry, outcome: Outcome) => void,
): Dispatcher {
  const { live, logger, metrics, clock, tracing, stack, grace } = base;
  const normalizers = createNormalizers({ ...base, store });
  if (live.value.delivery.paused) logger.warn('delivery.paused');
  const dispatcher = new Dispatcher(
    shops.value,
    {
      spool: store.spool,
      intake,
      conversations: new Conversations(store.spool, clock),
      normalizers,
      logger,
      metrics,
      clock,
      tracing,
      random: Math.random,
      get giveUpAfterMs() {
        return live.value.delivery.giveUpAfter;
      },
      onSettled,
    },
    live.value.delivery,
  );
  live.add({
    name: 'delivery',
    reads: ['shops', 'platform', 'delivery'],
    prepare: ({ delivery }, running) => ({
      commit: () => {
        dispatcher.serve(shops.value, delivery);
        if (delivery.paused !== running.delivery.paused) {
          logger.warn(delivery.paused ? 'delivery.paused' : 'delivery.resumed');
        }
      },
    }),
  });
  dispatcher.start();
  stack.push('delivery', () => dispatcher.stop(grace.ms));
  return dispatcher;
}

export function startHousekeeping(
  { live, logger, metrics, clock, stack }: Base,
  store: Store,
  backlog: Backlog,
): void {
  const housekeeping = new Housekeeping({
    spool: store.spool,
    backlog,
    renewSummaries: (signal) => store.renewSummaries(storedFormOf, signal),
    retention: () => {
      const { raw, dead, entries } = live.value.spool.retain;
      return { rawMs: raw, deadMs: dead, entriesMs: entries };
    },
    shopNames: () => new Map(live.value.shops.map(({ shopId, name }) => [shopId, name])),
    metrics,
    clock,
    logger,
  });
  housekeeping.start();
  stack.push('housekeeping', () => housekeeping.stop());
}
