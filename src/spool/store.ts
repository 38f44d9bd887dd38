import type { MessagePort } from 'node:worker_threads';
import type { OpenBudget } from '../runtime/budgets.ts';
import type { DurableFiles } from '../runtime/durable-files.ts';
import type { ApiTokenStore } from './api-token-store.ts';
import type { ChatStore } from './chat-store.ts';
import type { Fleet } from './fleet.ts';
import type { Leases } from '../runtime/leases.ts';
import type { OperatorStore } from './operator-store.ts';
import type { OptOutStore } from './opt-out-store.ts';
import type { Signals } from './signals.ts';
import type { DeliverySpool, Spool } from './spool.ts';
import type { StoredFormReaders } from './stored-form.ts';

/** Everything that a gateway stores: entries, the data of chat and SMS, and what operators do. */
export interface Store {
  readonly spool: Spool;
  readonly chat: ChatStore;
  readonly signals: Signals;
  readonly optOuts: OptOutStore;
  readonly operator: OperatorStore;
  readonly apiTokens: ApiTokenStore;
  readonly leases: Leases;
  /** Only of a store that admits several gateways. */
  readonly fleet?: Fleet;
  readonly openBudget: OpenBudget;
  /** For other files of the data folder: an fsync that fails here fails the store, too. */
  readonly files: DurableFiles;
  /**
   * The free space that the data folder's disk must have; higher after the disk was full, until the
   * ballast is back.
   */
  readonly neededBytes: () => number;
  /** Computes summaries that are missing or from an earlier version; resolves with their number. */
  renewSummaries(forms: StoredFormReaders, signal: AbortSignal): Promise<number>;
  /** Only of a store that other threads of this process can join. */
  readonly sharing?: Sharing;
}

export interface Sharing {
  /** What `joinSqliteStore` needs in the other thread. */
  readonly share: () => SharedStore;
  /** Gives up the space that is kept for a full disk, so that work can be finished. */
  readonly makeSpace: () => Promise<void>;
}

/** Can be passed to a thread, with its port. */
export interface SharedStore {
  readonly dir: string;
  readonly port: MessagePort;
  readonly failed: SharedArrayBuffer;
}

/** What a thread that delivers uses of a store. */
export interface DeliveryStore extends Pick<Store, 'leases' | 'optOuts'> {
  readonly spool: DeliverySpool;
}
