import {
  type Authenticator,
  createAuthenticator,
} from '../channels/email/authentication/authenticator.ts';
import { createEmailServer } from '../channels/email/door-smtp.ts';
import { createInboundRoute } from '../channels/email/door-http.ts';
import { openTls, type TlsMaterial } from '../channels/email/tls.ts';
import { createSmsWebhook } from '../channels/sms/door.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { ReloadResult } from '../console/contract.ts';
import { Conversations } from '../delivery/conversations.ts';
import { Dispatcher } from '../delivery/dispatcher.ts';
import type { ShopPlatform } from '../delivery/shop-platform.ts';
import { type RunningChat, startChat } from './chat.ts';
import { openConsole, type RunningConsole } from './console.ts';
import type { ConfigSource } from './config-source.ts';
import { createConfigurationDesk } from './configuration-desk.ts';
import { demoRouter } from './demo.ts';
import {
  authenticatorOptions,
  emailServerOptions,
  inboundOptions,
  tlsOptions,
} from './email-options.ts';
import { createFacts } from './facts.ts';
import { createHttpDoor, clientIpOf, createPublicApp, through } from './public-http.ts';
import { Housekeeping } from './housekeeping.ts';
import { startLiveAlerts } from './alerts.ts';
import { LiveConfig } from './live-config.ts';
import { createNormalizers } from './normalizers.ts';
import { connectPlatforms } from './platforms.ts';
import { emailShops, smsShops } from './shops.ts';
import { startSmsReconciliation } from './sms-reconciliation.ts';
import { storedFormOf } from './stored-forms.ts';
import { startTracing } from './tracing.ts';
import { version } from './version.ts';
import { Backlog } from '../intake/backlog.ts';
import { createIntake, type Intake } from '../intake/intake.ts';
import { createAddressDirectory, currentDirectory } from '../channels/email/routing.ts';
import { createHealth, type Health, NotReady } from '../observability/health.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Clock, createMonotonicClock } from '../runtime/clock.ts';
import type { Current } from '../runtime/current.ts';
import { StopStack } from '../runtime/stop-stack.ts';
import type { Entry, Outcome } from '../spool/entry.ts';
import { SpoolFull } from '../spool/errors.ts';
import { openSqliteStore, type Store } from '../spool/sqlite/open.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where a started gateway listens; what is switched off is absent. */
export interface Addresses {
  readonly smtp?: ListenAddress;
  readonly http?: ListenAddress;
  readonly admin?: ListenAddress;
  readonly platform?: { readonly url: string };
}

export interface Gateway {
  /** Resolves when everything listens. A start that fails has undone what it began. */
  start(): Promise<Addresses>;
  /** Closes the doors, finishes what is in flight, and closes everything else. */
  stop(): Promise<void>;
  /** Resolves when the gateway cannot go on: the store has failed. */
  readonly failed: Promise<Error>;
  /**
   * Takes the configuration up as it is now, as far as it can be without a restart; with a mistake
   * in it nothing changes. Never rejects.
   * @param who asks: an operator's name, or `signal`
   */
  reload(who: string): Promise<ReloadResult>;
}

export interface GatewayOptions {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  /** Where the configuration is read again; without one it stays as it is. */
  readonly source?: ConfigSource;
  readonly setLogLevel?: (level: CompleteConfig['log']['level']) => void;
}

/** What is in flight may take this long at a stop; the whole stop has 30 s. */
const GRACE_MS = 10_000;
/** The same after the store has failed: what waits has been refused, and only has to hear it. */
const GRACE_AFTER_FAILURE_MS = 500;

