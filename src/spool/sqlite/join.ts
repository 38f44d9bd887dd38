import type { MessagePort } from 'node:worker_threads';
import { join } from 'node:path';
import { BlobFiles } from '../blobs.ts';
import { encodeRecord } from '../delivery-record.ts';
import type { Claimed, ClaimRequest } from '../entry.ts';
import { StoreFailure } from '../errors.ts';
import { soleLeases } from '../../runtime/leases.ts';
import type { Spool } from '../spool.ts';
import type { DeliveryStore, SharedStore } from '../store.ts';
import type { Operations } from './operations.ts';
import {
  type OnCommit,
  type Remote,
  type Reserve,
  type Server,
  StoreClient,
  storeOperations,
} from './store-client.ts';

export interface JoinedStore extends DeliveryStore {
  /** Calls made from now on fail. */
  leave(): void;
}

/** The store of another thread of this process, as `Store.share` describes it. */
export async function joinSqliteStore(
  { dir, port, failed }: SharedStore,
  options: {
    readonly makeSpace: Reserve['makeSpace'];
    readonly onCommit: OnCommit;
    /** Called after a commit with new messages. */
    readonly onAccepted: () => void;
  },
): Promise<JoinedStore> {
  const failure = new StoreFailure(failed);
  const client = await StoreClient.of(serverAt(port), failure, options);
  // What arrives is accepted where the store was opened.
  const assertHeld = () => Promise.resolve();
  const remote = storeOperations(client, { assertHeld, makeSpace: options.makeSpace });
  const blobs = new BlobFiles({ dir: join(dir, 'blobs'), reserveBytes: 0, failure });
  return {
    spool: createDeliverySpool(remote, blobs),
    optOuts: remote,
    leases: soleLeases,
    leave: () => client.leave(),
  };
}

/** The side of a port that `StoreClient.share` made. */
function serverAt(port: MessagePort): Server {
  return {
    port,
    onEnd: (listener) => port.on('close', () => listener(new Error("the store's port closed"))),
    stop: () => port.close(),
  };
}

/** The methods that delivery uses, in whichever thread. */
export function createDeliverySpool(remote: Remote<Operations>, blobs: BlobFiles) {
  return {
    ...remote,
    blobs,
    claim: (...args: Parameters<Spool['claim']>) => claim(remote, ...args),
    // The record is compressed here, to keep this work off the database's thread.
    settle: async (...[lease, outcome, settlement, record]: Parameters<Spool['settle']>) =>
      remote.settle(lease, outcome, settlement, record && (await encodeRecord(record))),
  };
}

/** Claims again while there may be more: one call files only a limited number of fresh entries. */
async function claim(
  remote: Remote<Operations>,
  requests: readonly ClaimRequest[],
  leaseMs: number,
  atMost: number,
  expiredBefore?: number,
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
