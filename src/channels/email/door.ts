/**
 * One email from the socket to the payload, and the file of each step:
 *
 * 1. A client connects (door-smtp.ts, smtp-listener.ts) within its limits (limits.ts) and speaks
 *    SMTP or LMTP (smtp-connection.ts, smtp-parser.ts); or it posts the message (door-http.ts).
 * 2. MAIL FROM and RCPT TO are answered: rate, disk space, whose address it is (smtp-transaction.ts,
 *    inbound-request.ts, routing.ts). What is refused, and in which words: refusals.ts.
 * 3. The bytes stream into a MessageSink (receiveData here, receive.ts).
 * 4. acceptMessage makes one arrival of each inbox that the message is for: shop, lane, dedup key and
 *    remote id (receive.ts, identity.ts). A shop that refuses forged mail has the sender checked first.
 * 5. The intake commits the entries; the door acknowledges, counts and logs (DoorReport).
 * 6. At delivery normalize.ts reads what is stored (stored.ts) by the shop's rules (shop.ts), has the
 *    sender checked (authentication/authenticator.ts) and hands the message to a mail thread.
 * 7. There normalize/normalize-message.ts turns head, body and parts into the request and its files.
 * The console shows a message as a person would see it by view/message-viewer.ts.
 */
import { isIPv6 } from 'node:net';
import type { Readable } from 'node:stream';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { Accepted } from '../../spool/entry.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import { isRejected } from './authentication/verdict.ts';
import {
  type EmailArrival,
  type Envelope,
  type MessageSink,
  type StoredMessage,
  toArrivals,
} from './receive.ts';
import { SmtpRefusal } from './refusals.ts';
import type { AddressDirectory } from './routing.ts';
import { rawSource } from './stored.ts';

/** RFC 5321 §6.3: a message with more Received lines is in a loop. */
const MAX_RECEIVED = 50;

/** One entry of a message, and the recipients of the envelope that it is for. */
export interface Taken extends Accepted {
  readonly recipients: readonly string[];
}

interface AcceptParts {
  readonly intake: Pick<Intake, 'accept'>;
  readonly directory: AddressDirectory;
  readonly blobs: Pick<BlobStore, 'path' | 'remove'>;
  /** Asked for shops that refuse forged mail, and only for these. */
  readonly authenticator?: DoorCheck;
}

/**
 * The last step of every door for email: a message that has come whole becomes one entry for each
 * inbox. Durable when it resolves; there is at least one.
 * @throws {SmtpRefusal} {SpoolFull} {SpoolUnavailable} nothing was accepted; abort the sink
 */
export async function acceptMessage(
  sink: MessageSink,
  envelope: Envelope,
  parts: AcceptParts,
): Promise<readonly [Taken, ...Taken[]]> {
  if (sink.head().count('received') > MAX_RECEIVED) throw new SmtpRefusal('loop');
  // First the bytes, then the entries that name them.
  const message = await sink.store();
  try {
    return await acceptStored(message, envelope, parts);
  } catch (error) {
    // After any other failure the entries may have been stored, and name the file.
    const isUnnamed = error instanceof SmtpRefusal || error instanceof SpoolFull;
    if (isUnnamed && message.raw.kind === 'file') {
      // The answer does not depend on it: a file that stays is removed at the next start.
      await parts.blobs.remove(message.raw.blob).catch(() => undefined);
    }
    throw error;
  }
}

async function acceptStored(
  message: StoredMessage,
  envelope: Envelope,
  { intake, directory, blobs, authenticator }: AcceptParts,
): Promise<readonly [Taken, ...Taken[]]> {
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
  // No shop has its recipients any more: the directory has changed since RCPT TO.
  if (first === undefined) throw new SmtpRefusal('unavailable');
  return [first, ...others];
}

export type DoorCheck = Pick<Authenticator, 'check'>;

/**
 * For shops with `dmarc: reject`: checks the sender before the message is accepted, and stores the
 * verdict with it. A message that is for other shops too is accepted, and held for the shop that
 * would have refused it: there is only one answer for all.
 * @throws {SmtpRefusal} every shop refuses it
 */
