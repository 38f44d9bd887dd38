import { randomUUID } from 'node:crypto';
import type { EntryId } from '../../../src/domain/ids.ts';
import {
  type Claimed,
  FIRST_REFUSAL_NUMBER,
  type Lease,
  type NewEntry,
  type Outcome,
} from '../../../src/spool/entry.ts';
import type { Database } from '../../../src/spool/postgres/connection.ts';
import type { PostgresStore } from '../../../src/spool/postgres/open.ts';
import { retentionTable } from '../../../src/spool/postgres/retention.ts';
import { anEntry, because, claimFrom, retryLater, SHOP } from '../entries.ts';

/** Longer than all runs together. */
export const DAY = 24 * 3_600_000;
/** A lease that does not end within a run. */
export const LEASE = 1_800_000;

/** What the call of a gateway answered, as far as another call's answer or the rows may contradict it. */
export interface Answer {
  readonly claimed?: readonly Claimed[];
  readonly accepted?: readonly { readonly entry: NewEntry; readonly id: EntryId }[];
  /** It is over: delivered, dead, discarded or taken back. */
  readonly over?: EntryId;
  readonly erased?: readonly EntryId[];
  /** Lanes that did not say what their jobs do. */
  readonly repaired?: number;
}

export interface Gateway {
  readonly store: PostgresStore;
  readonly database: Database;
}

/** The entries when a run begins. The second word of a name is the lane. */
export interface Scene {
  entry(name: string): NewEntry;
  /** Of an entry that is in flight. */
  lease(name: string): Lease;
  readonly eraseFunction: string;
}

type Call = (scene: Scene, gateway: Gateway) => Promise<Answer>;

const isOver = (id: EntryId, is: boolean): Answer => (is ? { over: id } : {});

const accept =
  (entries: (scene: Scene) => readonly NewEntry[]): Call =>
  async (scene, gateway) => {
    const sent = entries(scene);
    const accepted = await gateway.store.spool.accept(sent);
    return { accepted: sent.map((entry, n) => ({ entry, id: accepted[n]?.id ?? entry.id })) };
  };
const again = (entry: NewEntry): NewEntry => ({ ...entry, id: anEntry().id });
const mail = (remoteId: string): NewEntry =>
  anEntry({
    channel: 'email',
    lane: 'mail',
    remoteId,
    remoteIdIfTaken: `${remoteId}${randomUUID()}`,
  });

const claim =
  (limit: number): Call =>
  async (_, { store: { spool } }) => ({ claimed: await claimFrom(spool, SHOP, limit, LEASE) });

export const dead = { state: 'dead', reason: because('dead') } as const;
const settle =
  (name: string, outcome: Outcome, followUps?: (scene: Scene) => readonly NewEntry[]): Call =>
  async (scene, { store: { spool } }) => {
    const lease = scene.lease(name);
    const settlement = { steps: [], ...(followUps && { followUps: followUps(scene) }) };
    const isSettled = await spool.settle(lease, outcome, settlement);
    return isOver(lease.id, isSettled && outcome.state !== 'queued');
  };

const erase =
  (names: readonly string[]): Call =>
  async (scene, { database }) => {
    const ids = names.map((name) => scene.entry(name).id);
    const kept = await database.query<{ id: EntryId }>(
      `SELECT id FROM ${scene.eraseFunction}($1::uuid[], true) AS id`,
      [ids],
    );
    return { erased: ids.filter((id) => kept.every((each) => each.id !== id)) };
  };

/** The calls of gateways, by name. */
export const CALLS = {
  accept: accept((scene) => [
    ...[anEntry({ lane: 'busy' }), anEntry({ lane: 'idle' })],
    ...[again(scene.entry('delivered idle')), again(scene.entry('next busy'))],
  ]),
  'accept an equal one': accept(() => [
    anEntry({ lane: 'equal', dedupKey: 'equal' }),
    anEntry({ lane: 'busy' }),
  ]),
  'accept mails': accept(() => [mail('<first@b>'), mail('<second@b>')]),
  claim: claim(20),
  'claim one': claim(1),
  settle: settle('head busy', { state: 'delivered' }),
  'settle, claim': async (scene, gateway) => {
    const answers = await Promise.all([
      settle('head busy', { state: 'delivered' })(scene, gateway),
      claim(20)(scene, gateway),
    ]);
    return Object.assign({}, ...answers);
  },
  'settle as dead': settle('head busy', dead),
  'settle late': settle('late ended', { state: 'delivered' }),
  'retry later': settle('head busy', retryLater()),
  detach: settle('head busy', retryLater({ detach: true })),
  'settle with a follow-up': settle('head busy', { state: 'delivered' }, (scene) => [
    ...[anEntry({ lane: 'idle' }), again(scene.entry('next busy'))],
  ]),
  renew: async (scene, { store: { spool } }) => {
    await spool.renew([scene.lease('head busy'), scene.lease('late ended')], LEASE);
    return {};
  },
  requeue: async (scene, { store: { spool } }) => {
    await spool.requeue(scene.entry('dead busy').id);
    return {};
  },
  'requeue after its lease': async (scene, { store: { spool } }) => {
    await spool.requeue(scene.entry('late ended').id);
    return {};
  },
  release: async (scene, { store: { spool } }) => {
    await spool.requeue(scene.entry('held held').id);
    return {};
  },
  discard: async (scene, { store: { spool } }) => {
    const { id } = scene.entry('next busy');
    return isOver(id, await spool.discard(id));
  },
  'discard after its lease': async (scene, { store: { spool } }) => {
    const { id } = scene.entry('late ended');
    return isOver(id, await spool.discard(id));
  },
  restore: async (scene, { store: { operator } }) => {
    await operator.restore(scene.entry('discarded busy').id);
    return {};
  },
  'take back': async (scene, { store: { operator } }) => {
    const { id } = scene.entry('requeued again');
    return isOver(id, await operator.takeBack(id));
  },
  sweep: async (_, { store: { spool } }) => {
    // All that is delivered or discarded, also within this run.
    await spool.sweep({ rawMs: -1000, deadMs: DAY, entriesMs: -1000 });
    return {};
  },
  recover: async (_, { database }) => {
    await retentionTable(database).requeueOwn('crashed');
    return {};
  },
  hasten: async (_, { store: { spool } }) => {
    await spool.hasten(SHOP, 1);
    return {};
  },
  'wait for the shop': async (_, { store: { spool } }) => {
    await spool.waitForShopInstead(SHOP, FIRST_REFUSAL_NUMBER);
    return {};
  },
  repair: async (_, { store: { spool } }) => {
    const { lanes } = await spool.repair({ shops: [SHOP], lanesAfter: -100_000 });
    return { repaired: lanes };
  },
  erase: erase(['next busy', 'delivered idle', 'dead busy']),
  'erase in flight': erase(['head busy', 'late ended']),
} satisfies Readonly<Record<string, Call>>;

export type CallName = keyof typeof CALLS;
