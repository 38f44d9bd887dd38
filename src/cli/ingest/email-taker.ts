import { randomUUID } from 'node:crypto';
import { acceptMessage, createEnvelope } from '../../channels/email/door.ts';
import { type Envelope, toArrivals } from '../../channels/email/receive.ts';
import { SmtpRefusal } from '../../channels/email/refusals.ts';
import type { Intake } from '../../intake/intake.ts';
import type { AddressDirectory } from '../../channels/email/routing.ts';
import { INLINE_MAX_BYTES } from '../../spool/blobs.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { Spool } from '../../spool/spool.ts';
import { LineEnds, type Incoming, incomingInto, incomingIntoNothing } from './incoming.ts';
import type { Hints, Place, Taker, IngestTally } from './place.ts';
import { arrivalOf, type EnvelopeChoice, recipientsOf, senderOf } from './recipients.ts';

export interface TakerParts {
  readonly spool: Spool;
  readonly intake: Pick<Intake, 'accept'>;
  readonly directory: AddressDirectory;
  readonly tally: IngestTally;
  readonly onProgress: (bytes: number) => void;
}

export interface TakerOptions {
  readonly hostname: string;
  readonly maxMessageBytes: number;
  readonly choice: EnvelopeChoice;
  readonly dryRun: boolean;
  /** Bytes as they are: an export's raw form. Files of mail have their line ends made those of SMTP. */
  readonly verbatim?: true;
}

/** Messages on their way to the disk: they share its commits. Small ones only, 64 KiB each. */
const UNDER_WAY = 64;

/** What the meta of an entry has in place of the address of a client. */
const DOOR = 'ingest';

/**
 * Takes raw emails in by the door that SMTP and POST /email/inbound use: the same dedup, lanes,
 * limits and holds. Whoever may run this command stands where a relay of our own would.
 */
export class EmailTaker implements Taker {
  readonly #parts: TakerParts;
  readonly #options: TakerOptions;
  #current: { place: Place; hints: Hints; incoming: Incoming; lineEnds: LineEnds } | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #fatal: Error | undefined;

  constructor(parts: TakerParts, options: TakerOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  begin(place: Place, hints: Hints): void {
    const incoming = this.#options.dryRun
      ? incomingIntoNothing()
      : incomingInto(this.#parts.spool.blobs);
    this.#current = { place, hints, incoming, lineEnds: new LineEnds() };
  }

  write(bytes: Buffer): Promise<void> | undefined {
    const current = this.#current;
    // What is too large is read to its end, and no longer stored.
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
    const { place, hints, incoming } = current;
    const work = this.#take(place, hints, incoming).catch((error: unknown) => {
      this.#fatal ??= error instanceof Error ? error : new Error('unknown', { cause: error });
    });
    this.#underWay.add(work);
    void work.then(() => this.#underWay.delete(work));
    // A large one is slower to the disk: those after it, of its lane too, must not overtake it.
    if (incoming.size > INLINE_MAX_BYTES) await this.idle();
    else if (this.#underWay.size >= UNDER_WAY) await Promise.race(this.#underWay);
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /** The message that was begun does not come whole. */
  async abandon(reason: string): Promise<void> {
    const place = this.#current?.place;
    await this.drop();
    if (place !== undefined) this.#parts.tally.fail(place, reason);
  }

  /** The message that was begun is nobody's: the reading broke off. */
  async drop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.incoming.abort().catch(() => undefined);
  }

  fail(place: Place, reason: string): void {
    this.#parts.tally.fail(place, reason);
  }

  advance(bytes: number): void {
    this.#parts.onProgress(bytes);
  }

  /** Resolves when nothing is on its way. @throws what no message can be blamed for */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  #isTooLarge = (incoming: Incoming): boolean => incoming.size > this.#options.maxMessageBytes;

  async #take(place: Place, hints: Hints, incoming: Incoming): Promise<void> {
    const { tally, directory } = this.#parts;
    const { choice, maxMessageBytes } = this.#options;
    try {
      if (incoming.size === 0) throw new NotTaken('it is empty');
      if (this.#isTooLarge(incoming)) {
        throw new NotTaken(`it is larger than ${maxMessageBytes} bytes (smtp.maxMessageBytes)`);
      }
      const head = incoming.head();
      const recipients = recipientsOf(head, choice, hints.recipients ?? [], directory);
      if (recipients.length === 0) throw new NotTaken(nobody(choice));
      const sender = senderOf(head, choice, hints.sender);
      const receivedAt = Math.min(Date.now(), hints.receivedAt ?? arrivalOf(head) ?? Date.now());
      const envelope = this.#envelope(sender, recipients, receivedAt);
      const taken = await this.#accept(incoming, envelope);
      tally.entries += taken.filter(({ duplicate }) => !duplicate).length;
      if (taken.every(({ duplicate }) => duplicate)) tally.duplicates += 1;
      else tally.accepted += 1;
    } catch (error) {
      await incoming.abort().catch(() => undefined);
      if (error instanceof NotTaken) tally.fail(place, error.message);
      else if (error instanceof SmtpRefusal)
        tally.fail(place, error.message.replace(/^[\d.]+ /, ''));
      else if (error instanceof SpoolFull) throw new DiskShort({ cause: error });
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

/** One message's own fault; the others go on. */
class NotTaken extends Error {
  override name = 'NotTaken';
}

/** No further message can be taken either. */
export class DiskShort extends Error {
  override name = 'DiskShort';

  constructor(options?: ErrorOptions) {
    super('there is not enough disk space to take more in', options);
  }
}

const nobody = ({ to }: EnvelopeChoice): string =>
  to === undefined
    ? 'no shop has any of its recipients (give --to or --shop)'
    : 'no shop has the address given by --to';
