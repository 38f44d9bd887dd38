import type { BlobFiles } from '../blobs.ts';
import { refusalEnds } from '../cold/refusals.ts';
import { encodeRecord } from '../delivery-record.ts';
import type { Claimed } from '../entry.ts';
import type { Remote } from '../methods.ts';
import type { SpoolParams } from '../spool.ts';
import type { Operations } from './operations.ts';

/** The methods that delivery uses, in whichever thread. */
export function createDeliverySpool(remote: Remote<Operations>, blobs: BlobFiles) {
  return {
    ...remote,
    ...refusalEnds(remote),
    blobs,
    claim: (...args: SpoolParams<'claim'>) => claim(remote, ...args),
    // The record is compressed here, to keep this work off the database's thread.
    settle: async (...[lease, outcome, settlement, record]: SpoolParams<'settle'>) =>
      remote.settle(lease, outcome, settlement, record && (await encodeRecord(record))),
  };
}

/** Claims again while there may be more: one call files only a limited number of fresh entries. */
async function claim(
  remote: Remote<Operations>,
  ...[requests, leaseMs, atMost, expiredBefore]: SpoolParams<'claim'>
): Promise<Claimed[][]> {
  let left = atMost;
  const all: Claimed[][] = requests.map(() => []);
  let open = [...requests.entries()];
  while (open.length > 0) {
    const rest = open.map(([index, request]) => ({
      ...request,
      limit: request.limit - (all[index]?.length ?? 0),
    }));
    const answers = await remote.claim(rest, leaseMs, left, expiredBefore);
    open = open.filter(([index], nth) => {
      const { claimed = [], more = false } = answers[nth] ?? {};
      all[index]?.push(...claimed);
      left -= claimed.length;
      return more && left > 0;
    });
  }
  return all;
}
