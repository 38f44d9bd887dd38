import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { codeOf } from '../../runtime/error-code.ts';
import { serveRpc } from '../../runtime/worker-rpc.ts';
import { isMarked, markFailed } from '../errors.ts';
import { logBytes } from './database.ts';
import type { StoreOptions } from './serve-store.ts';

export type CheckpointThreadData = Pick<StoreOptions, 'file' | 'failed'>;

/** What the thread offers. */
export interface CheckpointThread {
  /** Makes the first checkpoint, before the first acknowledgement. */
  readonly start: () => void;
  readonly close: () => void;
}

/**
 * The thread that runs checkpoints, so that no acknowledgement waits for them. A PASSIVE checkpoint
 * takes no lock that a commit needs (sqlite.org/wal.html, "Checkpointing"). Under continuous load
 * the writer limits the WAL's size instead.
 */
const EVERY_MS = 1000;
const WORTH_IT_BYTES = 4 * 1024 * 1024;

// `workerData` is what open-client.ts passes, of this very type.
const { file, failed } = workerData as CheckpointThreadData;
const db = new Database(file, { timeout: 5000 });
db.pragma('synchronous = FULL');
db.pragma('wal_autocheckpoint = 0');

let done = 0;
let timer: NodeJS.Timeout | undefined;

function checkpoint(): void {
  try {
    db.pragma('wal_checkpoint(PASSIVE)');
    done = Number(db.pragma('data_version', { simple: true }));
  } catch (error) {
    // On a full disk the database cannot grow, and the WAL keeps everything until it can. Any other
    // error, such as a failed fsync, ends the thread and fails the store.
    if (codeOf(error) === 'SQLITE_FULL') return;
    markFailed(failed);
    throw error;
  }
}

function checkpointIfWorthIt(): void {
  // After a failure the WAL must stay as it is: no checkpoint, and no restart of the WAL.
  if (isMarked(failed)) return;
  // The WAL keeps its size when it restarts: only a changed data_version means work.
  if (logBytes(file) < WORTH_IT_BYTES || db.pragma('data_version', { simple: true }) === done)
    return;
  checkpoint();
}

serveRpc<CheckpointThread>(parentPort, {
  start: () => {
    // The first fsync of a connection also syncs the folder, and SQLite ignores an error of that
    // (os_unix.c, unixSync), so it happens here, before the first acknowledgement.
    checkpoint();
    timer = setInterval(checkpointIfWorthIt, EVERY_MS);
  },
  close: () => {
    clearInterval(timer);
    db.close();
  },
});
