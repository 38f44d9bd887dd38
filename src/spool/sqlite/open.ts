import { join } from 'node:path';
import { DurableFiles, makeFolder } from '../../runtime/durable-files.ts';
import type { BlobName, EntryId } from '../../domain/ids.ts';
import { Ballast, BALLAST_FILE } from '../ballast.ts';
import { BlobFiles } from '../blob-files.ts';
import type { ChatStore } from '../chat-store.ts';
import { DataFolderLock } from '../lock.ts';
import { BLOB_LOCK, SharedLock } from '../shared-lock.ts';
import { encodeRecord } from '../delivery-record.ts';
import type {
  Accepted,
  Claimed,
  ClaimRequest,
  Lease,
  NewEntry,
  Outcome,
  Settlement,
} from '../entry.ts';
import type { DeliveryRecord, OperatorStore } from '../operator-store.ts';
import type { OptOutStore } from '../opt-out-store.ts';
import { renewSummaries } from '../renew-summaries.ts';
import type { Recovered, Retention, Spool, Swept } from '../spool.ts';
import { StoreFailure } from '../store-failure.ts';
import type { StoredForms } from '../stored-form.ts';
import { indexFileOf, removeIndex } from '../search/index-database.ts';
import { SearchThreads } from '../search/search-threads.ts';
import { BallastedCalls } from './ballasted-calls.ts';
import { logGrowthBytes } from './database.ts';
import { createOperatorStore } from './operator-store.ts';
import { type OnCommit, StoreClient } from './store-client.ts';

export interface SqliteSpoolOptions {
  /** The data folder; made when it is missing. */
  readonly dir: string;
  /** `guest`: a command beside a running gateway. It takes no lock and recovers nothing. */
  readonly role: 'owner' | 'guest';
  /** Accept nothing while less than this is free: 1.5 × the largest message. */
  readonly reserveBytes: number;
  readonly onCommit?: OnCommit;
  /** The index of the search cannot follow now, for this reason (a code); the spool goes on. */
  readonly onIndexFailure?: (reason: string) => void;
}

/** The whole store: entries, what chat and SMS keep beside them, in one database. */
export interface Store {
  readonly spool: Spool;
  readonly chat: ChatStore;
  readonly optOuts: OptOutStore;
  readonly operator: OperatorStore;
  /** For other files of the data folder: an fsync that fails here ends the store too. */
  readonly files: DurableFiles;
  /** Of free space: below it nothing is accepted. More after a full disk, until the ballast is back. */
  readonly neededBytes: () => number;
  /** Brings the index up with the spool, and leaves nothing of deleted entries in its files. */
  rewriteIndex(): Promise<void>;
  /** Computes the summaries that an earlier version made; resolves with how many. */
  renewSummaries(forms: StoredForms, signal: AbortSignal): Promise<number>;
}

/**
 * Opens the embedded store under a data folder: `spool.db` and the folder `blobs/`.
 * @throws {SpoolUnusable} locked, damaged, or of a newer version
 */
