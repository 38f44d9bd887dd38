import { performance } from 'node:perf_hooks';
import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { canonicalAddress } from '../../domain/email-addresses.ts';
import type { Intake } from '../../intake/intake.ts';
import { type Clock, everyInStep } from '../../runtime/clock.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import { DataPace, type DataPaceOptions } from '../../runtime/connection-limits.ts';
import {
  acceptMessage,
  createEnvelope,
  createMessageRate,
  type DoorCheck,
  type DoorReport,
  type MessageRateOptions,
  receiveData,
  type Receiving,
  type StoredEntry,
  toRefusal,
} from './door.ts';
import { type Envelope, MessageSink } from './receive.ts';
import type { Networks } from '../../runtime/ip-addresses.ts';
import type { SmtpConnection } from './smtp-connection.ts';
import { SmtpRefusal } from './refusals.ts';
import type { AddressDirectory } from './routing.ts';
import type { UnknownRecipients } from './unknown-recipients.ts';

interface DataOptions {
  readonly hostname: string;
  /** RFC 2033: each recipient has a separate reply. */
  readonly lmtp: boolean;
  readonly maxMessageBytes: number;
  readonly dataPace: DataPaceOptions;
  readonly answerWithinMs: number;
  /** How often slow clients and late replies are checked for. */
  readonly checkEveryMs: number;
}

interface DataParts {
  readonly intake: Intake;
  readonly blobs: BlobStore;
  readonly authenticator?: DoorCheck;
  readonly directories: TransactionDirectories;
  readonly trusted: Networks;
  readonly report: DoorReport;
  readonly clock: Clock;
}

/** The reply to the final dot: an error, the text after 250, or in LMTP one reply per recipient. */
type Reply = (error?: Error | null, message?: string | (string | Error)[]) => void;

/** One message, from DATA to the reply. */
interface Exchange {
  readonly session: SMTPServerSession;
  readonly connection: SmtpConnection;
  readonly sink: MessageSink;
  readonly reply: Reply;
  readonly pace: DataPace;
  receiving?: Receiving;
  /** When the final dot arrived. */
  dotAt?: number;
  answered: boolean;
}

/** Passes messages from DATA to the intake and replies to the final dot. */
export class DataHandler {
  readonly #options: DataOptions;
  readonly #parts: DataParts;
  readonly #exchanges = new Set<Exchange>();
  #endChecks = (): void => undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: DataOptions, parts: DataParts) {
    this.#options = options;
    this.#parts = parts;
  }

  start(): void {
    this.#endChecks = everyInStep(this.#options.checkEveryMs, () => this.#check(performance.now()));
  }

  /** Resolves when no message is being received or waits for its reply. */
  async idle(): Promise<void> {
    if (this.#exchanges.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  close(): void {
    this.#endChecks();
  }

  receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    connection: SmtpConnection,
    reply: Reply,
  ): void {
    const exchange: Exchange = {
      session,
      connection,
      sink: new MessageSink(this.#parts.blobs),
      reply,
      pace: new DataPace(this.#options.dataPace, performance.now()),
      answered: false,
    };
    connection.messageStarted((now) => stalledMs(exchange, now));
    this.#exchanges.add(exchange);
    void this.#run(exchange, stream);
  }

  async #run(exchange: Exchange, stream: SMTPServerDataStream): Promise<void> {
    try {
      const transfer = await this.#transfer(exchange, stream);
      if (transfer === 'complete') await this.#accept(exchange);
      else if (transfer === 'too_large') throw new SmtpRefusal('too_large');
      else await this.#forget(exchange);
    } catch (error) {
      await exchange.sink.abort().catch(() => undefined);
      this.#refuse(exchange, error);
    }
    this.#exchanges.delete(exchange);
    if (this.#exchanges.size === 0) this.#onIdle?.();
  }

  async #transfer(exchange: Exchange, stream: SMTPServerDataStream) {
    exchange.receiving = receiveData(stream, exchange.sink, {
      maxBytes: this.#options.maxMessageBytes,
      onFlood: () => exchange.connection.destroy(),
    });
    const transfer = await exchange.receiving.done;
    exchange.dotAt = performance.now();
    return transfer;
  }

  async #accept(exchange: Exchange): Promise<void> {
    const { sink, session } = exchange;
    const parts = { ...this.#parts, directory: this.#parts.directories.of(session) };
    this.#acknowledge(exchange, await acceptMessage(sink, this.#envelope(session), parts));
  }

  #acknowledge(exchange: Exchange, accepted: readonly [StoredEntry, ...StoredEntry[]]): void {
    const { session, sink, reply, connection, dotAt = performance.now(), answered } = exchange;
    const ms = performance.now() - dotAt;
    if (!answered) {
      exchange.answered = true;
      const { lmtp } = this.#options;
      reply(null, lmtp ? lmtpReplies(connection.rcpts, accepted) : queuedAs(accepted[0]));
    }
    const fields = { session: session.id, bytes: sink.size, ms, late: answered };
    this.#parts.report.accepted(accepted, fields);
    if (!answered) connection.messageDone(true);
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { session, connection, reply } = exchange;
    const { report } = this.#parts;
    const refusal = toRefusal(error);
    const fields = { session: session.id };
    if (refusal.reason === 'unavailable') report.failed(error, fields);
    if (exchange.answered) return;
    exchange.answered = true;
    report.refused(refusal.reason, fields);
    if (this.#options.lmtp)
      reply(
        null,
        connection.rcpts.map(() => refusal),
      );
    else reply(refusal);
    connection.messageDone(false);
  }

  /** The client disconnected before the final dot: discards the message. */
  async #forget({ sink, session }: Exchange): Promise<void> {
    await sink.abort();
    this.#parts.report.vanished(sink.size, { session: session.id });
  }

  #envelope(session: SMTPServerSession): Envelope {
    const { clock, trusted } = this.#parts;
    const { mailFrom, rcptTo } = session.envelope;
    const { tlsOptions: tls, remoteAddress } = session;
    return createEnvelope({
      hostname: this.#options.hostname,
      protocol: session.transmissionType,
      id: `${session.id}.${session.transaction}`,
      remoteAddress,
      heloName: session.hostNameAppearsAs,
      tls: tls === false ? false : `${tls.version} ${tls.name}`,
      trustedRelay: trusted.has(remoteAddress),
      envelopeFrom: mailFrom === false ? '' : mailFrom.address,
      recipients: rcptTo.map(({ address }) => canonicalAddress(address) ?? address),
      receivedAt: clock(),
    });
  }

  /**
   * One timer for all exchanges, because one per exchange would cost every small message a timer.
   */
  #check(now: number): void {
    for (const exchange of this.#exchanges) {
      const { connection, receiving, pace, dotAt, answered } = exchange;
      if (dotAt === undefined) {
        const waitsForStore = receiving?.waitsForStore() ?? false;
        if (pace.isTooSlow(now, connection.messageBytes, waitsForStore)) {
          connection.refuse('too_slow');
        }
      } else if (!answered && now - dotAt > this.#options.answerWithinMs) {
        this.#refuse(exchange, new SmtpRefusal('unavailable'));
      }
    }
  }
}

