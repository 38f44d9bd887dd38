import { randomUUID } from 'node:crypto';
import { acceptMessage, createEnvelope } from '../../channels/email/door.ts';
import { type Envelope, toArrivals } from '../../channels/email/receive.ts';
import { SmtpRefusal } from '../../channels/email/refusals.ts';
import type { Intake } from '../../intake/intake.ts';
import type { AddressDirectory } from '../../channels/email/routing.ts';
import { INLINE_MAX_BYTES } from '../../spool/blob-writer.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { Spool } from '../../spool/spool.ts';
import { LineEnds, type Incoming, incomingInto, incomingIntoNothing } from './incoming.ts';
import type { Hints, MessagePosition, MessageReceiver, IngestTally } from './message-position.ts';
import { arrivalOf, type EnvelopeChoice, recipientsOf, senderOf } from './recipients.ts';

export interface EmailIngesterParts {
  readonly spool: Spool;
  readonly intake: Pick<Intake, 'accept'>;
  readonly directory: AddressDirectory;
  readonly tally: IngestTally;
  readonly onProgress: (bytes: number) => void;
}

export interface EmailIngesterOptions {
  readonly hostname: string;
  readonly maxMessageBytes: number;
  readonly choice: EnvelopeChoice;
  readonly dryRun: boolean;
  /**
   * Keeps the bytes unchanged: an export's raw form. In mail files, line ends are converted to
   * those of SMTP.
   */
  readonly verbatim?: true;
}

/**
 * Messages that are written concurrently and share commits. Only small ones, of up to 64 KiB. A larger
 * commit holds the lock for longer, and a gateway beside it waits.
 */
const MAX_IN_PROGRESS = 16;

/** Stored in the entry's meta instead of a client's address. */
const DOOR = 'ingest';

/**
 * Accepts raw emails through the same path as SMTP and POST /email/inbound, with the same
 * deduplication, lanes, limits and holds. The user of this command is as trusted as our own relay.
 */
export class EmailIngester implements MessageReceiver {
  readonly #parts: EmailIngesterParts;
  readonly #options: EmailIngesterOptions;
  #current:
    | { position: MessagePosition; hints: Hints; incoming: Incoming; lineEnds: LineEnds }
    | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #fatal: Error | undefined;

  constructor(parts: EmailIngesterParts, options: EmailIngesterOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  begin(position: MessagePosition, hints: Hints): void {
    const incoming = this.#options.dryRun
      ? incomingIntoNothing()
      : incomingInto(this.#parts.spool.blobs);
    this.#current = { position, hints, incoming, lineEnds: new LineEnds() };
  }

  write(bytes: Buffer): Promise<void> | undefined {
    const current = this.#current;
    // A message that is too large is read to its end but no longer stored.
    if (current === undefined || this.#isTooLarge(current.incoming)) return undefined;
    const { incoming, lineEnds } = current;
    return incoming.write(this.#options.verbatim ? bytes : lineEnds.convert(bytes));
  }

  async end(): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    if (!this.#options.verbatim && !this.#isTooLarge(current.incoming)) {
      const rest = current.lineEnds.end();
      if (rest.length > 0) await current.incoming.write(rest);
    }
    this.#current = undefined;
    const { position, hints, incoming } = current;
    const work = this.#take(position, hints, incoming).catch((error: unknown) => {
      this.#fatal ??= error instanceof Error ? error : new Error('unknown', { cause: error });
    });
    this.#underWay.add(work);
    void work.then(() => this.#underWay.delete(work));
    // A large message takes longer to write, so later ones of its lane must wait for it.
    if (incoming.size > INLINE_MAX_BYTES) await this.idle();
    else if (this.#underWay.size >= MAX_IN_PROGRESS) await Promise.race(this.#underWay);
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /** The message that was begun is incomplete. */
  async abandon(reason: string): Promise<void> {
    const position = this.#current?.position;
    await this.drop();
    if (position !== undefined) this.#parts.tally.fail(position, reason);
  }

  /** Discards the message that was begun, because reading was interrupted. */
  async drop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.incoming.abort().catch(() => undefined);
  }

  fail(position: MessagePosition, reason: string): void {
    this.#parts.tally.fail(position, reason);
  }

  advance(bytes: number): void {
    this.#parts.onProgress(bytes);
  }

  /** Resolves when no message is being written. @throws errors that no single message has caused */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  #isTooLarge = (incoming: Incoming): boolean => incoming.size > this.#options.maxMessageBytes;

  async #take(position: MessagePosition, hints: Hints, incoming: Incoming): Promise<void> {
    const { tally, directory } = this.#parts;
    const { choice, maxMessageBytes } = this.#options;
    try {
      if (incoming.size === 0) throw new NotAccepted('it is empty');
      if (this.#isTooLarge(incoming)) {
        throw new NotAccepted(`it is larger than ${maxMessageBytes} bytes (smtp.maxMessageBytes)`);
      }
      const head = incoming.head();
      const recipients = recipientsOf(head, choice, hints.recipients ?? [], directory);
      if (recipients.length === 0) throw new NotAccepted(noRecipientReason(choice));
      const sender = senderOf(head, choice, hints.sender);
      const receivedAt = Math.min(Date.now(), hints.receivedAt ?? arrivalOf(head) ?? Date.now());
      const envelope = this.#envelope(sender, recipients, receivedAt);
      const accepted = await this.#accept(incoming, envelope);
      tally.entries += accepted.filter(({ duplicate }) => !duplicate).length;
      if (accepted.every(({ duplicate }) => duplicate)) tally.duplicates += 1;
      else tally.accepted += 1;
    } catch (error) {
      await incoming.abort().catch(() => undefined);
      if (error instanceof NotAccepted) tally.fail(position, error.message);
      else if (error instanceof SmtpRefusal)
        tally.fail(position, error.message.replace(/^[\d.]+ /, ''));
      else if (error instanceof SpoolFull) throw new DiskFull({ cause: error });
      else throw error;
    }
  }

  async #accept(
    incoming: Incoming,
    envelope: Envelope,
  ): Promise<readonly { duplicate: boolean }[]> {
    const { intake, directory, spool } = this.#parts;
    const { sink } = incoming;
    if (sink !== undefined) {
      return acceptMessage(sink, envelope, { intake, directory, blobs: spool.blobs });
    }
    const arrivals = toArrivals(directory, incoming.identify(), envelope);
    return Promise.all(
      arrivals.map(async ({ shopId, channel, dedupKey }) => ({
        duplicate: (await spool.knownKeys(shopId, channel, [dedupKey])).has(dedupKey),
      })),
    );
  }

  #envelope(sender: string, recipients: readonly string[], receivedAt: number): Envelope {
    return createEnvelope({
      hostname: this.#options.hostname,
      protocol: 'INGEST',
      id: randomUUID(),
      remoteAddress: DOOR,
      heloName: '',
      tls: false,
      trustedRelay: true,
      envelopeFrom: sender,
      recipients,
      receivedAt,
    });
  }
}

/** An error of one message; the others continue. */
class NotAccepted extends Error {
  override name = 'NotAccepted';
}

/** No further message can be accepted either. */
export class DiskFull extends Error {
  override name = 'DiskFull';

  constructor(options?: ErrorOptions) {
    super('there is not enough disk space to ingest more messages', options);
  }
}

const noRecipientReason = ({ to }: EnvelopeChoice): string =>
  to === undefined
    ? 'none of its recipients belongs to a shop (give --to or --shop)'
    : 'the address given by --to belongs to no shop';
