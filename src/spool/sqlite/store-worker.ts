import { parentPort, workerData } from 'node:worker_threads';
import { serveStore, type StoreOptions } from './serve-store.ts';

if (parentPort === null) throw new Error('the store worker runs in a worker thread');
// `workerData` is what open-client.ts passes, of this very type.
void serveStore(parentPort, workerData as StoreOptions);
