import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobName, EntryId } from '../../types/ids.ts';
import { BlobFiles } from '../blob-files.ts';
import type { ChatStore } from '../chat-store.ts';
import { DataFolderLock } from '../lock.ts';
import type { OptOutStore } from '../opt-out-store.ts';
import type { Recovered, Retention, Spool, Swept } from '../spool.ts';
import { type OnCommit, StoreClient } from './store-client.ts';

export interface SqliteSpoolOptions {
  /** The data folder; made when it is missing. */
  readonly dir: string;
  /** `guest`: a command beside a running gateway. It takes no lock and recovers nothing. */
  readonly role: 'owner' | 'guest';
  /** Accept nothing while less than this is free: 1.5 × the largest message. */
  readonly reserveBytes: number;
  readonly onCommit?: OnCommit;
}

/** The whole store: entries, what chat and SMS keep beside them, in one database. */
export interface Store {
  readonly spool: Spool;
  readonly chat: ChatStore;
  readonly optOuts: OptOutStore;
}

/**
 * Opens the embedded store under a data folder: `spool.db` and the folder `blobs/`.
 * @throws {SpoolUnusable} locked, damaged, or of a newer version
 */
export async function openSqliteStore(options: SqliteSpoolOptions): Promise<Store> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const lock = options.role === 'owner' ? DataFolderLock.take(options.dir) : undefined;
  try {
    const blobs = await BlobFiles.open({
      dir: join(options.dir, 'blobs'),
      reserveBytes: options.reserveBytes,
    });
    const client = await StoreClient.open(
      { file: join(options.dir, 'spool.db') },
      options.onCommit ?? (() => undefined),
    );
    return {
      spool: createSpool(client, blobs, lock),
      chat: createChatStore(client),
      optOuts: {
        isOptedOut: (shopId, lane) => client.call('isOptedOut', shopId, lane),
        setOptedOut: (shopId, lane, optedOut) => client.call('setOptedOut', shopId, lane, optedOut),
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function createSpool(client: StoreClient, blobs: BlobFiles, lock?: DataFolderLock): Spool {
  return {
    blobs,
    accept: (entries) => client.call('accept', entries),
    claim: (shopId, limit, leaseMs) => client.call('claim', shopId, limit, leaseMs),
    renew: (leases, leaseMs) => client.call('renew', leases, leaseMs),
    settle: (lease, outcome, steps) => client.call('settle', lease, outcome, steps),
    saveMedia: (lease, part, mediaId) => client.call('saveMedia', lease, part, mediaId),
    conversation: (lane) => client.call('conversation', lane),
    rememberConversation: (lane, id) => client.call('rememberConversation', lane, id),
    forgetConversation: (lane) => client.call('forgetConversation', lane),
    get: (id) => client.call('get', id),
    raw: (id) => client.call('raw', id),
    list: (filter) => client.call('list', filter),
    timeline: (id) => client.call('timeline', id),
    counts: () => client.call('counts'),
    knownRemoteIds: (shopId, ids) => client.call('knownRemoteIds', shopId, ids),
    ownPlatformMessages: (shopId, ids) => client.call('ownPlatformMessages', shopId, ids),
    requeue: (id) => client.call('requeue', id),
    discard: (id) => client.call('discard', id),
    recover: () => recover(client, blobs),
    sweep: (retention) => sweep(client, blobs, retention),
    probe: () => client.call('probe'),
    onFatal: (listener) => {
      client.onFatal(listener);
      blobs.onFatal(listener);
    },
    close: async () => {
      await client.close();
      lock?.release();
    },
  };
}

function createChatStore(client: StoreClient): ChatStore {
  return {
    visitor: (shopId, id) => client.call('visitor', shopId, id),
    visitorBySubject: (shopId, subject) => client.call('visitorBySubject', shopId, subject),
    createVisitor: (visitor) => client.call('createVisitor', visitor),
    updateVisitor: (shopId, id, change) => client.call('updateVisitor', shopId, id, change),
    startConversation: (shopId, id) => client.call('startConversation', shopId, id),
    acceptMessage: (entry, message) => client.call('acceptMessage', entry, message),
    appendReply: (reply) => client.call('appendReply', reply),
    markMessage: (shopId, visitorId, messageId, state) =>
      client.call('markMessage', shopId, visitorId, messageId, state),
    linesAfter: (shopId, id, after, limit) => client.call('linesAfter', shopId, id, after, limit),
    linesBefore: (shopId, id, before, limit) =>
      client.call('linesBefore', shopId, id, before, limit),
    conversationsOf: (shopId, visitors) => client.call('conversationsOf', shopId, visitors),
    addUpload: (upload) => client.call('addUpload', upload),
    unusedUploads: (shopId, visitorId, ids) => client.call('unusedUploads', shopId, visitorId, ids),
    countUnusedUploads: (shopId, visitorId) => client.call('countUnusedUploads', shopId, visitorId),
  };
}

async function recover(client: StoreClient, blobs: BlobFiles): Promise<Recovered> {
  const requeued = await client.call('requeueAll');
  const named = await client.call('namedBlobs');
  const files = new Set<BlobName>(await blobs.names());
  const missing: EntryId[] = [];
  for (const { blob, entry } of named) {
    // What remains in `files` afterwards is named by no row.
    if (!files.has(blob) && entry !== null) missing.push(entry);
  }
  for (const { blob } of named) files.delete(blob);
  for (const orphan of files) await blobs.remove(orphan);
  return { requeued, orphans: files.size, missing };
}

async function sweep(client: StoreClient, blobs: BlobFiles, retention: Retention): Promise<Swept> {
  const total = { entries: 0, raws: 0, files: 0 };
  for (;;) {
    const swept = await client.call('sweep', retention);
    for (const blob of swept.unused) await blobs.remove(blob);
    total.entries += swept.entries;
    total.raws += swept.raws;
    total.files += swept.unused.length;
    if (!swept.more) return total;
  }
}
