import { type CompleteConfig, stopDelayMs } from '../config/complete.ts';
import type { ReloadResult } from '../console/contract.ts';
import type { RunBeside } from '../console/server/people-routes.ts';
import type { ConfigSource } from './config-source.ts';
import type { Logger } from '../observability/logger.ts';
import { type RunningChat, startChat } from './chat.ts';
import { openConsole, type RunningConsole } from './console.ts';
import type { FleetWatch } from './fleet-watch.ts';
import { deskAccess } from './desk.ts';
import { createConfigurationService } from './configuration-service.ts';
import type { LoadedDelivery } from './delivery/delivery-thread.ts';
import { openDelivery, type OpenDelivery } from './delivery/open-delivery.ts';
import { connectPlatforms } from './platforms.ts';
import { startSmsReconciliation } from './sms-reconciliation.ts';
import { recordBlocked } from '../channels/sms/normalize/consent.ts';
import { Backlog, createIntake } from '../intake/intake.ts';
import { createReadiness } from '../observability/readiness.ts';
import type { OpenedStore } from '../spool/open-store.ts';
import { leave, type ListenAddress, openCertificate, openHttp, openSmtp } from './doors.ts';
import {
  type Base,
  notReady,
  openIndex,
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
  /** Runs the commands that the console offers; without it, they are refused. */
  readonly runBeside?: RunBeside;
  /** Delivers in this thread, so that `logger` gets all lines: for tests. */
  readonly deliversHere?: boolean;
}

export interface Running {
  readonly addresses: Addresses;
  readonly reload: (who: string) => Promise<ReloadResult>;
}

interface StartParts {
  readonly options: GatewayOptions;
  readonly base: Base;
  readonly store: OpenedStore;
  /** Without them, this thread delivers. */
  readonly threads: LoadedDelivery | undefined;
}

/**
 * The composition root. It builds every part from the configuration and starts them from the inside
 * out, so that a door opens only when everything behind it works. They stop in reverse order.
 */
export async function start({ options, base, store, threads }: StartParts): Promise<Running> {
  const { config, live, metrics, clock, tracing, stack, grace } = base;
  const graceMs = grace.ms;
  const readiness = createReadiness();

  const index = await openIndex(base, store);
  readiness.add('spool', () => store.spool.probe());

  // Set later, when the parts behind them exist.
  const opened: {
    delivery?: OpenDelivery;
    console?: RunningConsole;
    chat?: RunningChat | undefined;
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
  const { clients, localUrl, ...platforms } = await connectPlatforms({
    ...{ ...base, store },
    onBlocked: (blocked) => recordBlocked(blocked, { optOuts: store.optOuts, intake }),
    onTicketChanged: (ticket) => opened.console?.ticketChanged(ticket),
    onReply: (reply) => opened.chat?.replied(reply),
    onSeen: (message) => opened.chat?.seen(message),
  });
  const desk = deskAccess(live, platforms);
  const chat = startChat({ ...base, store, intake, clients, platforms });
  opened.chat = chat;
  stack.push('reply poller', () => chat?.stopReplies());
  const delivery = await openDelivery({
    ...{ ...base, store, intake, threads, localUrl, hasReply: platforms.hasReply },
    onSettled: (entry, state) => {
      chat?.onSettled(entry, state);
      opened.console?.onSettled(entry, state);
    },
  });
  opened.delivery = delivery;

  readiness.add('disk', () => takesMessages(intake));

  startHousekeeping(base, store, backlog);
  const tls = await openCertificate(base);
  const { status, alerting, incidents } = await startMonitoring(
    base,
    store,
    index,
    () => delivery.health(),
    tls,
    () => opened.fleet?.latest,
    desk,
    () => chat?.refusedPages() ?? [],
  );

  const configuration = createConfigurationService(options, {
    ...base,
    operator: store.operator,
    incidents,
    status,
    onReloaded: () => delivery.tryNow(),
  });

  // Readiness of the doors comes last: one open listener must not report that all are open.
  readiness.add('doors', () => notReady('starting'));
  const http = await openHttp(base, store, intake, chat, readiness, platforms);
  const console = await openConsole({
    ...{ ...base, store, index, readiness, status, configuration, incidents, desk },
    runBeside: options.runBeside,
    wake: () => delivery.wake(),
    metricsText: () => delivery.metricsText(),
    health: () => delivery.health(),
    doors: () => ({
      ...(opened.smtp && { smtp: opened.smtp }),
      ...(http && { http: http.address }),
    }),
    platformUrl: () => localUrl.value,
    hasReply: platforms.hasReply,
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
    if (grace.ms === graceMs) await leave(stopDelayMs(config), http, chat);
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
