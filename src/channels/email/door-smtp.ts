import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { Intake } from '../../intake/intake.ts';
import type { AddressDirectory } from './routing.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { type Clock, everyInStep } from '../../runtime/clock.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import {
  ConnectionLimits,
  type DataPaceOptions,
  type RateOptions,
} from '../../runtime/connection-limits.ts';
import { createNetworks, type Networks } from '../../runtime/ip-addresses.ts';
import { listenOn } from '../../runtime/listen.ts';
import { type DoorCheck, DoorReport, type MessageRateOptions } from './door.ts';
import { createEnvelopeHandlers, DataHandler, TransactionDirectories } from './smtp-transaction.ts';
import {
  type ConnectionRules,
  type IdleLimits,
  ReplyBatch,
  SmtpConnection,
} from './smtp-connection.ts';
import { type RefusalReason, SmtpRefusal } from './refusals.ts';
import type { TlsMaterial } from './tls.ts';
import { type UnknownRecipientOptions, UnknownRecipients } from './unknown-recipients.ts';

/** Sizes in bytes, times in milliseconds. */
export interface EmailServerOptions extends IdleLimits {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** The name in the greeting and in Received headers. */
  readonly hostname: string;
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  /** New connections per client and period. */
  readonly connectionRate: RateOptions;
  /** Addresses and CIDR blocks without limits and rates per client. */
  readonly trustedRelays: readonly string[];
  /** New messages per client and period. */
  readonly messageRate: MessageRateOptions;
  readonly maxRecipients: number;
  readonly unknownRecipients: UnknownRecipientOptions;
  readonly maxErrors: number;
  readonly maxJunkCommands: number;
  /** Without any command or data. */
  readonly idleMs: number;
  /** A session that has been idle for this long is closed if no connection is left. */
  readonly displaceAfterMs: number;
  /** LMTP instead of SMTP (RFC 2033): behind an MTA, with one reply per recipient. */
  readonly lmtp: boolean;
  readonly dataPace: DataPaceOptions;
  /** From the final dot to the reply. */
  readonly answerWithinMs: number;
  /** How often slow clients and late answers are checked for. */
  readonly checkEveryMs: number;
  /** Addresses of proxies that send a PROXY protocol header (version 1). No other header is read. */
  readonly proxyProtocol: readonly string[];
}

/** Defaults; the gateway overrides them with the configuration. */
export const EMAIL_SERVER_DEFAULTS = {
  maxMessageBytes: 35 * 1024 * 1024,
  maxConnections: 1000,
  maxConnectionsPerIp: 20,
  trustedRelays: ['127.0.0.0/8', '::1/128'],
  connectionRate: { connections: 120, perMs: 60_000 },
  messageRate: { messages: 300, perMs: 60_000 },
  maxRecipients: 100,
  unknownRecipients: { free: 20, perMs: 600_000, waitMs: 3000, maxWaitMs: 30_000 },
  maxErrors: 20,
  maxJunkCommands: 100,
  idleMs: 300_000,
  // Any client that sends only occasionally is disconnected within five minutes.
  noMessageMs: 290_000,
  handshakeMs: 30_000,
  displaceAfterMs: 10_000,
  lmtp: false,
  dataPace: { minBytesPerSecond: 500, windowMs: 30_000, totalMs: 600_000 },
  answerWithinMs: 60_000,
  checkEveryMs: 1000,
  proxyProtocol: [],
} as const satisfies Partial<EmailServerOptions>;

export interface EmailServerParts {
  readonly intake: Intake;
  readonly blobs: BlobStore;
  readonly authenticator?: DoorCheck;
  readonly directory: AddressDirectory;
  readonly tls: TlsMaterial;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The time of day, for Received lines and `receivedAt`. */
  readonly clock: Clock;
  /** For tests: waits before a reply. */
  readonly delay?: typeof delay;
}

