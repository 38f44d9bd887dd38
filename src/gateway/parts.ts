import { join } from 'node:path';
import {
  type Authenticator,
  createAuthenticator,
} from '../channels/email/authentication/authenticator.ts';
import type { TlsMaterial } from '../channels/email/tls.ts';
import type { CompleteConfig } from '../config/complete.ts';
import { FleetWatch, type FleetWatchParts } from './fleet-watch.ts';
import { Housekeeping, retentionOf } from './housekeeping.ts';
import type { DeskAccess } from '../console/server/desk-access.ts';
import { waitingTickets } from './desk.ts';
import { startLiveAlerts } from './alerts.ts';
import { IncidentLog } from '../operations/alerts/incident-log.ts';
import { authenticatorOptions } from './authenticator-options.ts';
import { createStatusCollector } from './status.ts';
import { LiveConfig } from './live-config.ts';
import { storedFormReaderOf } from './stored-forms.ts';
import { startTracing } from './tracing.ts';
import { version } from './version.ts';
import type { Delivery } from './delivery/delivery.ts';
import type { Backlog, Intake } from '../intake/intake.ts';
import type { CollectStatus, FleetStatus, GatewayStatus } from '../observability/status.ts';
import { NotReady } from '../observability/readiness.ts';
import { type Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Alerting } from '../operations/alerts/alerting.ts';
import { type Clock, createMonotonicClock } from '../runtime/clock.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { EntryIndex } from '../spool/entry-index.ts';
import { SpoolFull } from '../spool/errors.ts';
import { hash } from 'node:crypto';
import { reserveBytesOf, storeUrl } from '../config/complete.ts';
import { openStore as open, type OpenedStore } from '../spool/open-store.ts';
import type { Store } from '../spool/store.ts';
import { watchMainThread } from '../runtime/main-thread.ts';
import { Seldom } from '../runtime/seldom.ts';

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

export async function createBase(
  { config, logger }: { readonly config: CompleteConfig; readonly logger: Logger },
  stack: StopStack,
  grace: Base['grace'],
): Promise<Base> {
  const metrics = createMetrics();
  metrics.buildInfo.set({ version: version(), node: process.version }, 1);
  const clock = createMonotonicClock();
  const authenticator = createAuthenticator(authenticatorOptions(config), {
    ...{ logger, metrics, clock },
  });
  stack.push('authenticator', () => authenticator.stop());
  const tracing = await startTracing(config, { metrics, clock });
  if (tracing !== undefined) stack.push('tracing', () => tracing.stop());
  const live = new LiveConfig(config, logger);
  const slowTurns = new Seldom(60_000, 1);
  const watch = watchMainThread(({ work, ms }) => {
    metrics.slowTurns.inc({ work });
    if (slowTurns.isDue('slow', clock())) logger.warn('main_thread.slow', { work, ms });
  });
  stack.push('watch of the main thread', () => watch.stop());
  return { config, live, logger, metrics, clock, tracing, stack, grace, authenticator };
}

export function notReady(why: string): never {
  throw new NotReady(why);
}

/**
 * Fails while the intake would refuse every message for lack of space, so that a load balancer uses
 * other gateways. It is evaluated on every probe, so the check passes again when there is space.
 * @throws {NotReady}
 */
export async function takesMessages(intake: Intake): Promise<void> {
  try {
    await intake.assertSpace([]);
  } catch (error) {
    if (error instanceof SpoolFull) notReady(`new messages are refused: ${error.message}`);
    throw error;
  }
}

export async function openStore(
  { config, logger, metrics, stack }: Base,
  fail: (error: Error) => void,
): Promise<OpenedStore> {
  const store = await open({
    url: storeUrl(config),
    blobs: config.spool.blobs,
    keys: config.chatTokenKeys.map(({ secret }) => hash('sha256', secret.reveal())),
    dir: config.dataDir,
    role: 'owner',
    reserveBytes: reserveBytesOf(config),
    onCommit: (seconds, operations) => {
      metrics.commitSeconds.observe(seconds);
      metrics.commitEntries.observe(operations);
    },
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

/** Reads the store's database, so it is opened after the store and closed before it. */
export async function openIndex({ logger, stack }: Base, store: OpenedStore): Promise<EntryIndex> {
  const index = await store.openIndex((reason) => logger.warn('search.index_failed', { reason }));
  stack.push('search index', () => index.close());
  return index;
}

export function startHousekeeping(
  { live, logger, metrics, clock, stack }: Base,
  store: Store,
  backlog: Backlog,
): void {
  const housekeeping = new Housekeeping({
    spool: store.spool,
    leases: store.leases,
    backlog,
    renewSummaries: (signal) => store.renewSummaries(storedFormReaderOf, signal),
    retention: () => retentionOf(live.value),
    shopNames: () => new Map(live.value.shops.map(({ shopId, name }) => [shopId, name])),
    metrics,
    clock,
    logger,
  });
  housekeeping.start();
  stack.push('housekeeping', () => housekeeping.stop());
}

/** The status of the gateway, its gauges, and the alerts that watch it. */
export async function startMonitoring(
  { config, live, logger, metrics, clock, stack }: Base,
  store: Store,
  index: EntryIndex,
  health: Delivery['health'],
  tls: TlsMaterial | undefined,
  fleet: () => FleetStatus | undefined,
  desk: DeskAccess,
  refusedPages: () => GatewayStatus['refusedPages'],
): Promise<{
  readonly status: CollectStatus;
  readonly alerting: Pick<Alerting, 'current'>;
  readonly incidents: IncidentLog;
}> {
  const status = createStatusCollector({
    spool: store.spool,
    dataDir: config.dataDir,
    reserveBytes: store.neededBytes,
    ...{ shops: () => live.value.shops, health },
    tls: () => tls && { pem: tls.current().cert, unusable: tls.trouble() },
    deliveryPaused: () => live.value.delivery.paused,
    fleet,
    waitingTickets: () => waitingTickets(desk, clock),
    refusedPages,
    metrics,
    clock,
  });
  metrics.readFrom({ status, searchBacklog: () => index.backlog() });
  const path = join(config.dataDir, 'incidents.json');
  const incidents = await IncidentLog.open({ path, files: store.files, clock, logger });
  stack.push('incidents', () => incidents.stop());
  incidents.started();
  const alerting = await startLiveAlerts(live, {
    ...{ status, incidents, files: store.files, leases: store.leases, metrics, clock, logger },
  });
  stack.push('alerts', () => alerting.stop());
  return { status, alerting, incidents };
}

/** Reports the gateway to the others with its store; undefined when the store admits one gateway. */
export function watchFleet(
  { logger, stack }: Base,
  { fleet }: Store,
  figures: FleetWatchParts['figures'],
): FleetWatch | undefined {
  if (fleet === undefined) return undefined;
  const watch = new FleetWatch({ fleet, figures, logger });
  watch.start();
  stack.push('fleet', () => watch.stop());
  return watch;
}