/**
 * The composition root: builds every part from the configuration, starts them from the inside
 * out, so that a door opens only when what is behind it works, and stops them in reverse.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { logger } = options;
  const stack = new StopStack();
  let resolveFailed: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    resolveFailed = resolve;
  });
  const grace = { ms: GRACE_MS };
  const onError = (part: string, error: unknown): void =>
    logger.error('gateway.stop_failed', { part, ...errorFields(error) });
  let closed: Promise<void> | undefined;
  const fail = (error: Error): void => {
    grace.ms = GRACE_AFTER_FAILURE_MS;
    // At once and together: none of them acknowledges anything any more.
    closed ??= stack.closeDoors(onError);
    resolveFailed(error);
  };
  const unwind = async (): Promise<void> => {
    await closed;
    await stack.unwind(onError);
  };
  let running: Running | undefined;
  return {
    failed,
    async start() {
      try {
        running = await start(options, stack, grace, fail);
        return running.addresses;
      } catch (error) {
        await unwind();
        throw error;
      }
    },
    stop: unwind,
    reload: (who) =>
      running?.reload(who) ?? Promise.resolve({ ok: false, mistakes: ['It has not started yet.'] }),
  };
}

interface Running {
  readonly addresses: Addresses;
  readonly reload: Gateway['reload'];
}

/** What every part is built with. */
interface Base {
  /** As it was at the start: for what a reload does not change. */
  readonly config: CompleteConfig;
  readonly live: LiveConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
  readonly stack: StopStack;
  /** What is in flight at a stop may take as long. */
  readonly grace: { readonly ms: number };
  readonly authenticator: Authenticator;
}

async function start(
  options: GatewayOptions,
  stack: StopStack,
  grace: Base['grace'],
  fail: (error: Error) => void,
): Promise<Running> {
  const { config, logger } = options;
  const metrics = createMetrics();
  const authenticator = createAuthenticator(authenticatorOptions(config), { logger, metrics });
  stack.push('authenticator', () => authenticator.stop());
  const clock = createMonotonicClock();
  const tracing = await startTracing(config, { metrics, clock });
  if (tracing !== undefined) stack.push('tracing', () => tracing.stop());
  const live = new LiveConfig(config, logger);
  const base: Base = {
    ...{ config, live, logger, metrics, clock, tracing, stack, grace, authenticator },
  };
  const health = createHealth();

  const store = await openStore(base, fail);
  health.add('spool', () => store.spool.probe());

  const { shops, local } = await connectPlatforms({ ...base, store });

  // Intake wakes the dispatcher, which is built with the intake.
  let wake: () => void = () => undefined;
  // What is opened when there is something behind it.
  const opened: { console?: RunningConsole; smtp?: ListenAddress | undefined } = {};
  const backlog = new Backlog();
  const intake = createIntake({
    ...{ ...store, backlog, metrics, clock: base.clock },
    onAccepted: (shopId, id, channel) => {
      tracing?.accepted({ shopId, id, channel });
      wake();
      opened.console?.entryChanged(id);
    },
  });
  const chat = startChat({ ...base, store, intake, shops });
  stack.push('reply poller', () => chat?.stopReplies());
  const dispatcher = startDelivery(base, store, intake, shops, (entry, outcome) => {
    chat?.onSettled(entry, outcome);
    opened.console?.onSettled(entry, outcome);
  });
  wake = () => dispatcher.wake();

  health.add('disk', () => takesMessages(intake));

  startHousekeeping(base, store, backlog);
  const tls = await openCertificate(base);
  const facts = createFacts({
    spool: store.spool,
    dataDir: config.dataDir,
    reserveBytes: store.neededBytes,
    shops: () => shops.value,
    certificate: () => tls?.current().cert,
    metrics,
    clock,
  });
  metrics.buildInfo.set({ version: version(), node: process.version }, 1);
  metrics.readFrom({ facts, searchBacklog: () => store.operator.searchBacklog() });
  const alerting = await startLiveAlerts(live, {
    ...{ facts, files: store.files, metrics, clock, logger },
  });
  stack.push('alerts', () => alerting.stop());

  const configuration = createConfigurationDesk(options, {
    ...base,
    operator: store.operator,
    facts,
    onReloaded: () => {
      for (const shop of shops.value) shop.tryNow();
    },
  });

  // The doors, last: one that answers must not say that all are open.
  health.add('doors', () => notReady('starting'));
  const http = await openHttp(base, store, intake, chat, health);
  const console = await openConsole({
    ...{ ...base, store, health, facts, configuration, wake: () => wake() },
    doors: () => ({ ...(opened.smtp && { smtp: opened.smtp }), ...(http && { http }) }),
    platformUrl: () => local.value?.url,
    shops: () => shops.value,
    alerts: () => alerting.current,
  });
  opened.console = console;
  const admin = { host: config.admin.host, port: console.port };
  stack.pushDoor('admin', () => console.stop());
  opened.smtp = await openSmtp(base, store, intake, tls);
  const missed = startSmsReconciliation(live, { ...base, spool: store.spool, intake });
  stack.pushDoor('sms reconciliation', () => missed.stop());
  health.add('doors', () => undefined);
  stack.push('readiness', () => health.add('doors', () => notReady('stopping')));
  stack.push('reload', () => configuration.stop());
  return {
    reload: (who) => configuration.reload(who),
    addresses: {
      ...(opened.smtp && { smtp: opened.smtp }),
      ...(http && { http }),
      admin,
      ...(local.value && { platform: { url: local.value.url } }),
    },
  };
}

