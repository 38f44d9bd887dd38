import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompleteConfig } from '../config/complete.ts';
import { ApiTokens } from '../console/server/api-tokens.ts';
import { createAdminApp } from '../console/server/admin-app.ts';
import { Actions } from '../console/server/actions.ts';
import { type Audit, createAudit } from '../console/server/audit.ts';
import type { Alert } from '../console/contract.ts';
import type { RunBeside } from '../console/server/people-routes.ts';
import type { IncidentLog } from '../operations/alerts/incident-log.ts';
import { type DeskAccess, deskSummary } from '../console/server/desk-access.ts';
import { Devices, Sessions } from '../console/server/sessions.ts';
import { LiveFigures } from '../console/server/live-figures.ts';
import { Stream } from '../console/server/stream.ts';
import { OPERATOR, type OperatorAccount, Operators } from '../console/server/operators.ts';
import { overviewOf } from '../console/server/overview.ts';
import { SignIn } from '../console/server/sign-in.ts';
import type { ChangedTicket } from '../domain/desk.ts';
import type { CollectStatus, InstanceReport } from '../observability/status.ts';
import type { Readiness } from '../observability/readiness.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { EntryIndex } from '../spool/entry-index.ts';
import type { Store } from '../spool/store.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { EntryId } from '../domain/ids.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { consoleContents } from './console-contents.ts';
import type { ReadingParts } from './normalizers.ts';
import { consoleRoutes, shopNames } from './console-routes.ts';
import { Arrivals, type Doors } from './console-test-message.ts';
import { createHttpDoor, clientIpOf } from './public-http.ts';
import type { Delivery, OnSettled } from './delivery/delivery.ts';
import type { LiveConfig } from './live-config.ts';
import { LocalDoor } from './local-door.ts';
import type { ShopClient } from './platforms.ts';
import { version } from './version.ts';
import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { clientAddress, ipNetwork } from '../runtime/ip-addresses.ts';
import { type Channel, CHANNELS } from '../domain/channel.ts';

/** Where the build puts the page; the same path from src/gateway/ and from dist/gateway/. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dist/console/page/', import.meta.url));

export interface ConsoleParts {
  readonly live: LiveConfig;
  readonly configuration: ConfigurationService;
  readonly store: Store;
  readonly index: EntryIndex;
  readonly shops: () => readonly ShopClient[];
  readonly status: CollectStatus;
  readonly health: Delivery['health'];
  readonly alerts: () => readonly Alert[];
  readonly desk: DeskAccess;
  readonly incidents: Pick<IncidentLog, 'all'>;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** All metrics, as a scraper reads them. */
  readonly metricsText: () => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stack: StopStack;
  /** The addresses of the gateway's own listeners, for test messages. */
  readonly doors: () => Doors;
  /** The URL of the embedded platform while it runs. */
  readonly platformUrl: () => string | undefined;
  readonly hasReply: ReadingParts['hasReply'];
  readonly runBeside: RunBeside | undefined;
  /** Called when an entry may have become ready to claim. */
  readonly wake: () => void;
}

/** The open admin listener. */
export interface RunningConsole {
  readonly port: number;
  /** Reports a new or changed entry to the open pages. */
  entryChanged(id: EntryId): void;
  /** The same for a ticket of the local platform. */
  ticketChanged(ticket: ChangedTicket): void;
  readonly onSettled: OnSettled;
  /** What the gateway does now, for the other gateways. */
  figures(): Promise<Pick<InstanceReport, 'acceptedPerMinute' | 'deliveredPerMinute' | 'sockets'>>;
  stop(): Promise<void>;
}

/** Opens the console, its API and the metrics on the admin listener. */
export async function openConsole(parts: ConsoleParts): Promise<RunningConsole> {
  const { live, store, index, clock, logger, metrics } = parts;
  const { host, port, hosts } = live.value.admin;
  const audit = countedAudit(parts);
  const tokens = new ApiTokens({ store: store.apiTokens, clock, logger });
  const local = new LocalDoor();
  const { signIn, sessions, people } = await openSignIn(parts, { audit, tokens, local });
  const queued = async () => {
    const { counts } = await parts.status();
    return counts.reduce((sum, { state, count }) => sum + (state === 'queued' ? count : 0), 0);
  };
  const figures = new LiveFigures({ metrics, clock, queued, logger });
  const overview = () =>
    overviewOf({
      ...{ status: parts.status, figures, alerts: parts.alerts, version: version() },
      demo: live.value.demo,
      limits: live.value.alerts.rules,
      enabled: () => enabledChannels(live.value),
    });
  const desk = () => deskSummary(parts.desk, clock);
  const stream = new Stream({ overview, desk, sessions, tokens, logger });
  const shops = shopNames(parts.shops);
  const arrivals = new Arrivals();
  const actions = new Actions({
    ...{ spool: store.spool, operator: store.operator, index, audit, logger, wake: parts.wake },
    isServed: (id) => shops.isServed(id),
    onProgress: (data) => stream.publish({ event: 'action', data }),
    onChanged: (id) => stream.entryChanged(id),
  });
  const app = createAdminApp({
    ...{ readiness: parts.readiness, metrics: parts.metricsText, logger, signIn },
    pageFolder: PAGE_FOLDER,
    ...{ host, hosts },
    routes: consoleRoutes({
      ...{ parts, audit, actions, shops, arrivals, overview, figures, stream, people },
      contents: consoleContents(parts),
    }),
  });
  await figures.start();
  stream.start();
  const listener = createHttpDoor('console', app, { live, logger, metrics });
  const opened = await listener.listen(host, port);
  await local.open(live.value.dataDir, app, logger);
  return {
    port: opened,
    entryChanged: (id) => {
      arrivals.accepted(id);
      stream.entryChanged(id);
    },
    ticketChanged: ({ shopId, id }) => {
      const shop = parts.desk.shops().find((each) => each.shopId.toLowerCase() === shopId);
      if (shop !== undefined) stream.ticketChanged(shop.name, id);
    },
    onSettled: ({ id, channel, receivedAt }, state) => {
      stream.entryChanged(id);
      if (state === 'delivered') figures.delivered(channel, clock() - receivedAt);
    },
    figures: async () => {
      const [{ accepted, delivered }, { sockets }] = await Promise.all([
        figures.rates(),
        parts.status(),
      ]);
      return {
        acceptedPerMinute: totalOf(accepted),
        deliveredPerMinute: totalOf(delivered),
        sockets,
      };
    },
    stop: async () => {
      await actions.stop();
      stream.stop();
      await figures.stop();
      await Promise.all([listener.stop(0), local.stop()]);
    },
  };
}

