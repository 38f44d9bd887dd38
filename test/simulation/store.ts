import Database from 'better-sqlite3';
import type { NewEntry } from '../../src/spool/entry.ts';
import { SpoolFull, SpoolUnavailable } from '../../src/spool/errors.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { runBatch, StoreFailed } from '../../src/spool/sqlite/batch.ts';
import { MIGRATIONS } from '../../src/spool/sqlite/migrations.ts';
import {
  createOperations,
  type OperationName,
  type Operations,
} from '../../src/spool/sqlite/operations.ts';
import { type OperationCaller, remoteOperations } from '../../src/spool/sqlite/store-calls.ts';
import type { Clock } from '../../src/runtime/clock.ts';

/** What becomes of one call of the store. */
export type CallFate = 'done' | 'not done' | 'done, but the process dies' | 'full' | 'lost';

/**
 * The store's own code (`src/spool/sqlite`) on a database in memory that outlives the simulated
 * processes: what a call has committed is there after a crash, and nothing else.
 */
export class SimulatedDisk {
  readonly db: Database.Database;
  /** What the database's thread is asked, by name; a fault may be put in the place of one. */
  readonly operations: Operations;
  readonly #store;
  #clock: Clock = () => 0;

  constructor() {
    this.db = new Database(':memory:');
    for (const sql of MIGRATIONS) this.db.exec(sql);
    const made = createOperations(this.db, () => this.#clock());
    this.operations = { ...made.operations };
    this.#store = { db: this.db, ...made, operations: this.operations };
  }

  /** An empty database, as new; cheaper than to make one. */
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

  /** A process opens it: what only the last one had in memory is gone. */
  open(clock: Clock): void {
    this.#clock = clock;
    this.#store.fresh.read();
    this.#store.erased.refresh();
  }

  /** @throws what the database's thread would have answered with */
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
    // The result of the operation of that name.
    return result.value as ReturnType<Operations[Name]>;
  }
}

export interface StoreHooks {
  /** Milliseconds that a call takes. */
  readonly latency: () => number;
  readonly fate: (name: OperationName) => CallFate;
  /** Called with each call that was made, and what it came to. */
  readonly watch: (name: OperationName, args: readonly unknown[], result: unknown) => void;
  /** Resolves in the process, unless it has died or been killed since. */
  readonly answer: (afterMs: number, settle: () => void) => void;
  readonly die: () => void;
  /** Whether the process that calls has not died meanwhile. */
  readonly isAlive: () => boolean;
  /** May change what a call is made with. */
  readonly prepare: (name: OperationName, args: unknown[]) => unknown[];
}

/** The spool as one process sees it. */
export function simulatedSpool(disk: SimulatedDisk, hooks: StoreHooks): Spool {
  const call: OperationCaller = (name, ...args) =>
    new Promise((resolve, reject) => {
      if (!hooks.isAlive()) return;
      // What goes to another thread is a copy.
      const copy = structuredClone(args);
      const prepared = hooks.prepare(name, copy) as typeof copy;
      const afterMs = hooks.latency();
      const fate = hooks.fate(name);
      if (fate === 'lost') {
        // Acknowledged, and nothing stored.
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
        const result = disk.call(name, prepared);
        hooks.watch(name, args, result);
        if (fate === 'done, but the process dies') hooks.die();
        else hooks.answer(afterMs, () => resolve(result));
      } catch (error) {
        hooks.answer(afterMs, () => reject(error instanceof Error ? error : new Error('unknown')));
      }
    });
  const remote = remoteOperations(Object.keys(disk.operations) as OperationName[], call);
  return {
    blobs: {
      assertSpace: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      writer: unused,
      read: unused,
      path: unused,
    },
    ...remote,
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
