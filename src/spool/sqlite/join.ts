import type { MessagePort } from 'node:worker_threads';
import { join } from 'node:path';
import { BlobFiles } from '../blobs.ts';
import { StoreFailure } from '../errors.ts';
import { soleLeases } from '../../runtime/leases.ts';
import type { DeliveryStore, SharedStore } from '../store.ts';
import { createDeliverySpool } from './delivery-spool.ts';
import {
  type OnCommit,
  type Reserve,
  type Server,
  StoreClient,
  storeOperations,
} from './store-client.ts';

export interface JoinedStore extends DeliveryStore {
  /** Calls made from now on fail. */
  leave(): void;
}

/**
 * Joins the store of another thread of this process, as `Sharing.share` describes it.
 * @throws {SpoolUnusable} that thread has ended
 */
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