/** Of free disk space, below which nothing is accepted. */
const reserveBytes = ({ smtp }: CompleteConfig): number => 1.5 * smtp.maxMessageBytes;

function notReady(why: string): never {
  throw new NotReady(why);
}

/**
 * What the intake would refuse for want of space, whoever sends it: a load balancer that asks sends it
 * elsewhere. It asks on every look, so that it is ready again by itself.
 * @throws {NotReady}
 */
async function takesMessages(intake: Intake): Promise<void> {
  try {
    await intake.assertSpace([]);
  } catch (error) {
    if (error instanceof SpoolFull) notReady(`no messages are taken in: ${error.message}`);
    throw error;
  }
}

async function openStore(
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

function startDelivery(
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

function startHousekeeping(
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

async function openHttp(
  { config, live, logger, metrics, clock, stack, grace, authenticator }: Base,
  store: Store,
  intake: Intake,
  chat: RunningChat | undefined,
  health: Health,
): Promise<ListenAddress | undefined> {
  const { enabled, host, port } = config.http;
  if (!enabled) return undefined;
  const sms = live.derive('sms webhook', ['shops', 'http.publicUrl'], (current) =>
    createSmsWebhook(
      { shops: smsShops(current), publicUrl: current.http.publicUrl },
      { intake, logger, metrics },
    ),
  );
  const email = live.derive('email over http', ['shops', 'http.trustProxy'], (current) =>
    createInboundRoute(inboundOptions(current), {
      intake,
      blobs: store.spool.blobs,
      directory: createAddressDirectory(emailShops(current)),
      authenticator,
      clientIp: clientIpOf(current.http.trustProxy),
      logger,
      metrics,
      clock,
    }),
  );
  const demo = live.derive('demo page', ['shops', 'platform'], demoRouter);
  const routers = [through(sms), through(email), ...(chat?.routers ?? []), through(demo)];
  const app = createPublicApp({ routers, health, logger });
  const listener = createHttpDoor('public', app, { live, logger, metrics });
  chat?.attach(listener.server);
  const bound = await listener.listen(host, port);
  stack.pushDoor('http', () => listener.stop(grace.ms));
  if (chat !== undefined) stack.pushDoor('chat', () => chat.stop());
  return { host, port: bound };
}

/** Before the doors: who is on call is told of a certificate that ends. */
async function openCertificate({ config, logger, stack }: Base): Promise<TlsMaterial | undefined> {
  if (!config.smtp.enabled) return undefined;
  const tls = await openTls(tlsOptions(config), logger);
  stack.push('certificate', () => tls.close());
  return tls;
}

async function openSmtp(
  { config, live, logger, metrics, clock, stack, grace, authenticator }: Base,
  store: Store,
  intake: Intake,
  tls: TlsMaterial | undefined,
): Promise<ListenAddress | undefined> {
  if (tls === undefined) return undefined;
  const directory = live.derive('email directory', ['shops'], (current) =>
    createAddressDirectory(emailShops(current)),
  );
  const server = createEmailServer(emailServerOptions(config), {
    intake,
    blobs: store.spool.blobs,
    directory: currentDirectory(directory),
    authenticator,
    tls,
    logger,
    metrics,
    clock,
  });
  const { port } = await server.start();
  stack.pushDoor('smtp', () => server.stop(grace.ms));
  return { host: config.smtp.host, port };
}
