/**
 * The path of an email from the socket to the payload, with the file of each step:
 *
 * 1. A client connects (door-smtp.ts) within its limits and speaks SMTP or LMTP
 *   (smtp-connection.ts, smtp-parser.ts); or it posts the message (door-http.ts).
 * 2. MAIL FROM and RCPT TO are answered, checking rate (createMessageRate in this file), disk space
 *   and the recipient's shop (smtp-transaction.ts, routing.ts). refusals.ts defines the error
 *   replies.
 * 3. The bytes stream into a MessageSink (receiveData in this file, receive.ts).
 * 4. acceptMessage creates one arrival per inbox (selectInboxes in routing.ts): lane, dedup key and
 *   remote id (receive.ts).
 *   For a shop that rejects forged mail, the sender is checked first.
 * 5. The intake commits the entries; the door acknowledges, counts and logs the message
 *   (DoorReport).
 * 6. At delivery, normalize.ts reads the stored message (stored.ts) with the shop's settings
 *   (shop.ts), has the sender checked (authentication/authenticator.ts) and passes the message to a
 *   worker thread (normalize/threads/mail-worker-pool.ts).
 * 7. There, normalize/normalize-message.ts turns head, body and parts into the request and its
 *   files.
 *
 * view/message-viewer.ts renders a message for the console.
 */
import { isIPv6 } from 'node:net';
import type { Readable } from 'node:stream';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { withinMs } from '../../runtime/clock.ts';
import { ipNetwork, type Networks } from '../../runtime/ip-addresses.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { Accepted } from '../../spool/entry.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import { isRejected, UNENDED_VERDICT } from './authentication/verdict.ts';
import {
  type EmailArrival,
  type Envelope,
  type MessageSink,
  type StoredMessage,
  toArrivals,
} from './receive.ts';
import { SmtpRefusal } from './refusals.ts';
import type { AddressDirectory } from './routing.ts';
import { openRaw } from './stored.ts';
import { atWork } from '../../runtime/main-thread.ts';

/** The client waits for the check. */
const CHECKED_WITHIN_MS = 15_000;
/** RFC 5321 §6.3: a message with more Received headers is assumed to be in a loop. */
const MAX_RECEIVED = 50;

/** One entry of a message, and its recipients in the envelope. */
export interface StoredEntry extends Accepted {
  readonly recipients: readonly string[];
}

interface AcceptParts {
  readonly intake: Pick<Intake, 'accept'>;
  readonly directory: AddressDirectory;
  readonly blobs: Pick<BlobStore, 'scratch' | 'remove'>;
  /** Used only for shops that reject forged mail. */
  readonly authenticator?: DoorCheck;
}

/**
 * The last step of every email door: stores a completely received message as one entry per inbox.
 * The entries, at least one, are durable when it resolves.
 * @throws {SmtpRefusal} {SpoolFull} {SpoolUnavailable} nothing was accepted; abort the sink
 */
export async function acceptMessage(
  sink: MessageSink,
  envelope: Envelope,
  parts: AcceptParts,
): Promise<readonly [StoredEntry, ...StoredEntry[]]> {
  if (sink.head().count('received') > MAX_RECEIVED) throw new SmtpRefusal('loop');
  // The bytes are stored before the entries that refer to them.
  const message = await sink.store();
  try {
    return await acceptStored(message, envelope, parts);
  } catch (error) {
    // After any other failure, the entries may have been stored and refer to the file.
    const isUnreferenced = error instanceof SmtpRefusal || error instanceof SpoolFull;
    if (isUnreferenced && message.raw.kind === 'file') {
      // The reply does not depend on it: the next start removes a file that remains.
      await parts.blobs.remove(message.raw.blob).catch(() => undefined);
    }
    throw error;
  }
}

async function acceptStored(
  message: StoredMessage,
  envelope: Envelope,
  { intake, directory, blobs, authenticator }: AcceptParts,
): Promise<readonly [StoredEntry, ...StoredEntry[]]> {
  const arrivals = await refuseForged(
    toArrivals(directory, message, envelope),
    directory,
    blobs,
    authenticator,
  );
  const accepted = arrivals.length === 0 ? [] : await intake.accept(arrivals);
  const [first, ...others] = accepted.map((each, index) => ({
    ...each,
    recipients: arrivals[index]?.meta.envelopeTo ?? [],
  }));
  // Its recipients belong to no shop any more: the directory has changed since RCPT TO.
  if (first === undefined) throw new SmtpRefusal('unavailable');
  return [first, ...others];
}