const totalOf = (perChannel: Readonly<Record<Channel, number>>): number =>
  CHANNELS.reduce((total, channel) => total + perChannel[channel], 0);

function countedAudit({ store, metrics, logger }: ConsoleParts): Audit {
  return createAudit(
    {
      audit: (line) => {
        metrics.operatorActions.inc({ action: line.action });
        return store.operator.audit(line);
      },
    },
    logger,
  );
}

/** Who may use the console: operators, programs with a token, and the token of the metrics. */
async function openSignIn(
  { live, store, clock, logger }: ConsoleParts,
  { audit, tokens, local }: { audit: Audit; tokens: ApiTokens; local: LocalDoor },
): Promise<{
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  /** The names of those who can sign in. */
  readonly people: () => readonly string[];
}> {
  const config = live.value;
  const operators = new Operators(accountsOf(config));
  const file = join(config.dataDir, 'console-sessions.json');
  const sessions = await Sessions.open({
    ...{ file, files: store.files, operators, clock, logger },
  });
  live.add({
    name: 'operators',
    reads: ['admin.password', 'admin.operators'],
    prepare: (next) => {
      const accounts = accountsOf(next);
      let changed: readonly string[] = [];
      return {
        commit: () => void (changed = operators.replace(accounts)),
        after: () => sessions.endOf(changed),
      };
    },
  });
  const proxies = live.derive('console proxies', ['http.trustProxy'], ({ http }) => ({
    network: networkOf(http.trustProxy),
    isSecure: isSecureOf(http.trustProxy),
  }));
  const isMetricsToken = live.derive('metrics token', ['admin.metricsToken'], ({ admin }) =>
    equals(admin.metricsToken?.reveal()),
  );
  const signIn = new SignIn({
    ...{ operators, sessions, tokens, audit, clock, openBudget: store.openBudget },
    devices: new Devices({ key: deviceKeyOf(config), operators, clock }),
    localUser: (request) => local.userOf(request),
    isMetricsToken: (given) => isMetricsToken.value(given),
    network: (request) => proxies.value.network(request),
    isSecure: (request) => proxies.value.isSecure(request),
  });
  return { signIn, sessions, people: () => operators.names };
}

function accountsOf({ admin }: CompleteConfig): OperatorAccount[] {
  return [
    { name: OPERATOR, password: admin.password.reveal() },
    ...(admin.operators ?? []).map(({ name, password, role }) => ({
      ...{ name, role, password: password.reveal() },
    })),
  ];
}

/** A separate key, derived (RFC 5869 §3.2) from one that persists across restarts. */
function deviceKeyOf({ chatTokenKeys: [first] }: CompleteConfig): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', first?.secret.reveal() ?? '', '', 'console device', 32));
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in constant time. Without a configured secret, nothing matches. */
function equals(secret: string | undefined): (given: string) => boolean {
  if (secret === undefined) return () => false;
  const known = digestOf(secret);
  return (given) => timingSafeEqual(digestOf(given), known);
}

/** The network whose login attempts are counted together. */
export function networkOf(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  const clientIp = clientIpOf(trustProxy);
  return (request) => ipNetwork(clientIp(request));
}

/** Whether a trusted proxy says that the browser uses TLS; this listener itself does not. */
export function isSecureOf(trustProxy: readonly string[]): (request: IncomingMessage) => boolean {
  if (trustProxy.length === 0) return () => false;
  const trust = proxyAddr.compile([...trustProxy]);
  return ({ headers, socket }) => {
    const proto = headers['x-forwarded-proto'];
    const first = typeof proto === 'string' ? proto.split(',', 1)[0]?.trim().toLowerCase() : '';
    return first === 'https' && trust(clientAddress(socket.remoteAddress ?? ''), 0);
  };
}

/** The channels that at least one shop has and whose listener is open. */
export function enabledChannels({ shops, smtp, http }: CompleteConfig): ReadonlySet<Channel> {
  const channels = shops.flatMap(({ email, sms, chat }): Channel[] => [
    ...(email !== undefined && (smtp.enabled || http.enabled) ? (['email'] as const) : []),
    ...(sms !== undefined && http.enabled ? (['sms'] as const) : []),
    ...(chat !== undefined && http.enabled ? (['web_chat'] as const) : []),
  ]);
  return new Set(channels);
}
