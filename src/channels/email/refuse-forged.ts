import type { AddressDirectory } from './routing.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { RawForm } from '../../spool/entry.ts';
import type { EmailArrival } from './arrivals.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import { isRejected } from './authentication/sender-policy.ts';
import { SmtpRefusal } from './smtp-reply.ts';

export type DoorCheck = Pick<Authenticator, 'check'>;

/**
 * For shops with `dmarc: reject`: asks who sent a message, before it is accepted, and writes down
 * the answer with it. A message that is for other shops too is taken for these, and held for the
 * one that would have refused it: one answer has to do for all.
 * @throws {SmtpRefusal} every shop refuses it
 */
export async function refuseForged(
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
      const raw = source(arrival.raw, blobs);
      const authentication = await authenticator.check({ ...arrival.meta, raw, ...rules });
      return { ...arrival, meta: { ...arrival.meta, authentication } };
    }),
  );
  if (checked.length > 0 && checked.every(({ meta }) => isRejected(meta.authentication))) {
    throw new SmtpRefusal('dmarc');
  }
  return checked;
}

function source(raw: RawForm, blobs: Pick<BlobStore, 'path'>) {
  return raw.kind === 'inline'
    ? { kind: 'bytes' as const, bytes: raw.bytes }
    : { kind: 'file' as const, path: blobs.path(raw.blob) };
}
