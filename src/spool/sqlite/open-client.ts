import { MessageChannel, Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { RpcThread, workerUrl } from '../../runtime/worker-rpc.ts';
import type { StoreFailure } from '../errors.ts';
import type { CheckpointThread, CheckpointThreadData } from './checkpoint-worker.ts';
import { serveStore, type StoreOptions } from './serve-store.ts';
import { type OnCommit, type Server, StoreClient } from './store-client.ts';

interface OpenedClient {
  readonly client: StoreClient;
  /** Commits the calls made before, then closes the database. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the database, in a thread of its own or in this one.
 * @throws {SpoolUnusable} the database cannot be opened
 */
export async function openStoreClient(
  { file, role, threads }: Pick<StoreOptions, 'file' | 'role'> & { readonly threads: boolean },
  failure: StoreFailure,
  onCommit: OnCommit,
): Promise<OpenedClient> {
  const options: StoreOptions = { file, role, failed: failure.shared };
  const server = threads ? startThread(options) : serveHere(options);
  const client = await StoreClient.of(server, failure, { onCommit });
  const log = keepLog(file);
  const close = async () => {
    if (!failure.hasFailed) log.close();
    await client.close();
  };
  if (!threads) return { client, close };
  const checkpoints = new RpcThread<CheckpointThread>(
    workerUrl(import.meta.url, './checkpoint-worker.ts'),
    {
      data: { file, failed: failure.shared } satisfies CheckpointThreadData,
      onDeath: (_inFlight, error) => client.fail(error ?? new Error('the checkpoint thread ended')),
    },
  );
  // Rejects when the first checkpoint failed.
  await checkpoints.call('start');
  return {
    client,
    close: async () => {
      // Rejects when the thread has ended: the store has failed.
      await checkpoints.call('close').catch(() => undefined);
      await checkpoints.stop();
      await close();
    },
  };
}

function startThread(workerData: StoreOptions): Server {
  const worker = new Worker(workerUrl(import.meta.url, './store-worker.ts'), { workerData });
  return {
    port: worker,
    onEnd: (listener) => {
      worker.on('error', listener);
      worker.on('exit', () => listener(new Error('the database thread ended')));
    },
    stop: () => worker.terminate(),
  };
}

function serveHere(options: StoreOptions): Server {
  const { port1: port, port2 } = new MessageChannel();
  void serveStore(port2, options);
  return { port, onEnd: () => undefined, stop: () => port.close() };
}

/**
 * Keeps a read-only connection open. The last connection to close runs a checkpoint and deletes
 * the WAL, even after a failure, when it is unknown which part of the WAL is on the disk. A
 * read-only connection does neither, and while it is open no other connection is the last one.
 */
function keepLog(file: string): Database.Database {
  const reader = new Database(file, { readonly: true, fileMustExist: true, timeout: 5000 });
  reader.prepare('SELECT count(*) FROM sqlite_master').get();
  return reader;
}
