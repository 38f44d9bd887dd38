import Database from 'better-sqlite3';
import type { NewEntry } from '../../src/spool/entry.ts';
import { SpoolFull, SpoolUnavailable } from '../../src/spool/errors.ts';
import { refusalEnds } from '../../src/spool/cold/refusals.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { updateSchema } from '../../src/runtime/sqlite-schema.ts';
import { SPOOL_SCHEMA } from '../../src/spool/sqlite/schema.ts';
import {
  createOperations,
  type OperationName,
  type Operations,
  runBatch,
  StoreFailed,
} from '../../src/spool/sqlite/operations.ts';
import { type OperationCaller, remoteOperations } from '../../src/spool/sqlite/store-client.ts';
import type { Clock } from '../../src/runtime/clock.ts';

/** The fate of one store call. */
export type CallFate =
  | 'done'
  | 'not done'
  | 'done, but the process dies'
  | 'done, but not answered'
  | 'full'
  | 'lost';

/**
 * The real store code (`src/spool/sqlite`) on an in-memory database that survives the simulated
 * processes: committed calls are there after a crash, and nothing else is.
 */
export class SimulatedDisk {
  readonly db: Database.Database;
  /** The operations of the database's thread, by name; a fault may replace one. */
  readonly operations: Operations;
  readonly #store;
  #clock: Clock = () => 0;

  constructor() {
    this.db = new Database(':memory:');
    updateSchema(this.db, ':memory:', SPOOL_SCHEMA);
    const made = createOperations(this.db, () => this.#clock());
    this.operations = { ...made.operations };
    this.#store = { ...made, operations: this.operations };
  }

  /** Empties the database, which is cheaper than creating one. */
  wipe(): void {
    const tables = this.db
      .prepare<[], { name: string }>(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
      )
      .all();
    this.db.exec(tables.map(({ name }) => `DELETE FROM ${name};`).join(''));
    this.db.exec('DELETE FROM sqlite_sequence');
    this.open(() => 0);
  }

  /** Opens the database for a new process: the last one's in-memory state is lost. */
  open(clock: Clock): void {
    this.#clock = clock;
    this.#store.fresh.read();
    this.#store.erased.refresh();
  }

  /** The entries by their messages' tags. */
  byTag(): ReadonlyMap<string, StoredEntry> {
    const rows = this.db.prepare<[], StoredEntry & { meta: string }>(`SELECT * FROM entries`).all();
    return new Map(rows.map(({ meta, ...row }) => [/#[^#]*#/.exec(meta)?.[0] ?? meta, row]));
  }

  /** @throws the error that the database's thread would have returned */
  call<Name extends OperationName>(
    name: Name,
    args: Parameters<Operations[Name]>,
  ): ReturnType<Operations[Name]> {
    const [result] = runBatch(this.#store, [{ id: 1, name, args }]);
    if (result === undefined) throw new StoreFailed('no result');
    if (!result.ok) {
      if (process.env['SIM_DEBUG']) console.log(result.message);
      throw new SpoolUnavailable(result.message);
    }
    // The result of the operation `name`.
    return result.value as ReturnType<Operations[Name]>;
  }
}

export interface StoredEntry {
  readonly seq: number;
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly generation: number;
  readonly waits: number;
  readonly claimable: number;
  readonly next_attempt_at: number;
  readonly notes: string | null;
}

export interface StoreHooks {
  /** The duration of a call in milliseconds. */
  readonly latency: () => number;
  readonly fate: (name: OperationName) => CallFate;
  /** Makes a call, for a process that shares the database with others. */
  readonly call?: SimulatedDisk['call'];
  /** Called with each call that was made and its result. */
  readonly watch: (name: OperationName, args: readonly unknown[], result: unknown) => void;
  /** Delivers a result to the process, unless it has died or was killed since. */
  readonly answer: (afterMs: number, settle: () => void) => void;
  readonly die: () => void;
  /** Whether the calling process is still alive. */
  readonly isAlive: () => boolean;
  /** May change a call's arguments. */
  readonly prepare: (name: OperationName, args: unknown[]) => unknown[];
}

/** The spool as one process sees it. */
export function simulatedSpool(disk: SimulatedDisk, hooks: StoreHooks): Spool {
  const call: SimulatedDisk['call'] = hooks.call ?? ((name, args) => disk.call(name, args));
  const send: OperationCaller = (name, ...args) =>
    new Promise((resolve, reject) => {
      if (!hooks.isAlive()) return;
      // Arguments for another thread are copied.
      const copy = structuredClone(args);
      const prepared = hooks.prepare(name, copy) as typeof copy;
      const afterMs = hooks.latency();
      const fate = hooks.fate(name);
      if (fate === 'lost') {
        // Acknowledged without being stored.
        const lost = (args[0] as readonly NewEntry[]).map(({ id }) => ({ id, duplicate: false }));
        hooks.answer(afterMs, () => resolve(lost as ReturnType<Operations[typeof name]>));
        return;
      }
      if (fate === 'not done' || fate === 'full') {
        const error = fate === 'full' ? new SpoolFull('full') : new SpoolUnavailable('it failed');
        hooks.answer(afterMs, () => reject(error));
        return;
      }
      try {
        const result = call(name, prepared);
        hooks.watch(name, args, result);
        if (fate === 'done, but the process dies') hooks.die();
        else if (fate === 'done, but not answered') {
          hooks.answer(afterMs, () => reject(new SpoolUnavailable('no answer')));
        } else hooks.answer(afterMs, () => resolve(result));
      } catch (error) {
        hooks.answer(afterMs, () => reject(error instanceof Error ? error : new Error('unknown')));
      }
    });
  const remote = remoteOperations(Object.keys(disk.operations) as OperationName[], send);
  return {
    blobs: {
      assertSpace: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      writer: unused,
      read: unused,
      isRemote: false,
      scratch: unused,
      exists: unused,
    },
    ...remote,
    ...refusalEnds(remote),
    claim: async (...args) => (await remote.claim(...args)).map(({ claimed }) => claimed),
    settle: (lease, outcome, settlement) => remote.settle(lease, outcome, settlement),
    conversation: (lane) => remote.conversation(key(lane)),
    rememberConversation: (lane, id) =>
      remote.rememberConversation({ ...key(lane), ...(lane.id && { id: lane.id }) }, id),
    forgetConversation: (lane) => remote.forgetConversation(key(lane)),
    recover: async () => ({ requeued: await remote.requeueAll(), orphans: 0, missing: [] }),
    assertSound: () => undefined,
    sweep: unused,
    onFatal: () => undefined,
    close: () => Promise.resolve(),
  };
}

const key = ({ shopId, channel, lane }: Parameters<Spool['conversation']>[0]) => ({
  shopId,
  channel,
  lane,
});

function unused(): never {
  throw new Error('the simulation has no files');
}