export interface EmailServer {
  /** Resolves when the server listens. Rejects if the port is not available. */
  start(): Promise<{ readonly port: number }>;
  /**
   * Accepts no new connections. Messages in DATA may finish within the grace period; all other
   * sessions get 421. Resolves when every connection is closed, shortly after the grace period at
   * the latest.
   */
  stop(graceMs: number): Promise<void>;
}

/** The SMTP (or LMTP) door: receives messages and acknowledges each one when it is durable. */
export function createEmailServer(
  options: EmailServerOptions,
  parts: EmailServerParts,
): EmailServer {
  const { logger, metrics, tls } = parts;
  const trusted = createNetworks(options.trustedRelays);
  const limits = new ConnectionLimits(options, trusted);
  let draining = false;
  let endIdleChecks = (): void => undefined;

  const report = new DoorReport('smtp', parts);
  const onRefused = (reason: RefusalReason, session: string) => report.refused(reason, { session });
  const directories = new TransactionDirectories(parts.directory);
  const data = new DataHandler(options, { ...parts, directories, trusted, report });
  const { unknownRecipients, maxConnections } = options;
  const unknown = new UnknownRecipients(unknownRecipients, maxConnections, parts.delay);
  const handlerParts = { ...parts, directories, trusted, unknown, report };
  const envelope = createEnvelopeHandlers(options, handlerParts);
  const listener = new SmtpListener(libraryOptions(options, tls), {
    maxErrors: options.maxErrors,
    maxJunkCommands: options.maxJunkCommands,
    isDraining: () => draining,
    admit: (address) => {
      const now = performance.now();
      let admission = limits.admit(address, now);
      if (admission === 'full') {
        listener.stalest(trusted, now, options.displaceAfterMs)?.cutOff('displaced');
        admission = limits.admitWhenRoom(address);
      }
      metrics.smtpConnections.set(limits.open);
      return admission === 'admitted';
    },
    release: (address) => {
      limits.release(address);
      metrics.smtpConnections.set(limits.open);
    },
    onRefused,
  });
  // Connections above the limits still get a 421 and a moment to close; this limits those.
  listener.server.maxConnections = 2 * options.maxConnections;
  serveTransactions(listener, options.maxRecipients, envelope, data, onRefused);
  listener.onClose = (session) => unknown.end(session);
  // A connection reset during DATA is reported here; without a listener it would end the process.
  listener.on('error', (error: Error) => {
    logger.debug('smtp.connection_error', errorFields(error));
  });
  const stopWatchingTls = tls.onChange((material) => {
    listener.updateSecureContext(material);
    logger.info('smtp.tls_reloaded');
  });

  return {
    async start() {
      const port = await listenOn(listener.server, {
        ...{ host: options.host, port: options.port, backlog: 1024 },
        onNoIpv6: () => logger.warn('listen.no_ipv6', { door: 'smtp' }),
      });
      data.start();
      endIdleChecks = everyInStep(options.checkEveryMs, () =>
        listener.endIdle(performance.now(), options),
      );
      return { port };
    },
    async stop(graceMs) {
      draining = true;
      stopWatchingTls();
      let graceTimer: NodeJS.Timeout | undefined;
      const graceOver = new Promise<void>((resolve) => {
        graceTimer = setTimeout(() => {
          listener.destroyAll();
          resolve();
        }, graceMs);
      });
      await listener.closeListener();
      // A store that hangs must not keep the process running; its pending writes were not
      // acknowledged.
      await Promise.race([data.idle(), graceOver]);
      clearTimeout(graceTimer);
      endIdleChecks();
      data.close();
    },
  };
}

