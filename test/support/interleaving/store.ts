import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { EntryId } from '../../../src/domain/ids.ts';
import {
  type Claimed,
  FIRST_REFUSAL_NUMBER,
  type Lease,
  type NewEntry,
} from '../../../src/spool/entry.ts';
import { Database } from '../../../src/spool/postgres/connection.ts';
import { openPostgresStore } from '../../../src/spool/postgres/open.ts';
import { startCluster } from '../postgres-cluster.ts';
import { tempDir } from '../temp-dir.ts';
import { anEntry, because, claimFrom, retryLater, SHOP } from '../entries.ts';
import {
  type Answer,
  type CallName,
  CALLS,
  DAY,
  dead,
  LEASE,
  type Gateway,
  type Scene,
} from './calls.ts';
import { Interleaver, type Turn } from './interleaver.ts';
import { END_FUNCTION, type End, violationsOf } from './violations.ts';

const GATEWAYS = 3;
/** All that the calls change. */
const TABLES = [
  ...['entry', 'raw', 'remote', 'job', 'lane', 'outcome', 'timeline', 'record', 'media', 'move'],
  ...['dirty', 'erased_key', 'erasure_rest'],
];

/** A small store with an entry in each situation. Each run begins with the same rows. */
export class InterleavedStore implements Scene {
  readonly interleaver: Interleaver;
  readonly eraseFunction: string;
  readonly #gateways: readonly Gateway[];
  /** Its calls do not stop. */
  readonly #plain: Gateway;
  readonly #entries = new Map<string, NewEntry>();
  #inFlight: readonly Claimed[] = [];

  private constructor(
    interleaver: Interleaver,
    gateways: readonly Gateway[],
    plain: Gateway,
    eraseFunction: string,
  ) {
    this.interleaver = interleaver;
    this.#gateways = gateways;
    this.#plain = plain;
    this.eraseFunction = eraseFunction;
  }

  /** @param url of an empty database */
  static async open(url: string, folder: string): Promise<InterleavedStore> {
    const open = async (own: string): Promise<Gateway> => ({
      store: await openPostgresStore({
        ...{ url: own, instance: randomUUID(), scratchFolder: join(folder, randomUUID()) },
      }),
      database: new Database(own),
    });
    const plain = await open(url);
    const interleaver = await Interleaver.open(url, GATEWAYS);
    const gateways: Gateway[] = [];
    for (let who = 1; who <= GATEWAYS; who += 1) gateways.push(await open(interleaver.urlOf(who)));
    await interleaver.query(END_FUNCTION);
    const [erase] = await interleaver.query<{ name: string }>(
      `SELECT proname::text AS name FROM pg_proc WHERE proname LIKE 'erase_entries_%'`,
    );
    const store = new InterleavedStore(interleaver, gateways, plain, erase?.name ?? '');
    await store.#prepare();
    return store;
  }