export type DoorCheck = Pick<Authenticator, 'check'>;

/**
 * For shops with `dmarc: reject`: checks the sender before the message is accepted, and stores the
 * verdict with it. There is only one reply for all recipients, so a message that is also for other
 * shops is accepted, and held for the shop that would reject it. So is one whose check does not end
 * in time: it is checked again at delivery.
 * @throws {SmtpRefusal} every shop rejects it
 */
async function refuseForged(
  arrivals: readonly EmailArrival[],
  directory: AddressDirectory,
  blobs: Pick<BlobStore, 'scratch'>,
  authenticator: DoorCheck | undefined,
): Promise<readonly EmailArrival[]> {
  if (authenticator === undefined) return arrivals;
  const checked = await Promise.all(
    arrivals.map(async (arrival) => {
      const rules = directory.shop(arrival.shopId)?.refusesForged;
      if (rules === undefined) return arrival;
      const { source: raw, dispose } = await openRaw(arrival.raw, blobs);
      const check = authenticator
        .check({ ...arrival.meta, raw, ...rules })
        .then((verdict) => dispose().then(() => verdict));
      const authentication = await withinMs(check, CHECKED_WITHIN_MS, () => UNENDED_VERDICT);
      if (authentication.unfinished !== undefined) return arrival;
      return { ...arrival, meta: { ...arrival.meta, authentication } };
    }),
  );
  if (checked.length > 0 && checked.every(({ meta }) => isRejected(meta.authentication))) {
    throw new SmtpRefusal('dmarc');
  }
  return checked;
}

/** Converts any error to a reply; an internal error never becomes a 5xx. */
export function toRefusal(error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error;
  return new SmtpRefusal(error instanceof SpoolFull ? 'disk_short' : 'unavailable', {
    cause: error,
  });
}

export interface MessageRateOptions {
  readonly messages: number;
  readonly perMs: number;
}

/**
 * Counts the messages that each client begins; trusted relays have no limit. The returned function
 * rejects with the refusal `rate` if the client is above it.
 */
export function createMessageRate(
  { messages, perMs }: MessageRateOptions,
  trusted: Networks,
): (remoteAddress: string) => Promise<void> {
  const rate = new RateLimiterMemory({ points: messages, duration: perMs / 1000 });
  return async (remoteAddress) => {
    if (trusted.has(remoteAddress)) return;
    try {
      await rate.consume(ipNetwork(remoteAddress));
    } catch (error) {
      // The limiter rejects with its own result, which is not an Error.
      throw error instanceof RateLimiterRes ? new SmtpRefusal('rate') : error;
    }
  };
}

/** Logs and counts the messages of a door. */
export class DoorReport {
  readonly #door: 'smtp' | 'inbound';
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #ackSeconds: { observe(seconds: number): void };