/** 0 for a client that waits for us or has sent everything, since it is not stalled. */
function stalledMs({ connection, receiving, pace, dotAt }: Exchange, now: number): number {
  if (dotAt !== undefined || receiving?.waitsForStore() === true) return 0;
  return pace.stalledMs(now, connection.messageBytes);
}

interface EnvelopeOptions {
  readonly messageRate: MessageRateOptions;
}

interface EnvelopeParts {
  readonly intake: Pick<Intake, 'assertSpace'>;
  readonly directories: TransactionDirectories;
  readonly trusted: Networks;
  readonly unknown: Pick<UnknownRecipients, 'slowDown'>;
  readonly report: DoorReport;
}

/** Creates the handlers of MAIL FROM and RCPT TO. */
export function createEnvelopeHandlers(
  { messageRate }: EnvelopeOptions,
  { intake, directories, trusted, unknown, report }: EnvelopeParts,
): Pick<SMTPServer, 'onMailFrom' | 'onRcptTo'> {
  const countMessage = createMessageRate(messageRate, trusted);

  const mayBegin = async (remoteAddress: string): Promise<void> => {
    await countMessage(remoteAddress);
    await intake.assertSpace([]);
  };
  const mayReceive = async (recipient: string, session: SMTPServerSession): Promise<void> => {
    const route = directories.of(session).route(recipient);
    if (route === 'unknown_recipient' && !trusted.has(session.remoteAddress)) {
      await unknown.slowDown(session, performance.now());
    }
    if (typeof route === 'string') throw new SmtpRefusal(route);
    await intake.assertSpace([route.shopId]);
  };
  const refusal = (error: unknown, session: string): SmtpRefusal => {
    const refused = toRefusal(error);
    if (refused.reason === 'unavailable') report.failed(error, { session });
    report.refused(refused.reason, { session });
    return refused;
  };

  return {
    onMailFrom(_address, session, callback) {
      const { remoteAddress, id } = session;
      directories.begin(session);
      mayBegin(remoteAddress).then(
        () => callback(),
        (error: unknown) => callback(refusal(error, id)),
      );
    },
    onRcptTo({ address }, session, callback) {
      mayReceive(address, session).then(
        () => callback(),
        (error: unknown) => callback(refusal(error, session.id)),
      );
    },
  };
}

/**
 * The replies to the final dot in LMTP: one for each RCPT that was answered with 250, in their
 * order, including repeated recipients (RFC 2033 §4.2). Pure.
 */
export function lmtpReplies(
  recipients: readonly string[],
  taken: readonly StoredEntry[],
): (string | SmtpRefusal)[] {
  const byRecipient = new Map<string, StoredEntry>();
  for (const entry of taken.toReversed()) {
    for (const recipient of entry.recipients) byRecipient.set(sameAddress(recipient), entry);
  }
  return recipients.map((recipient) => {
    const entry = byRecipient.get(sameAddress(recipient));
    return entry === undefined ? new SmtpRefusal('unavailable') : queuedAs(entry);
  });
}

/** Of recipients that differ in case only, the library keeps one. */
function sameAddress(address: string): string {
  return (canonicalAddress(address) ?? address).toLowerCase();
}

/** The text after 250. */
function queuedAs({ id }: Pick<StoredEntry, 'id'>): string {
  return `2.0.0 Ok: queued as ${id}`;
}

/**
 * The shops at each session's last MAIL FROM: a recipient that was answered with 250 is still
 * accepted at the final dot, even if its shop was removed meanwhile (RFC 5321 §4.1.1.4: the reply
 * to the data applies to all accepted recipients).
 */
export class TransactionDirectories {
  readonly #directory: AddressDirectory;
  // Weak, so that the entry is collected with its session.
  readonly #ofSession = new WeakMap<object, AddressDirectory>();

  constructor(directory: AddressDirectory) {
    this.#directory = directory;
  }

  /** Called at MAIL FROM. */
  begin(session: object): void {
    this.#ofSession.set(session, this.#directory.snapshot());
  }

  of(session: object): AddressDirectory {
    return this.#ofSession.get(session) ?? this.#directory;
  }
}
