import { type CompleteConfig, stopDelayMs } from '../config/complete.ts';
import type { ReloadResult } from '../console/contract.ts';
import { startChat } from './chat.ts';
import { openConsole, type RunningConsole } from './console.ts';
import type { FleetWatch } from './fleet-watch.ts';
import type { ConfigSource } from './config-source.ts';
import { createConfigurationService } from './configuration-service.ts';
import { openDelivery, type OpenDelivery } from './delivery/open-delivery.ts';
import { connectPlatforms } from './platforms.ts';
import { startSmsReconciliation } from './sms-reconciliation.ts';
import { Backlog, createIntake } from '../intake/intake.ts';
import { createReadiness } from '../observability/readiness.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { StopStack } from '../runtime/stop-stack.ts';
import { leave, type ListenAddress, openCertificate, openHttp, openSmtp } from './doors.ts';
import {
  type Base,
  createBase,
  notReady,
  openIndex,
  openStore,
  startHousekeeping,
  startMonitoring,
  takesMessages,
  watchFleet,
} from './parts.ts';

/** The addresses on which a started gateway listens; a disabled listener is absent. */
export interface Addresses {
  readonly smtp?: ListenAddress;
  readonly http?: ListenAddress;
  readonly admin?: ListenAddress;
  readonly platform?: { readonly url: string };
}

export interface Gateway {
  /** Resolves when all listeners are open. A start that fails undoes what it has started. */
  start(): Promise<Addresses>;
  /**
   * Says that it is not ready, closes the doors after `stopDelay`, finishes the work in flight, then stops
   * everything else.
   */
  stop(): Promise<void>;
  /** Resolves when the gateway cannot continue. */
  readonly failed: Promise<Failure>;
  /**
   * Applies the current configuration, as far as that is possible without a restart. If it contains
   * a mistake, nothing changes. Never rejects.
   * @param who requested it: an operator's name, or `signal`
   */
  reload(who: string): Promise<ReloadResult>;
}

/** Why a gateway ends by itself. */
export interface Failure {
  /** After a failure of the store nothing can be acknowledged; after one of delivery, everything can. */
  readonly part: 'store' | 'delivery';
  readonly error: Error;
}

export interface GatewayOptions {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  /** Where the configuration is reloaded from; without it, no reload is possible. */
  readonly source?: ConfigSource;
  readonly setLogLevel?: (level: CompleteConfig['log']['level']) => void;
  /** Delivers in this thread, so that `logger` gets all lines: for tests. */
  readonly deliversHere?: boolean;
}

/** The time that work in flight gets at a stop; the whole stop has 30 s. */
const GRACE_MS = 10_000;
/**
 * The same after the store has failed: waiting clients have been refused and only need the reply.
 */
const GRACE_AFTER_FAILURE_MS = 500;

/**
 * The composition root. It builds every part from the configuration and starts them from the inside
 * out, so that a door opens only when everything behind it works. It stops them in reverse order.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { logger } = options;
  const stack = new StopStack();
  let resolveFailed: (failure: Failure) => void = () => undefined;
  const failed = new Promise<Failure>((resolve) => {
    resolveFailed = resolve;
  });
  const grace = { ms: GRACE_MS };
  const onError = (part: string, error: unknown): void =>
    logger.error('gateway.stop_failed', { part, ...errorFields(error) });
  let closed: Promise<void> | undefined;
  const onStoreFailed = (error: Error): void => {
    grace.ms = GRACE_AFTER_FAILURE_MS;
    // All at once, since none of them can acknowledge anything any more.
    closed ??= stack.closeDoors(onError);
    resolveFailed({ part: 'store', error });
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
        running = await start(options, stack, grace, {
          store: onStoreFailed,
          delivery: (error) => resolveFailed({ part: 'delivery', error }),
        });
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

async function start(
  options: GatewayOptions,
  stack: StopStack,
  grace: Base['grace'],
  fail: Readonly<Record<Failure['part'], (error: Error) => void>>,
): Promise<Running> {
  const base = await createBase(options, stack, grace);
  const { config, live, metrics, clock, tracing } = base;
  const readiness = createReadiness();

  const store = await openStore(base, fail.store);
  const index = openIndex(base, store);
  readiness.add('spool', () => store.spool.probe());

  const { clients, localUrl } = await connectPlatforms({ ...base, store });

  // Set later, when the parts behind them exist.
  const opened: {
    delivery?: OpenDelivery;
    console?: RunningConsole;
    smtp?: ListenAddress | undefined;
    fleet?: FleetWatch | undefined;
  } = {};
  const backlog = new Backlog();
  const intake = createIntake({
    ...{ ...store, backlog, metrics, clock },
    onAccepted: (shopId, id, channel) => {
      tracing?.accepted({ shopId, id, channel });
      opened.delivery?.accepted();
      opened.console?.entryChanged(id);
    },
  });
  const chat = startChat({ ...base, store, intake, clients });
  stack.push('reply poller', () => chat?.stopReplies());
  const delivery = await openDelivery({
    ...{ ...base, store, intake, fail: fail.delivery, isHere: options.deliversHere === true },
    localUrl,
    onSettled: (entry, state) => {
      chat?.onSettled(entry, state);
      opened.console?.onSettled(entry, state);
    },
  });
  opened.delivery = delivery;

  readiness.add('disk', () => takesMessages(intake));

  startHousekeeping(base, store, backlog);
  const tls = await openCertificate(base);
  const { status, alerting } = await startMonitoring(
    base,
    store,
    index,
    () => delivery.health(),
    tls,
    () => opened.fleet?.latest,
  );

  const configuration = createConfigurationService(options, {
    ...base,
    operator: store.operator,
    status,
    onReloaded: () => delivery.tryNow(),
  });

  // Readiness of the doors comes last: one open listener must not report that all are open.
  readiness.add('doors', () => notReady('starting'));
  const http = await openHttp(base, store, intake, chat, readiness);
  const console = await openConsole({
    ...{ ...base, store, index, readiness, status, configuration },
    wake: () => delivery.wake(),
    metricsText: () => delivery.metricsText(),
    health: () => delivery.health(),
    doors: () => ({
      ...(opened.smtp && { smtp: opened.smtp }),
      ...(http && { http: http.address }),
    }),
    platformUrl: () => localUrl.value,
    shops: () => clients.value,
    alerts: () => alerting.current,
  });
  opened.console = console;
  stack.pushDoor('admin', () => console.stop());
  opened.fleet = watchFleet(base, store, () => console.figures());
  opened.smtp = await openSmtp(base, store, intake, tls);
  const missed = startSmsReconciliation(live, { ...base, ...store, intake });
  stack.pushDoor('sms reconciliation', () => missed.stop());
  readiness.add('doors', () => undefined);
  stack.push('readiness', async () => {
    readiness.add('doors', () => notReady('stopping'));
    // After a failure of the store nothing can be acknowledged any more.
    if (grace.ms === GRACE_MS) await leave(stopDelayMs(config), http, chat);
  });
  stack.push('reload', () => configuration.stop());
  return {
    reload: (who) => configuration.reload(who),
    addresses: {
      ...(opened.smtp && { smtp: opened.smtp }),
      ...(http && { http: http.address }),
      admin: { host: config.admin.host, port: console.port },
      ...(localUrl.value !== undefined && { platform: { url: localUrl.value } }),
    },
  };
}
