import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { codeOf } from './sqlite-code.ts';
import type { WorkerOptions } from './protocol.ts';

/**
 * The thread that copies the write-ahead log back into the database, so that no acknowledgement
 * waits for it. PASSIVE takes no lock that a commit needs (sqlite.org/wal.html, "Checkpointing").
 * The writer's own automatic checkpoint stays as a bound: it finishes what is left when the log
 * has grown large without a pause.
 */
const EVERY_MS = 250;
const WORTH_IT_BYTES = 4 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('the checkpoint worker runs in a worker thread');
// `workerData` is what store-client.ts passes, of this very type.
const { file } = workerData as WorkerOptions;
const db = new Database(file, { timeout: 5000 });
db.pragma('synchronous = FULL');

let done = 0;
const timer = setInterval(() => {
  const bytes = logBytes();
  // The log keeps its size when it is begun anew: only a change says that there is work.
  if (bytes < WORTH_IT_BYTES || db.pragma('data_version', { simple: true }) === done) return;
  try {
    db.pragma('wal_checkpoint(PASSIVE)');
    done = Number(db.pragma('data_version', { simple: true }));
  } catch (error) {
    // The database cannot grow on a full disk; the log keeps everything until it can. Any other
    // error, an fsync that failed above all, ends the thread, and with it the store.
    if (codeOf(error) !== 'SQLITE_FULL') throw error;
  }
}, EVERY_MS);

function logBytes(): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

port.once('message', () => {
  clearInterval(timer);
  db.close();
  port.close();
});
