import type { Intake } from '../../intake/intake.ts';
import type { AddressDirectory } from './routing.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { Accepted } from '../../spool/entry.ts';
import { SpoolFull } from '../../spool/errors.ts';
import { type Envelope, toArrivals } from './arrivals.ts';
import type { MessageSink, StoredMessage } from './message-sink.ts';
import { type DoorCheck, refuseForged } from './refuse-forged.ts';
import { SmtpRefusal } from './smtp-reply.ts';

/** RFC 5321 §6.3: a message that has passed here so often goes round in circles. */
const MAX_RECEIVED = 50;

/** One entry that stands for a message, and the recipients of the envelope that it is for. */
export interface Taken extends Accepted {
  readonly recipients: readonly string[];
}

export interface AcceptParts {
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
    // After any other failure the entries may be there all the same, and name the file.
    const isUnnamed = error instanceof SmtpRefusal || error instanceof SpoolFull;
    if (isUnnamed && message.raw.kind === 'file') {
      // The answer does not depend on it: what stays is swept at the next start.
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
  // Its recipients are nobody's any more: the directory has changed since they were admitted.
  if (first === undefined) throw new SmtpRefusal('unavailable');
  return [first, ...others];
}