/** Admits every session, and passes its transactions to the handlers. */
function serveTransactions(
  listener: SmtpListener,
  maxRecipients: number,
  envelope: ReturnType<typeof createEnvelopeHandlers>,
  data: DataHandler,
  onRefused: (reason: RefusalReason, session: string) => void,
): void {
  listener.onConnect = (_session, callback) => {
    callback();
  };
  listener.onSecure = (_socket, _session, callback) => {
    callback();
  };
  listener.onMailFrom = (address, session, callback) => {
    listener.connectionOf(session)?.transactionStarted();
    envelope.onMailFrom(address, session, callback);
  };
  listener.onRcptTo = (address, session, callback) => {
    const connection = listener.connectionOf(session);
    // The library does not count repeated recipients, so they would be unlimited.
    if ((connection?.rcpts.length ?? 0) >= maxRecipients) {
      onRefused('too_many_recipients', session.id);
      callback(new SmtpRefusal('too_many_recipients'));
      return;
    }
    envelope.onRcptTo(address, session, (error) => {
      if (!error) connection?.rcptAccepted(address.address);
      callback(error);
    });
  };
  listener.onData = (stream, session, callback) => {
    const connection = listener.connectionOf(session);
    if (connection !== undefined) data.receive(stream, session, connection, callback);
  };
}

function libraryOptions(options: EmailServerOptions, tls: TlsMaterial): SMTPServerOptions {
  return {
    ...tls.current(),
    name: options.hostname,
    heloResponse: '%s',
    lmtp: options.lmtp,
    size: options.maxMessageBytes,
    maxRecipients: options.maxRecipients,
    socketTimeout: options.idleMs,
    // Limits sockets that wait for their PROXY header; sessions have separate limits.
    maxClients: options.maxConnections,
    useProxy: options.proxyProtocol.length > 0 ? [...options.proxyProtocol] : false,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    hideENHANCEDSTATUSCODES: false,
    lenientAddressParsing: true,
    disableReverseLookup: true,
    maxCommandLength: 4096,
    logger: false,
  };
}

type ListenerRules = Omit<ConnectionRules, 'onClosed' | 'replies'>;

/** smtp-server's listener with sessions of our own class, tracked until they are closed. */
class SmtpListener extends SMTPServer {
  readonly #rules: ListenerRules;
  readonly #live = new Set<SmtpConnection>();
  readonly #bySession = new WeakMap<SMTPServerSession, SmtpConnection>();
  readonly #replies = new ReplyBatch();
  readonly #sockets = new Set<Socket>();

  constructor(options: SMTPServerOptions, rules: ListenerRules) {
    super(options);
    this.#rules = rules;
    this.server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  connectionOf(session: SMTPServerSession): SmtpConnection | undefined {
    return this.#bySession.get(session);
  }

  /** The session that has been idle the longest, for at least `atLeastMs`. */
  stalest(trusted: Networks, now: number, atLeastMs: number): SmtpConnection | undefined {
    let stalest: SmtpConnection | undefined;
    let longest = atLeastMs;
    for (const connection of this.#live) {
      if (connection.isClosing || trusted.has(connection.remoteAddress)) continue;
      const stalled = connection.stalledMs(now);
      if (stalled < longest) continue;
      stalest = connection;
      longest = stalled;
    }
    return stalest;
  }

  /** Ends sessions that send commands but no message, or do not finish a TLS handshake. */
  endIdle(now: number, limits: IdleLimits): void {
    for (const connection of this.#live) {
      if (!connection.isClosing && connection.isIdle(now, limits)) connection.cutOff('idle');
    }
  }

  override connect(socket: Socket | TLSSocket, options?: SMTPConnectionOptions | null): void {
    const connection = new SmtpConnection(
      this,
      socket,
      { ...this.#rules, replies: this.#replies, onClosed: () => this.#live.delete(connection) },
      options,
    );
    this.connections.add(connection);
    this.#live.add(connection);
    this.#bySession.set(connection.session, connection);
    connection.on('error', (error: Error) => this._onError(error));
    connection.init();
  }

  /** Accepts no new connections; resolves when the last one is closed. */
  async closeListener(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    // These have sent no PROXY header yet, so no session exists that could reply.
    for (const socket of this._pendingSockets.values()) socket.destroy();
    for (const connection of this.#live) connection.drain();
    await closed;
  }

  destroyAll(): void {
    for (const connection of this.#live) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}