export async function openSqliteStore(options: SqliteSpoolOptions): Promise<Store> {
  makeFolder(options.dir);
  const { dir, role, reserveBytes } = options;
  const isOwner = role === 'owner';
  const lock = isOwner ? DataFolderLock.take(dir) : undefined;
  try {
    const failure = new StoreFailure();
    const files = new DurableFiles((cause) => failure.fail(cause));
    const client = await StoreClient.open(
      { file: join(dir, 'spool.db'), role },
      failure,
      options.onCommit ?? (() => undefined),
    );
    const ballast = new Ballast({
      ...{ file: join(dir, BALLAST_FILE), reserveBytes, files },
      logGrowthBytes: () => logGrowthBytes(join(dir, 'spool.db')),
    });
    const blobLock = new SharedLock(join(dir, BLOB_LOCK));
    const blobs = new BlobFiles({
      ...{ dir: join(dir, 'blobs'), reserveBytes, ballast, failure },
      ...(!isOwner && { beforeFile: () => blobLock.share() }),
    });
    // Its log has a name by now, which SQLite itself would sync without looking at the answer.
    await files.syncFolder(dir);
    if (isOwner) await ballast.hold();
    // Where earlier versions had the index.
    if (isOwner) removeIndex(join(dir, 'search.db'));
    const calls = new BallastedCalls(client, ballast);
    const index = new SearchThreads(
      {
        spoolFile: join(dir, 'spool.db'),
        indexFile: indexFileOf(dir),
      },
      isOwner,
      options.onIndexFailure ?? (() => undefined),
    );
    return {
      files,
      neededBytes: () => blobs.neededBytes,
      spool: createSpool(client, calls, { blobs, blobLock, ballast, failure }, index, lock),
      operator: createOperatorStore(calls, index),
      rewriteIndex: () => index.ask('rewrite'),
      renewSummaries: (forms, signal) =>
        renewSummaries({ calls, pathOf: (blob) => blobs.path(blob), forms, signal }),
      chat: createChatStore(calls),
      optOuts: {
        isOptedOut: (shopId, lane) => calls.call('isOptedOut', shopId, lane),
        optOut: (shopId, lane, messageSid) => calls.call('optOut', shopId, lane, messageSid),
        optIn: (shopId, lane, messageSid) => calls.call('optIn', shopId, lane, messageSid),
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

interface SpoolParts {
  readonly blobs: BlobFiles;
  readonly blobLock: SharedLock;
  readonly ballast: Ballast;
  readonly failure: StoreFailure;
}

function createSpool(
  client: StoreClient,
  calls: BallastedCalls,
  { blobs, blobLock, ballast, failure }: SpoolParts,
  index: SearchThreads,
  lock?: DataFolderLock,
): Spool {
  return {
    blobs,
    // Only an owner has a lock.
    accept: (entries) =>
      lock === undefined ? acceptAsGuest(calls, entries) : calls.call('accept', entries),
    claim: (requests, ...rest) => claim(calls, requests, ...rest),
    renew: (leases, leaseMs) => calls.call('renew', leases, leaseMs),
    settle: (lease, outcome, settlement, record) =>
      settle(calls, lease, outcome, settlement, record),
    saveMedia: (lease, part, media) => calls.call('saveMedia', lease, part, media),
    conversation: (lane) => calls.call('conversation', lane),
    rememberConversation: (lane, id) => calls.call('rememberConversation', lane, id),
    forgetConversation: (lane) => calls.call('forgetConversation', lane),
    get: (id) => calls.call('get', id),
    raw: (id) => calls.call('raw', id),
    list: (filter) => calls.call('list', filter),
    timeline: (id) => calls.call('timeline', id),
    backlogBytes: () => calls.call('backlogBytes'),
    counts: () => calls.call('counts'),
    knownEmailIds: (shopId, ids) => calls.call('knownEmailIds', shopId, ids),
    knownKeys: (shopId, channel, keys) => calls.call('knownKeys', shopId, channel, keys),
    laneOf: (known) => calls.call('laneOf', known),
    ownPlatformMessages: (shopId, ids) => calls.call('ownPlatformMessages', shopId, ids),
    countMessage: (mail, limits) => calls.call('countMessage', mail, limits),
    requeue: (id) => calls.call('requeue', id),
    discard: (id) => calls.call('discard', id),
    hasten: (...args) => calls.call('hasten', ...args),
    releaseWaiting: (shopId, waitsFor) => calls.call('releaseWaiting', shopId, waitsFor),
    repair: (request) => calls.call('repair', request),
    saveShopHealth: (shopId, health) => calls.call('saveShopHealth', shopId, health),
    shopHealth: (shopId) => calls.call('shopHealth', shopId),
    requestProbe: (shopId) => calls.call('requestProbe', shopId),
    takeProbeRequests: () => calls.call('takeProbeRequests'),
    mark: (name) => calls.call('mark', name),
    setMark: (name, at) => calls.call('setMark', name, at),
    recover: () => recover(calls, blobs, blobLock),
    sweep: async (retention) => {
      const swept = await sweep(calls, blobs, retention);
      await ballast.hold();
      return swept;
    },
    probe: () => calls.call('probe'),
    assertSound: () => failure.assertSound(),
    onFatal: (listener) => failure.onFail(listener),
    close: async () => {
      await ballast.settled();
      await index.close();
      await client.close();
      await blobLock.release();
      lock?.release();
    },
  };
}

function createChatStore(calls: BallastedCalls): ChatStore {
  return {
    visitor: (shopId, id) => calls.call('visitor', shopId, id),
    visitorBySubject: (shopId, subject) => calls.call('visitorBySubject', shopId, subject),
    createVisitor: (visitor) => calls.call('createVisitor', visitor),
    updateVisitor: (shopId, id, change) => calls.call('updateVisitor', shopId, id, change),
    identifyVisitor: (identity) => calls.call('identifyVisitor', identity),
    startConversation: (shopId, id) => calls.call('startConversation', shopId, id),
    acceptMessage: (entry, message) => calls.call('acceptMessage', entry, message),
    appendReply: (reply) => calls.call('appendReply', reply),
    markMessage: (shopId, visitorId, messageId, state) =>
      calls.call('markMessage', shopId, visitorId, messageId, state),
    linesAfter: (shopId, id, after, limit, maxBytes) =>
      calls.call('linesAfter', shopId, id, after, limit, maxBytes),
    linesBefore: (shopId, id, before, limit, maxBytes) =>
      calls.call('linesBefore', shopId, id, before, limit, maxBytes),
    conversationsOf: (shopId, visitors) => calls.call('conversationsOf', shopId, visitors),
    addUpload: (upload) => calls.call('addUpload', upload),
    unusedUploads: (shopId, visitorId, ids) => calls.call('unusedUploads', shopId, visitorId, ids),
    upload: (shopId, visitorId, id) => calls.call('upload', shopId, visitorId, id),
    removeUpload: (shopId, visitorId, id) => calls.call('removeUpload', shopId, visitorId, id),
    countUnusedUploads: (shopId, visitorId) => calls.call('countUnusedUploads', shopId, visitorId),
  };
}

/** The record is made small here: the database's thread has other things to do. */
async function settle(
  calls: BallastedCalls,
  lease: Lease,
  outcome: Outcome,
  settlement: Settlement,
  record: DeliveryRecord | undefined,
): Promise<boolean> {
  const stored = record && (await encodeRecord(record));
  return calls.call('settle', lease, outcome, settlement, stored);
}

/** A large backlog is filed in portions: the gateway's own commits must not wait long. */
async function acceptAsGuest(
  calls: BallastedCalls,
  entries: readonly NewEntry[],
): Promise<readonly Accepted[]> {
  while (await calls.call('fileSome')) continue;
  return calls.call('acceptFiled', entries);
}

/** Asks again where there may be more: one call files only so many fresh entries. */
async function claim(
  calls: BallastedCalls,
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
    const answers = await calls.call('claim', rest, leaseMs, left, expiredBefore);
    open = open.filter(([index], nth) => {
      const { claimed = [], more = false } = answers[nth] ?? {};
      all[index]?.push(...claimed);
      left -= claimed.length;
      return more && left > 0;
    });
  }
  return all;
}

async function recover(
  calls: BallastedCalls,
  blobs: BlobFiles,
  lock: SharedLock,
): Promise<Recovered> {
  const requeued = await calls.call('requeueAll');
  return lock.whileAlone(async (isAlone) => {
    const named = await calls.call('namedBlobs');
    const files = new Set<BlobName>(await blobs.names());
    const missing: EntryId[] = [];
    for (const { blob, entry } of named) {
      // What remains in `files` afterwards is named by no row.
      if (!files.has(blob) && entry !== null) missing.push(entry);
    }
    for (const { blob } of named) files.delete(blob);
    // Beside a command that writes they may be its own; they wait for the next start.
    if (!isAlone) return { requeued, orphans: 0, missing };
    for (const orphan of files) await blobs.remove(orphan);
    return { requeued, orphans: files.size, missing };
  });
}

async function sweep(
  calls: BallastedCalls,
  blobs: BlobFiles,
  retention: Retention,
): Promise<Swept> {
  const total = { entries: 0, raws: 0, files: 0 };
  while (await calls.call('sweepSenderRates')) continue;
  for (;;) {
    const swept = await calls.call('sweep', retention);
    for (const blob of swept.unused) await blobs.remove(blob);
    total.entries += swept.entries;
    total.raws += swept.raws;
    total.files += swept.unused.length;
    if (!swept.more) return total;
  }
}
