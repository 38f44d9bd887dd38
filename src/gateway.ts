import { join } from 'node:path';
import { createChatNormalizer } from './channels/chat/chat-normalizer.ts';
import {
  type Authenticator,
  createAuthenticator,
} from './channels/email/authentication/authenticator.ts';
import { createEmailServer } from './channels/email/email-server.ts';
import { createInboundRoute } from './channels/email/inbound-route.ts';
import { createEmailNormalizer } from './channels/email/normalize/email-normalizer.ts';
import { openTls } from './channels/email/tls.ts';
import { createSmsNormalizer } from './channels/sms/normalize.ts';
import { createSmsWebhook } from './channels/sms/webhook.ts';
import type { CompleteConfig } from './config/complete.ts';
import { createAdminApp } from './console/admin-app.ts';
import { Conversations } from './delivery/conversations.ts';
import { Dispatcher } from './delivery/dispatcher.ts';
import type { ShopPlatform } from './delivery/shop-platform.ts';
import { type RunningChat, startChat } from './gateway/chat.ts';
import { demoRouters } from './gateway/demo.ts';
import {
  authenticatorOptions,
  emailServerOptions,
  inboundOptions,
  tlsOptions,
} from './gateway/email-options.ts';
import { Housekeeping } from './gateway/housekeeping.ts';
import { startLocalPlatform } from './gateway/local.ts';
import { connectShops } from './gateway/platforms.ts';
import { clientIpOf, createPublicApp } from './gateway/public-http.ts';
import { emailShops, mailSettings, smsShops, trustingShops } from './gateway/shops.ts';
import { startSmsReconciliation } from './gateway/sms-reconciliation.ts';
import { createIntake, type Intake } from './intake/intake.ts';
import type { Normalizer } from './intake/normalizer.ts';
import { createAddressDirectory } from './intake/routing.ts';
import { createHealth, type Health, NotReady } from './observability/health.ts';
import { errorFields, type Logger } from './observability/logger.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { ConnectionPool } from './platform-api/transport.ts';
import { type Clock, createMonotonicClock } from './runtime/clock.ts';
import { createHttpListener } from './runtime/http-listener.ts';
import { StopStack } from './runtime/stop-stack.ts';
import type { Entry, Outcome } from './spool/entry.ts';
import { openSqliteStore, type Store } from './spool/sqlite/open.ts';
import type { Channel } from './types/channel.ts';

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
}

/** What is in flight may take this long at a stop; the whole stop has 30 s. */
const GRACE_MS = 10_000;

/**
 * The composition root: builds every part from the configuration, starts them from the inside
 * out, so that a door opens only when what is behind it works, and stops them in reverse.
 */
export function createGateway(options: {
  readonly config: CompleteConfig;
  readonly logger: Logger;
}): Gateway {
  const { config, logger } = options;
  const stack = new StopStack();
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const unwind = () =>
    stack.unwind((part, error) =>
      logger.error('gateway.stop_failed', { part, ...errorFields(error) }),
    );
  return {
    failed,
    async start() {
      try {
        return await start(config, logger, stack, fail);
      } catch (error) {
        await unwind();
        throw error;
      }
    },
    stop: unwind,
  };
}

/** What every part is built with. */
interface Base {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly stack: StopStack;
  readonly authenticator: Authenticator;
}

async function start(
  config: CompleteConfig,
  logger: Logger,
  stack: StopStack,
  fail: (error: Error) => void,
): Promise<Addresses> {
  const metrics = createMetrics();
  const authenticator = createAuthenticator(authenticatorOptions(config), { logger, metrics });
  stack.push('authenticator', () => authenticator.stop());
  const clock = createMonotonicClock();
  const base: Base = { config, logger, metrics, clock, stack, authenticator };
  const health = createHealth();

  const store = await openStore(base, fail);
  health.add('spool', () => store.spool.probe());

  const local = await startLocalPlatform(config, logger);
  if (local !== undefined) stack.push('local platform', () => local.stop());
  const pool = new ConnectionPool();
  stack.push('connections', () => pool.close());
  const shops = connectShops(config, local?.url, pool, metrics, base.clock);

  // Intake wakes the dispatcher, which is built with the intake.
  let wake: () => void = () => undefined;
  const intake = createIntake({ ...store, metrics, clock: base.clock, onAccepted: () => wake() });
  const chat = startChat(config, { ...base, store, intake, shops });
  stack.push('reply poller', () => chat?.stopReplies());
  const dispatcher = startDelivery(base, store, intake, shops, (entry, outcome) =>
    chat?.onSettled(entry, outcome),
  );
  wake = () => dispatcher?.wake();

  startHousekeeping(base, store);

  // The doors, last: one that answers must not say that all are open.
  health.add('doors', () => notReady('starting'));
  const http = await openHttp(base, store, intake, chat, health);
  const admin = await openAdmin(base, health);
  const smtp = await openSmtp(base, store, intake);
  const missed = startSmsReconciliation(config, { ...base, spool: store.spool, intake });
  stack.push('sms reconciliation', () => missed?.stop());
  health.add('doors', () => undefined);
  stack.push('readiness', () => health.add('doors', () => notReady('stopping')));
  return {
    ...(smtp && { smtp }),
    ...(http && { http }),
    admin,
    ...(local && { platform: { url: local.url } }),
  };
}