  /** @param door the prefix of its log events */
  constructor(
    door: 'smtp' | 'inbound',
    { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  ) {
    this.#door = door;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#ackSeconds = metrics.ackSeconds.labels('email');
  }

  /**
   * @param late the client already got a temporary error and will send the message again, as a
   * duplicate
   * @param ms from the last byte to the reply
   */
  accepted(
    taken: readonly StoredEntry[],
    { bytes, ms, session, late = false }: SessionFields & AcceptedFields,
  ): void {
    const fields = {
      entry: taken.map(({ id }) => id).join(','),
      duplicate: taken.every(({ duplicate }) => duplicate),
      ...(session !== undefined && { session }),
      bytes,
      ms: Math.round(ms),
    };
    if (late) {
      this.#logger.warn(`${this.#door}.accepted_late`, fields);
      return;
    }
    this.#logger.info(`${this.#door}.accepted`, fields);
    this.#ackSeconds.observe(ms / 1000);
  }

  refused(reason: string, fields: SessionFields = {}): void {
    this.#metrics.refused.inc({ channel: 'email', reason });
    this.#logger.info(`${this.#door}.refused`, { reason, ...fields });
  }

  /** Logs the error behind a refusal that is caused by the gateway itself. */
  failed(error: unknown, fields: SessionFields = {}): void {
    this.#logger.error(`${this.#door}.failed`, { ...fields, ...errorFields(error) });
  }

  /** The client disconnected before the end of its message. */
  vanished(bytes: number, fields: SessionFields = {}): void {
    this.#logger.info(`${this.#door}.vanished`, { ...fields, bytes });
  }
}

interface SessionFields {
  readonly session?: string;
}

interface AcceptedFields {
  readonly bytes: number;
  readonly ms: number;
  readonly late?: boolean;
}

/** The circumstances in which a message arrived. */
interface EnvelopeFacts extends Omit<Envelope, 'receivedHeader'> {
  /** This host's name. */
  readonly hostname: string;
  /** `ESMTPS` or a similar name (RFC 3848). */
  readonly protocol: string;
  /** The id of the transaction, for the Received header. */
  readonly id: string;
}

/** The envelope of a message, with the `Received:` header of this host. */
export function createEnvelope({ hostname, protocol, id, ...facts }: EnvelopeFacts): Envelope {
  return { ...facts, receivedHeader: receivedHeader(facts, { hostname, protocol, id }) };
}

/** The trace header of RFC 5321 §4.4, folded. Client input cannot escape from its field. */
function receivedHeader(
  { remoteAddress, heloName, recipients, receivedAt }: Omit<Envelope, 'receivedHeader'>,
  { hostname, protocol, id }: Pick<EnvelopeFacts, 'hostname' | 'protocol' | 'id'>,
): string {
  const literal = isIPv6(remoteAddress) ? `[IPv6:${remoteAddress}]` : `[${remoteAddress}]`;
  const helo = heloName.replace(/[^\w.:[\]-]/g, '?');
  const [recipient, ...others] = recipients;
  // With several recipients, the header would show each of them the others.
  const isOne = recipient !== undefined && others.length === 0;
  const target = isOne ? `\r\n\tfor <${recipient.replace(/[\s<>;\p{Cc}]/gu, '?')}>` : '';
  return (
    `Received: from ${helo === '' ? literal : helo} (${literal})\r\n` +
    `\tby ${hostname} with ${protocol} id ${id}${target};\r\n` +
    `\t${rfc5322Date(receivedAt)}`
  );
}

/** `Tue, 01 Jul 2025 10:00:00 +0000` (RFC 5322 §3.3). */
function rfc5322Date(at: number): string {
  return `${new Date(at).toUTCString().slice(0, -'GMT'.length)}+0000`;
}

/** How a transfer ended: complete, larger than allowed, or with the client disconnected. */
type Transfer = 'complete' | 'too_large' | 'vanished';

interface TransferWatch {
  readonly maxBytes: number;
  /** Called when the client has sent far more than the limit. */
  readonly onFlood: () => void;
}

/** A message that is being received. */
export interface Receiving {
  readonly done: Promise<Transfer>;
  /** Reading is paused because received data has not been written yet. */
  readonly waitsForStore: () => boolean;
}

/**
 * Streams a message from DATA, or from a request's body, into the sink with backpressure. A message
 * that is too large is read to its end, because the reply is sent only then, but no longer stored.
 * A client that sends more than twice the limit is disconnected.
 */
export function receiveData(
  stream: Readable,
  sink: MessageSink,
  { maxBytes, onFlood }: TransferWatch,
): Receiving {
  let waiting = false;
  let received = 0;
  const take = (chunk: Buffer): void => {
    atWork('smtp');
    received += chunk.length;
    if (received > 2 * maxBytes) onFlood();
    if (received > maxBytes || sink.write(chunk)) return;
    waiting = true;
    stream.pause();
    sink.whenReady(() => {
      waiting = false;
      stream.resume();
    });
  };
  const done = new Promise<Transfer>((resolve) => {
    stream.on('data', take);
    stream.once('end', () => resolve(received > maxBytes ? 'too_large' : 'complete'));
    // The stream is destroyed if the connection closes before the end of the message.
    stream.once('error', () => resolve('vanished'));
    stream.once('close', () => resolve('vanished'));
  });
  return { done, waitsForStore: () => waiting };
}