  /** Also closes the interleaver, after its last connections. Resolves with the number of deadlocks. */
  async close(): Promise<number> {
    for (const { store, database } of [...this.#gateways, this.#plain]) {
      await store.spool.close();
      await database.close();
    }
    const deadlocks = await this.interleaver.deadlocks();
    await this.interleaver.close();
    return deadlocks;
  }

  entry(name: string): NewEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`there is no entry ${name}`);
    return entry;
  }

  /** Of an entry that is in flight when a run begins. */
  lease(name: string): Lease {
    const { id } = this.entry(name);
    const claimed = this.#inFlight.find(({ entry }) => entry.id === id);
    if (claimed === undefined) throw new Error(`${name} is not in flight`);
    return claimed.lease;
  }

  async #prepare(): Promise<void> {
    const { spool, openEraser } = this.#plain.store;
    const named = (name: string, change: Partial<NewEntry> = {}) => {
      const entry = anEntry({ lane: name.split(' ')[1] ?? '', ...change });
      this.#entries.set(name, entry);
      return entry;
    };
    const claimMore = async () => {
      this.#inFlight = [...this.#inFlight, ...(await claimFrom(spool, SHOP, 100, LEASE))];
    };
    await openEraser().hashOf('nobody');
    await spool.accept([
      ...[named('dead busy'), named('discarded busy'), named('head busy'), named('next busy')],
      ...[named('late ended'), named('next ended'), named('delivered idle')],
      ...[named('held held', { hold: because('held') }), named('refused waits')],
      ...[
        named('crashed crash'),
        named('next crash'),
        named('requeued again'),
        named('later hour'),
      ],
      named('mail mail', { channel: 'email', remoteId: '<first@b>' }),
    ]);
    await spool.discard(this.entry('discarded busy').id);
    await claimMore();
    const outcomes = [
      ...([['dead busy', dead] as const, ['requeued again', dead] as const] as const),
      ...['delivered idle', 'mail mail'].map((name) => [name, { state: 'delivered' }] as const),
      ['later hour', retryLater({ retryInMs: DAY / 24 })] as const,
      ['refused waits', retryLater({ waitsFor: FIRST_REFUSAL_NUMBER })] as const,
    ];
    for (const [name, outcome] of outcomes) {
      await spool.settle(this.lease(name), outcome, { steps: [] });
    }
    await claimMore();
    await spool.requeue(this.entry('requeued again').id);
    await spool.accept([named('due due'), named('detached due', { detached: true })]);
    await this.#set('due_at = 0', 'late ended');
    await this.#set(`owner = 'crashed'`, 'crashed crash');
    await this.interleaver.keep(TABLES);
  }

  async #set(what: string, name: string): Promise<void> {
    await this.interleaver.query(
      `UPDATE lane SET ${what} FROM entry WHERE head = seq AND entry.id = $1`,
      [this.entry(name).id],
    );
  }

  /** One run: each gateway makes its call, in the order of `turns`. Resolves with what is wrong afterwards. */
  async run(
    names: readonly CallName[],
    turns: readonly Turn[],
  ): Promise<{ readonly stopped: readonly boolean[]; readonly violations: readonly string[] }> {
    const calls = names.map((name, index) => async () => {
      const gateway = this.#gateways[index];
      if (gateway === undefined) throw new Error('there are fewer gateways');
      return CALLS[name](this, gateway);
    });
    const { results, stopped } = await this.interleaver.run(calls, turns);
    const answers = results.flatMap((result): Answer[] =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [`a call failed: ${describe(result.reason)}`] : [],
    );
    const isSwept = names.includes('sweep');
    const violations = await this.#end(answers.flatMap((answer) => answer.claimed ?? [])).then(
      (end) => violationsOf(end, answers, isSwept, (id) => this.#nameOf(id)),
      (error: unknown) => [`what is queued cannot be delivered: ${describe(error)}`],
    );
    return { stopped, violations: [...failures, ...violations] };
  }

  async #end(claimed: readonly Claimed[]): Promise<End> {
    const [row] = await this.interleaver.query<{ found: End }>(
      'SELECT interleaved_end($1) AS found',
      [JSON.stringify(claimed.map(({ lease }) => lease))],
    );
    if (row === undefined) throw new Error('a function answers');
    return row.found;
  }

  #nameOf(id: EntryId): string {
    for (const [name, entry] of this.#entries) if (entry.id === id) return `'${name}'`;
    return 'an accepted entry';
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}

/** A cluster with this store. `close` resolves with the number of deadlocks. */
export async function openInterleaved(): Promise<{
  readonly store: InterleavedStore;
  readonly close: () => Promise<number>;
}> {
  const dir = tempDir();
  // Nothing but the calls takes locks, and a deadlock is resolved soon.
  const settings = ['fsync = off', 'autovacuum = off', 'deadlock_timeout = 20ms'];
  const cluster = await startCluster({ settings });
  const store = await InterleavedStore.open(await cluster.createDatabase(), dir.path);
  return {
    store,
    close: async () => {
      try {
        return await store.close();
      } finally {
        await cluster.stop();
        dir.remove();
      }
    },
  };
}