function notReady(why: string): never {
  throw new NotReady(why);
}

async function openStore(
  { config, logger, metrics, stack }: Base,
  fail: (error: Error) => void,
): Promise<Store> {
  const store = await openSqliteStore({
    dir: config.dataDir,
    role: 'owner',
    reserveBytes: 1.5 * config.smtp.maxMessageBytes,
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

function startDelivery(
  base: Base,
  store: Store,
  intake: Intake,
  shops: readonly ShopPlatform[],
  onSettled: (entry: Entry, outcome: Outcome) => void,
): Dispatcher | undefined {
  const { config, logger, metrics, clock, stack } = base;
  const normalizers = createNormalizers(base, store);
  if (config.delivery.paused) {
    logger.warn('delivery.paused');
    return undefined;
  }
  const dispatcher = new Dispatcher(
    shops,
    {
      spool: store.spool,
      intake,
      conversations: new Conversations(store.spool, clock),
      normalizers,
      logger,
      metrics,
      clock,
      random: Math.random,
      giveUpAfterMs: config.delivery.giveUpAfter,
      onSettled,
    },
    { concurrency: config.delivery.concurrency },
  );
  dispatcher.start();
  stack.push('delivery', () => dispatcher.stop(GRACE_MS));
  return dispatcher;
}

function createNormalizers(base: Base, store: Store): Record<Channel, Normalizer> {
  const { config, stack, clock, logger, metrics } = base;
  const email = createEmailNormalizer(
    { shops: mailSettings(config), scratchFolder: join(config.dataDir, 'tmp', 'email') },
    {
      blobs: store.spool.blobs,
      knownRemoteIds: async (shopId, ids) =>
        (await store.spool.knownEmailIds(shopId, ids)).size > 0,
      countMail: (mail, limits) => store.spool.countMail(mail, limits),
      authenticator: base.authenticator,
      logger,
    },
  );
  stack.push('email normalizer', () => email.stop());
  const trusting = trustingShops(config);
  return {
    email: email.normalize,
    sms: createSmsNormalizer(
      { shops: smsShops(config), scratchDir: join(config.dataDir, 'tmp', 'sms') },
      { optOuts: store.optOuts, clock, logger, metrics },
    ),
    web_chat: createChatNormalizer({
      blobs: store.spool.blobs,
      trustUnverifiedEmail: (shopId) => trusting.has(shopId),
    }),
  };
}

function startHousekeeping({ config, logger, metrics, clock, stack }: Base, store: Store): void {
  const { raw, dead, entries } = config.spool.retain;
  const housekeeping = new Housekeeping({
    spool: store.spool,
    retention: { rawMs: raw, deadMs: dead, entriesMs: entries },
    shopNames: new Map(config.shops.map(({ shopId, name }) => [shopId, name])),
    metrics,
    clock,
    logger,
  });
  housekeeping.start();
  stack.push('housekeeping', () => housekeeping.stop());
}

async function openHttp(
  { config, logger, metrics, clock, stack, authenticator }: Base,
  store: Store,
  intake: Intake,
  chat: RunningChat | undefined,
  health: Health,
): Promise<ListenAddress | undefined> {
  const { enabled, host, port, publicUrl, trustProxy } = config.http;
  if (!enabled) return undefined;
  const sms = createSmsWebhook({ shops: smsShops(config), publicUrl }, { intake, logger, metrics });
  const email = createInboundRoute(inboundOptions(config), {
    intake,
    blobs: store.spool.blobs,
    directory: createAddressDirectory(emailShops(config)),
    authenticator,
    clientIp: clientIpOf(trustProxy),
    logger,
    metrics,
    clock,
  });
  const routers = [sms, email, ...(chat?.routers ?? []), ...demoRouters(config)];
  const listener = createHttpListener(createPublicApp({ routers, health, logger }));
  chat?.attach(listener.server);
  const bound = await listener.listen(host, port);
  stack.push('http', () => listener.stop(GRACE_MS));
  if (chat !== undefined) stack.push('chat', () => chat.stop());
  return { host, port: bound };
}

async function openAdmin(
  { config, logger, metrics, stack }: Base,
  health: Health,
): Promise<ListenAddress> {
  const { host, port, password } = config.admin;
  const app = createAdminApp({ password: password.reveal(), health, metrics, logger });
  const listener = createHttpListener(app);
  const bound = await listener.listen(host, port);
  stack.push('admin', () => listener.stop(0));
  return { host, port: bound };
}

async function openSmtp(
  { config, logger, metrics, clock, stack, authenticator }: Base,
  store: Store,
  intake: Intake,
): Promise<ListenAddress | undefined> {
  if (!config.smtp.enabled) return undefined;
  const tls = await openTls(tlsOptions(config), logger);
  stack.push('certificate', () => tls.close());
  const server = createEmailServer(emailServerOptions(config), {
    intake,
    blobs: store.spool.blobs,
    directory: createAddressDirectory(emailShops(config)),
    authenticator,
    tls,
    logger,
    metrics,
    clock,
  });
  const { port } = await server.start();
  stack.push('smtp', () => server.stop(GRACE_MS));
  return { host: config.smtp.host, port };
}