async function refuseForged(
  arrivals: readonly EmailArrival[],
  directory: AddressDirectory,
  blobs: Pick<BlobStore, 'path'>,
  authenticator: DoorCheck | undefined,
): Promise<readonly EmailArrival[]> {
  if (authenticator === undefined) return arrivals;
  const checked = await Promise.all(
    arrivals.map(async (arrival) => {
      const rules = directory.shop(arrival.shopId)?.refusesForged;
      if (rules === undefined) return arrival;
      const raw = rawSource(arrival.raw, blobs);
      const authentication = await authenticator.check({ ...arrival.meta, raw, ...rules });
      return { ...arrival, meta: { ...arrival.meta, authentication } };
    }),
  );
  if (checked.length > 0 && checked.every(({ meta }) => isRejected(meta.authentication))) {
    throw new SmtpRefusal('dmarc');
  }
  return checked;
}

/** Whatever went wrong, as the reply to the client; never 5xx for trouble that is ours. */
export function toRefusal(error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error;
  return new SmtpRefusal(error instanceof SpoolFull ? 'disk_short' : 'unavailable', {
    cause: error,
  });
}

/** What every door reports of its messages, in the log and in metrics. */
export class DoorReport {
  readonly #door: 'smtp' | 'inbound';
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #ackSeconds: { observe(seconds: number): void };

  /** @param door how the names of its log events begin */
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
   * @param late the client had been answered before, with a temporary error: it sends the message
   * again, which then is a duplicate
   * @param ms from the last byte to the answer
   */
  accepted(
    taken: readonly Taken[],
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

  /** The error behind a refusal, when it is the gateway's own trouble. */
  failed(error: unknown, fields: SessionFields = {}): void {
    this.#logger.error(`${this.#door}.failed`, { ...fields, ...errorFields(error) });
  }

  /** The client went away before the end of its message. */
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

/** How a message came, as its door knows it. */
interface EnvelopeFacts extends Omit<Envelope, 'receivedHeader'> {
  /** Our own name. */
  readonly hostname: string;
  /** `ESMTPS` and its kin (RFC 3848). */
  readonly protocol: string;
  /** Of the transaction, for the Received line. */
  readonly id: string;
}

/** The envelope of a message, with the `Received:` line that this host would add. */
export function createEnvelope({ hostname, protocol, id, ...facts }: EnvelopeFacts): Envelope {
  return { ...facts, receivedHeader: receivedHeader(facts, { hostname, protocol, id }) };
}

/** The trace line of RFC 5321 §4.4, folded. Whatever a client says stays inside of its field. */
function receivedHeader(
  { remoteAddress, heloName, recipients, receivedAt }: Omit<Envelope, 'receivedHeader'>,
  { hostname, protocol, id }: Pick<EnvelopeFacts, 'hostname' | 'protocol' | 'id'>,
): string {
  const literal = isIPv6(remoteAddress) ? `[IPv6:${remoteAddress}]` : `[${remoteAddress}]`;
  const helo = heloName.replace(/[^\w.:[\]-]/g, '?');
  const [recipient, ...others] = recipients;
  // With several recipients the line would tell each of them about the others.
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

/** How a transfer ended: whole, larger than allowed, or with the client gone. */
type Transfer = 'complete' | 'too_large' | 'vanished';

interface TransferWatch {
  readonly maxBytes: number;
  /** The client went on far past the limit. */
  readonly onFlood: () => void;
}

/** A message on its way in. */
export interface Receiving {
  readonly done: Promise<Transfer>;
  /** The client is held back until what it sent has been written. */
  readonly waitsForStore: () => boolean;
}

/**
 * Moves a message from DATA, or a request's body, into the sink, no faster than it can be written.
 * A message that is too large is read to its end, since only then can it be answered, but no
 * longer stored; a client that sends more than twice the limit is cut off.
 */
export function receiveData(
  stream: Readable,
  sink: MessageSink,
  { maxBytes, onFlood }: TransferWatch,
): Receiving {
  let waiting = false;
  let received = 0;
  const take = (chunk: Buffer): void => {
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
    stream.once('end', () => {
      resolve(received > maxBytes ? 'too_large' : 'complete');
    });
    // The stream is destroyed when the connection closes before the end of the message.
    stream.once('error', () => {
      resolve('vanished');
    });
    stream.once('close', () => {
      resolve('vanished');
    });
  });
  return { done, waitsForStore: () => waiting };
}
