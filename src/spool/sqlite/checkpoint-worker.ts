import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { isMarked, markFailed } from '../store-failure.ts';
import { logBytes } from './database.ts';
import type { WorkerOptions } from './store-client.ts';
import { codeOf } from '../../runtime/error-code.ts';

/**
 * The thread that copies the write-ahead log back into the database, so that no acknowledgement
 * waits for it. PASSIVE takes no lock that a commit needs (sqlite.org/wal.html, "Checkpointing").
 * The writer bounds the log when it has grown large without a pause.
 */
const EVERY_MS = 250;
const WORTH_IT_BYTES = 4 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('the checkpoint worker runs in a worker thread');
// `workerData` is what store-client.ts passes, of this very type.
const { file, failed } = workerData as WorkerOptions;
const db = new Database(file, { timeout: 5000 });
db.pragma('synchronous = FULL');
db.pragma('wal_autocheckpoint = 0');

let done = 0;

function checkpoint(): void {
  try {
    db.pragma('wal_checkpoint(PASSIVE)');
    done = Number(db.pragma('data_version', { simple: true }));
  } catch (error) {
    // The database cannot grow on a full disk; the log keeps everything until it can. Any other
    // error, an fsync that failed above all, ends the thread, and with it the store.
    if (codeOf(error) === 'SQLITE_FULL') return;
    markFailed(failed);
    throw error;
  }
}

// The first sync of a connection syncs the folder too, and SQLite keeps a failure of that to itself
// (os_unix.c, unixSync): it is made before the first acknowledgement.
checkpoint();
const timer = setInterval(() => {
  // After a failure the log is evidence: nobody copies from it, or begins it anew.
  if (isMarked(failed)) return;
  // The log keeps its size when it is begun anew: only a change says that there is work.
  if (logBytes(file) < WORTH_IT_BYTES || db.pragma('data_version', { simple: true }) === done)
    return;
  checkpoint();
}, EVERY_MS);

port.once('message', () => {
  clearInterval(timer);
  db.close();
  port.close();
});
port.postMessage('ready');
