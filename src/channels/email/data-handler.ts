import { performance } from 'node:perf_hooks';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { canonicalAddress } from '../../domain/email-addresses.ts';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import { acceptMessage, type Taken } from './accept-message.ts';
import type { Envelope } from './arrivals.ts';
import type { Networks } from './client-address.ts';
import { DataPace, type DataPaceOptions } from './data-pace.ts';
import { toRefusal } from './envelope-handlers.ts';
import { lmtpReplies, queuedAs } from './lmtp-replies.ts';
import { MessageSink } from './message-sink.ts';
import { receiveData, type Receiving } from './receive-data.ts';
import { receivedHeader } from './received-header.ts';
import type { DoorCheck } from './refuse-forged.ts';
import type { SmtpConnection } from './smtp-connection.ts';
import { type RefusalReason, SmtpRefusal } from './smtp-reply.ts';
import type { TransactionDirectories } from './transaction-directories.ts';

export interface DataOptions {
  readonly hostname: string;
  /** RFC 2033: each recipient has an answer of its own. */
  readonly lmtp: boolean;
  readonly maxMessageBytes: number;
  readonly dataPace: DataPaceOptions;
  readonly answerWithinMs: number;
  /** How often slow clients and late answers are looked for. */
  readonly checkEveryMs: number;
}

export interface DataParts {
  readonly intake: Intake;
  readonly blobs: BlobStore;
  readonly authenticator?: DoorCheck;
  readonly directories: TransactionDirectories;
  readonly trusted: Networks;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly onRefused: (reason: RefusalReason, sessionId: string) => void;
}

/** The answer to the final dot: an error, the text after 250, or in LMTP one for each recipient. */
export type Reply = (error?: Error | null, message?: string | (string | Error)[]) => void;

/** One message, from DATA to the answer. */
interface Exchange {
  readonly session: SMTPServerSession;
  readonly connection: SmtpConnection;
  readonly sink: MessageSink;
  readonly reply: Reply;
  readonly pace: DataPace;
  receiving?: Receiving;
  /** When the final dot came. */
  dotAt?: number;
  answered: boolean;
}

/** Takes messages from DATA to the intake and answers the final dot. */
export class DataHandler {
  readonly #options: DataOptions;
  readonly #parts: DataParts;
  readonly #ackSeconds: { observe(seconds: number): void };
  readonly #exchanges = new Set<Exchange>();
  #checkTimer: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: DataOptions, parts: DataParts) {
    this.#options = options;
    this.#parts = parts;
    this.#ackSeconds = parts.metrics.ackSeconds.labels('email');
  }

  start(): void {
    this.#checkTimer = setInterval(() => {
      this.#check(performance.now());
    }, this.#options.checkEveryMs);
  }

  /** Resolves when no message is on its way and none waits for its answer. */
  async idle(): Promise<void> {
    if (this.#exchanges.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  close(): void {
    clearInterval(this.#checkTimer);
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
      onFlood: () => {
        exchange.connection.destroy();
      },
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

  #acknowledge(exchange: Exchange, accepted: readonly [Taken, ...Taken[]]): void {
    const { logger } = this.#parts;
    const { session, sink, reply, connection, dotAt = performance.now() } = exchange;
    const [first] = accepted;
    const ms = performance.now() - dotAt;
    const fields = {
      entry: accepted.length === 1 ? first.id : accepted.map(({ id }) => id).join(','),
      duplicate: accepted.every(({ duplicate }) => duplicate),
      session: session.id,
      bytes: sink.size,
      ms: Math.round(ms),
    };
    if (exchange.answered) {
      // The sender has been told to come again; its next try is a duplicate of this.
      logger.warn('smtp.accepted_late', fields);
      return;
    }
    exchange.answered = true;
    reply(null, this.#options.lmtp ? lmtpReplies(connection.rcpts, accepted) : queuedAs(first));
    logger.info('smtp.accepted', fields);
    this.#ackSeconds.observe(ms / 1000);
    connection.messageDone(true);
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { session, connection, reply } = exchange;
    const refusal = toRefusal(error);
    if (refusal.reason === 'unavailable') {
      this.#parts.logger.error('smtp.failed', { session: session.id, ...errorFields(error) });
    }
    if (exchange.answered) return;
    exchange.answered = true;
    this.#parts.onRefused(refusal.reason, session.id);
    if (this.#options.lmtp)
      reply(
        null,
        connection.rcpts.map(() => refusal),
      );
    else reply(refusal);
    connection.messageDone(false);
  }

  /** The client went away before the final dot: nothing stays. */
  async #forget({ sink, session }: Exchange): Promise<void> {
    await sink.abort();
    this.#parts.logger.info('smtp.vanished', { session: session.id, bytes: sink.size });
  }

  #envelope(session: SMTPServerSession): Envelope {
    const { clock, trusted } = this.#parts;
    const { mailFrom, rcptTo } = session.envelope;
    const recipients = rcptTo.map(({ address }) => canonicalAddress(address) ?? address);
    const [recipient] = recipients;
    const receivedAt = clock();
    const heloName = session.hostNameAppearsAs;
    const { tlsOptions: tls, remoteAddress } = session;
    return {
      remoteAddress,
      heloName,
      tls: tls === false ? false : `${tls.version} ${tls.name}`,
      trustedRelay: trusted.has(remoteAddress),
      envelopeFrom: mailFrom === false ? '' : mailFrom.address,
      receivedHeader: receivedHeader({
        heloName,
        remoteAddress,
        hostname: this.#options.hostname,
        protocol: session.transmissionType,
        id: `${session.id}.${session.transaction}`,
        ...(recipients.length === 1 && recipient !== undefined && { recipient }),
        at: receivedAt,
      }),
      recipients,
      receivedAt,
    };
  }

  /** One timer looks after all exchanges: one each would cost every small message its own. */
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

/** A client that waits for us, or has sent everything, does not stand still. */
function stalledMs({ connection, receiving, pace, dotAt }: Exchange, now: number): number {
  if (dotAt !== undefined || receiving?.waitsForStore() === true) return 0;
  return pace.stalledMs(now, connection.messageBytes);
}
