import { parentPort, workerData } from 'node:worker_threads';
import { createAuthenticator } from '../../channels/email/authentication/authenticator.ts';
import { createEntryIntake } from '../../intake/intake.ts';
import { bugFields, errorFields } from '../../observability/logger.ts';
import { createThreadLogger } from '../../observability/winston-logger.ts';
import { createMetrics, forgetShops, valuesOf } from '../../observability/metrics.ts';
import { createMonotonicClock } from '../../runtime/clock.ts';
import { Holder } from '../../runtime/current.ts';
import { StopStack } from '../../runtime/stop-stack.ts';
import { CallFailed, serveRpc } from '../../runtime/worker-rpc.ts';
import { SpoolFull, SpoolUnavailable } from '../../spool/errors.ts';
import type { SharedStore } from '../../spool/store.ts';
import { joinSqliteStore } from '../../spool/sqlite/join.ts';
import { changedPaths } from '../config-leaves.ts';
import { authenticatorOptions } from '../authenticator-options.ts';
import { LiveConfig, type PreparedChange } from '../live-config.ts';
import { startTracing } from '../tracing.ts';
import { fromClone } from './cloned-config.ts';
import { type Delivery, startDelivery } from './delivery.ts';
import type {
  DeliveryOwner,
  DeliveryThread,
  DeliveryThreadData,
  Settled,
} from './delivery-thread.ts';

/** The thread that delivers: the composition root of its part of the gateway. */

// `workerData` is what delivery-thread.ts passes, of this very type.
const data = workerData as DeliveryThreadData;
const config = fromClone(data.config);
const logger = createThreadLogger(config.log);
const metrics = createMetrics({ ofProcess: false });
const clock = createMonotonicClock();
const live = new LiveConfig(config, logger);
const localUrl = new Holder<string | undefined>(undefined);
const stack = new StopStack();
const grace = { ms: 0 };
let delivery: Delivery | undefined;
let prepared: PreparedChange | undefined;

async function start(shared: SharedStore, url: string | undefined): Promise<void> {
  localUrl.value = url;
  const store = await joinSqliteStore(shared, {
    makeSpace: () => owner('makeSpace').catch(asSpoolError),
    onCommit: (seconds, calls) => {
      metrics.commitSeconds.observe(seconds);
      metrics.commitEntries.observe(calls);
    },
    onAccepted: () => delivery?.wake(),
  });
  stack.push('store', () => store.leave());
  const authenticator = createAuthenticator(authenticatorOptions(config), {
    ...{ logger, metrics, clock },
  });
  stack.push('authenticator', () => authenticator.stop());
  const tracing = await startTracing(config, { metrics, clock });
  if (tracing !== undefined) stack.push('tracing', () => tracing.stop());
  delivery = startDelivery({
    ...{
      live,
      share: data.share,
      store,
      localUrl,
      authenticator,
      logger,
      metrics,
      clock,
      tracing,
      stack,
      grace,
    },
    intake: { ...createEntryIntake(clock), accept },
    hasReply: (shopId, ids) => owner('hasReply', shopId, ids),
    onSettled: settledInBatches((settled) => owner('settled', settled)),
  });
  live.add({
    name: 'log level',
    reads: ['log.level'],
    prepare: ({ log }) => ({ commit: () => logger.setLevel(log.level) }),
  });
}

/** Messages are accepted in one place, which counts them and knows the space. */
async function accept(arrivals: Parameters<DeliveryOwner['accept']>[0]) {
  return owner('accept', arrivals).catch(asSpoolError);
}

/** An error of the store as the store's own methods throw it. */
function asSpoolError(error: unknown): never {
  if (!(error instanceof CallFailed)) throw error;
  const { kind, name } = error.failure;
  throw kind === 'full' ? new SpoolFull(name) : new SpoolUnavailable(name);
}

/** The main thread gets the kind of an error alone; the log of this one tells where it was. */
async function telling<T>(event: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    logger.error(event, bugFields(error));
    throw error;
  }
}

/** Tells of all that settled in one turn of the event loop at once. */
function settledInBatches(tell: (settled: readonly Settled[]) => Promise<void>) {
  let waiting: Settled[] = [];
  return (
    { id, kind, shopId, channel, receivedAt, meta }: Settled['entry'],
    state: Settled['state'],
  ): void => {
    if (waiting.length === 0) {
      setImmediate(() => {
        const settled = waiting;
        waiting = [];
        // The entries are settled; only pages and visitors do not see it at once.
        tell(settled).catch(() => undefined);
      });
    }
    const shown = channel === 'web_chat' ? meta : {};
    waiting.push({ entry: { id, kind, shopId, channel, receivedAt, meta: shown }, state });
  };
}

const owner = serveRpc<DeliveryThread, DeliveryOwner>(parentPort, {
  start: (store, url) => telling('delivery.start_failed', () => start(store, url)),
  wake: () => delivery?.wake(),
  ping: () => undefined,
  tryNow: () => delivery?.tryNow(),
  health: async () => [...((await delivery?.health()) ?? [])],
  metrics: async () => {
    await forgetShops(metrics, new Set(live.value.shops.map(({ name }) => name)));
    return valuesOf(metrics);
  },
  prepare: (clone, url) =>
    telling('config.reload_failed', async () => {
      localUrl.value = url;
      const next = fromClone(clone);
      prepared = await live.prepare(next, changedPaths(live.value, next));
    }),
  commit: async () => {
    prepared?.commit();
    await prepared?.after?.();
    prepared = undefined;
  },
  undo: async () => {
    await prepared?.undo?.();
    prepared = undefined;
  },
  stop: async (graceMs) => {
    grace.ms = graceMs;
    await stack.unwind((part, error) =>
      logger.error('gateway.stop_failed', { part, ...errorFields(error) }),
    );
  },
});
