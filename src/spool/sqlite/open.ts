import { join } from 'node:path';
import { DurableFiles, makeFolder } from '../../runtime/durable-files.ts';
import type { BlobName, EntryId } from '../../domain/ids.ts';
import { Ballast, BALLAST_FILE } from '../ballast.ts';
import { BlobFiles } from '../blobs.ts';
import { BLOB_LOCK, DataFolderLock, SharedLock } from '../locks.ts';
import { findAuditLines } from '../cold/audit.ts';
import { decodeRecord } from '../delivery-record.ts';
import type { Accepted, NewEntry } from '../entry.ts';
import type { Remote } from '../methods.ts';
import type { Store } from '../store.ts';
import { createMonotonicClock } from '../../runtime/clock.ts';
import { budgetsInMemory } from '../../runtime/budgets.ts';
import { soleLeases } from '../../runtime/leases.ts';
import { LocalSignals } from '../signals.ts';
import type { Recovered } from '../spool.ts';
import { sweepStore } from '../sweep.ts';
import { StoreFailure } from '../errors.ts';
import { renewSummariesAfter, type SummarySources } from '../renew-summaries.ts';
import { SUMMARY_VERSION } from '../stored-form.ts';
import { logGrowthBytes } from './database.ts';
import type { Operations } from './operations.ts';
import { createDeliverySpool } from './delivery-spool.ts';
import { openStoreClient } from './open-client.ts';
import { purgePostponed } from './vacuum.ts';
import { type OnCommit, storeOperations } from './store-client.ts';

export interface SqliteSpoolOptions {
  /** The data folder; created when missing. */
  readonly dir: string;
  /** `owner`: the gateway. `beside`: a command, which does not lock the data folder. */
  readonly role: 'owner' | 'beside';
  /** Nothing is accepted while less than this is free: 1.5 × the largest message. */
  readonly reserveBytes: number;
  /**
   * Whether SQLite has threads of its own, one for the calls and one for checkpoints; by default, an
   * owner's. They keep commits off the caller's event loop, but starting them takes longer
   * than the work of most commands.
   */
  readonly threads?: boolean;
  readonly onCommit?: OnCommit;
}

/**
 * Opens the embedded store in a data folder: `spool.db` and the folder `blobs/`.
 * @throws {SpoolUnusable} locked, damaged, or of a newer version
 */
export async function openSqliteStore(options: SqliteSpoolOptions): Promise<Store> {
  makeFolder(options.dir);
  const { dir, role, reserveBytes } = options;
  const isOwner = role === 'owner';
  const lock = isOwner ? DataFolderLock.take(dir) : undefined;
  try {
    if (isOwner) await purgePostponed(dir);
    const failure = new StoreFailure();
    const files = new DurableFiles((cause) => failure.fail(cause));
    const { client, close } = await openStoreClient(
      { file: join(dir, 'spool.db'), role, threads: options.threads ?? isOwner },
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
    // The WAL exists by now; SQLite's own fsync of its folder ignores errors.
    await files.syncFolder(dir);
    if (isOwner) await ballast.hold();
    // Calls that were already posted still find the disk full.
    const makeSpace = () => ballast.drop(() => client.call('mark', ''));
    const remote = storeOperations(client, { assertHeld: () => ballast.assertHeld(), makeSpace });
    return {
      files,
      neededBytes: () => blobs.neededBytes,
      spool: {
        ...createDeliverySpool(remote, blobs),
        accept: (entries) => (isOwner ? remote.accept(entries) : acceptBeside(remote, entries)),
        recover: () => recover(remote, blobs, blobLock),
        sweep: async (retention) => {
          const swept = await sweepStore(remote, blobs, retention);
          await ballast.hold();
          return swept;
        },
        assertSound: () => failure.assertSound(),
        onFatal: (listener) => failure.onFail(listener),
        close: async () => {
          await ballast.settled();
          await close();
          await blobLock.release();
          lock?.release();
        },
      },
      operator: {
        ...remote,
        record: async (id) => {
          const stored = await remote.record(id);
          return stored === undefined ? undefined : decodeRecord(stored);
        },
        auditLines: (page) => findAuditLines(remote, page),
      },
      apiTokens: remote,
      chat: remote,
      signals: new LocalSignals(),
      optOuts: remote,
      leases: soleLeases,
      openBudget: budgetsInMemory(createMonotonicClock()),
      renewSummaries: (forms, signal) => renewSummaries(remote, { blobs, forms }, signal),
      sharing: {
        share: () => ({ dir, port: client.share(), failed: failure.shared }),
        makeSpace,
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** A large backlog is filed in portions, so that the gateway's commits do not wait long. */
async function acceptBeside(
  remote: Remote<Operations>,
  entries: readonly NewEntry[],
): Promise<readonly Accepted[]> {
  while (await remote.fileSome()) continue;
  return remote.acceptFiled(entries);
}

async function recover(
  remote: Remote<Operations>,
  blobs: BlobFiles,
  lock: SharedLock,
): Promise<Recovered> {
  const requeued = await remote.requeueAll();
  return lock.whileAlone(async (isAlone) => {
    const named = await remote.namedBlobs();
    const files = new Set<BlobName>(await blobs.names());
    const missing: EntryId[] = [];
    for (const { blob, entry } of named) {
      // Files that remain in `files` afterwards have no row.
      if (!files.has(blob) && entry !== null) missing.push(entry);
    }
    for (const { blob } of named) files.delete(blob);
    // A command that is writing may be about to reference them; the next start removes the rest.
    if (!isAlone) return { requeued, orphans: 0, missing };
    for (const orphan of files) await blobs.remove(orphan);
    return { requeued, orphans: files.size, missing };
  });
}

/** The mark with the version for which every entry has a summary. */
const SUMMARIES = 'summaries';

/**
 * Computes summaries that are missing or were made by an earlier version; once per version.
 * @returns how many were computed; after an abort the next start continues
 */
async function renewSummaries(
  remote: Remote<Operations>,
  sources: SummarySources,
  signal: AbortSignal,
): Promise<number> {
  if ((await remote.mark(SUMMARIES)) === SUMMARY_VERSION) return 0;
  const renewed = await renewSummariesAfter(0, remote, sources, signal);
  if (!signal.aborted) await remote.setMark(SUMMARIES, SUMMARY_VERSION);
  return renewed;
}
