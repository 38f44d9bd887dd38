import type { Reason } from '../../src/domain/reasons.ts';
import { Conversations } from '../../src/delivery/conversations.ts';
import { Later, LearnedAnswers, NotLearned } from '../../src/delivery/answer.ts';
import { Health } from '../../src/delivery/health.ts';
import { Notes } from '../../src/delivery/notes.ts';
import { PlatformError } from '../../src/platform-api/errors.ts';
import { Transport } from '../../src/platform-api/transport.ts';
import type { ClaimRequest, Lease, NewEntry } from '../../src/spool/entry.ts';
import { isProbe } from './history.ts';
import type { Meddling } from './meddling.ts';
import { SharedStore } from './shared-store.ts';
import type { SimulatedDisk } from './store.ts';
import type { SimulatedProcess } from './virtual-time.ts';

/** A former fault of the gateway, or a removed safeguard, which the simulation has to detect. */
export interface Mutation {
  readonly name: string;
  readonly meddling: Meddling;
  /** Only a single gateway, or only one of several, can have this fault. */
  readonly of?: 'one' | 'several';
}

/* oxlint-disable typescript/unbound-method -- methods are taken to be called on their own kind */

/** Replaces functions of a prototype; returns a function that restores them. */
function replaced<T extends object>(
  target: T,
  change: Partial<Record<keyof T, unknown>>,
): () => void {
  const names = Object.keys(change) as (keyof T & string)[];
  const before = names.map((name) => Object.getOwnPropertyDescriptor(target, name));
  for (const name of names) {
    Object.defineProperty(target, name, {
      value: change[name],
      configurable: true,
      writable: true,
    });
  }
  return () => {
    for (const [index, name] of names.entries()) {
      const descriptor = before[index];
      if (descriptor !== undefined) Object.defineProperty(target, name, descriptor);
    }
  };
}

function getter<T extends object>(
  target: T,
  name: keyof T & string,
  get: (this: T) => unknown,
): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { get, configurable: true });
  return () => {
    if (before !== undefined) Object.defineProperty(target, name, before);
  };
}

const ends =
  (...all: (() => void)[]) =>
  () => {
    for (const end of all) end();
  };

/** Ten failures of any messages stop the whole shop, and the probe tries the oldest of them. */
const strangersStopAShop: Meddling = {
  begin: () => {
    const { failed, delivered } = Health.prototype;
    const counts = new WeakMap<Health, number>();
    return ends(
      replaced(Health.prototype, {
        failed(this: Health, lane: string, reason: Reason, options: object) {
          failed.call(this, lane, reason, options);
          const count = (counts.get(this) ?? 0) + 1;
          counts.set(this, count);
          if (count >= 10) this.readsFailed(reason);
        },
        delivered(this: Health, lane: string) {
          counts.set(this, 0);
          delivered.call(this, lane);
        },
        readsAnswered: () => undefined,
      }),
    );
  },
  call: (name, args) => {
    if (name !== 'claim') return args;
    const [requests, ...rest] = args as [ClaimRequest[], ...unknown[]];
    const probes = requests.map((request) =>
      isProbe(request) ? { ...request, from: [1] } : request,
    );
    return [probes, ...rest];
  },
};

/** A probe whose lease was lost, or whose process was paused, never ends. */
const probeThatNeverEnds: Meddling = {
  begin: () => {
    const { beginProbe } = Health.prototype;
    return replaced(Health.prototype, {
      beginProbe(this: Health) {
        const end = beginProbe.call(this);
        const since = performance.now();
        return () => {
          if (performance.now() - since < 12_000) end();
        };
      },
      repairProbe: () => false,
    });
  },
};

const inOrderOfTheFile: Meddling = {
  call: (name, args) => {
    if (name !== 'claim') return args;
    const [requests, leaseMs, atMost, ...rest] = args as [ClaimRequest[], number, number];
    const sorted = requests
      .toSorted((a, b) => (a.shopId < b.shopId ? -1 : 1))
      .map((request) => ({ ...request, limit: atMost }));
    return [sorted, leaseMs, atMost, ...(rest as unknown[])];
  },
};

const probesWaitForMinutes: Meddling = {
  begin: () => {
    const due = Object.getOwnPropertyDescriptor(Health.prototype, 'isProbeDue')?.get;
    const dueSince = new WeakMap<Health, number>();
    return getter(Health.prototype, 'isProbeDue', function () {
      if (due?.call(this) !== true) {
        dueSince.delete(this);
        return false;
      }
      const since = dueSince.get(this) ?? performance.now();
      dueSince.set(this, since);
      return performance.now() - since > 240_000;
    });
  },
};

/** When the conversation id cannot be looked up, the message is submitted again. */
const lookupThatSubmitsAgain: Meddling = {
  begin: () => {
    const { learn } = Conversations.prototype;
    return replaced(Conversations.prototype, {
      async learn(this: Conversations, ...args: Parameters<typeof learn>) {
        try {
          return await learn.apply(this, args);
        } catch (error) {
          if (!(error instanceof NotLearned)) throw error;
          args[0].notes.set({ submitted: undefined, learning: 0 });
          const path = '/v2026-04/messages/';
          throw new Later('messages', new PlatformError({ code: 'network', method: 'GET', path }));
        }
      },
    });
  },
};

const everyEmptyAnswerIsTaken: Meddling = {
  begin: () => replaced(LearnedAnswers.prototype, { isTaken: () => Promise.resolve(true) }),
};

/** Entries wait for their scheduled time even if the clock was set back. */
const clockThatWentBack: Meddling = {
  begin: (disk) =>
    operation(
      disk,
      'requeueAll',
      () =>
        disk.db
          .prepare(
            `UPDATE entries SET state = 'queued', lease_until = NULL WHERE state = 'delivering'`,
          )
          .run().changes,
    ),
};

/** A settle with an old lease succeeds. */
const noFencing: Meddling = {
  begin: (disk) => {
    const { settle } = disk.operations;
    return operation(disk, 'settle', (lease: Lease, ...rest: never[]) => {
      const row = disk.db
        .prepare<[string], { generation: number }>(`SELECT generation FROM entries WHERE id = ?`)
        .get(lease.id);
      disk.db.prepare(`UPDATE entries SET state = 'delivering' WHERE id = ?`).run(lease.id);
      return (settle as (...args: unknown[]) => boolean)({ ...lease, ...row }, ...rest);
    });
  },
};

const noDedup: Meddling = {
  call: (name, args) => {
    if (name !== 'accept') return args;
    const [entries] = args as [NewEntry[]];
    return [
      entries.map((entry) => ({
        ...entry,
        dedupKey: entry.id,
        remoteId: `${entry.remoteId}${entry.id}`,
      })),
    ];
  },
};

/** Every entry of a lane can be claimed, not only the head. */
const noOrder: Meddling = {
  begin: (disk) => {
    const { claim } = disk.operations;
    return operation(disk, 'claim', (...args: Parameters<typeof claim>) => {
      disk.db
        .prepare(`UPDATE entries SET claimable = 1 WHERE state = 'queued' AND filed = 1`)
        .run();
      return claim(...args);
    });
  },
};

/** Leases expire while their attempts continue. */
const noRenewal: Meddling = {
  call: (name, args) => (name === 'renew' ? [[], args[1]] : args),
};

/** All leases count as expired. */
const claimsLeased: Meddling = {
  call: (name, args) => (name === 'claim' ? [...args.slice(0, 3), Number.MAX_SAFE_INTEGER] : args),
};

/** Whether a lease has expired is decided by the clock of the gateway that claims. */
const expiredByOwnClock: Meddling = {
  begin: () => {
    const { call } = SharedStore.prototype;
    return replaced(SharedStore.prototype, {
      call(this: SharedStore, ...[{ name, process }, ...rest]: Parameters<typeof call>) {
        return call.call(this, { name, process: { ...process, skewMs: 0 } }, ...rest);
      },
    });
  },
};

/** A gateway returns all leases to the queue when it starts. */
const recoversLeasesOfOthers: Meddling = {
  begin: (disk) =>
    replaced(SharedStore.prototype, { requeueOwn: () => disk.call('requeueAll', []) }),
};

/** A gateway that was stopped is told that it still has its leases. */
const renewsLostLeases: Meddling = {
  begin: (disk) => {
    const { renew } = disk.operations;
    return operation(disk, 'renew', (...args: Parameters<typeof renew>) => {
      renew(...args);
      return [];
    });
  },
};

const everyGatewayProbes: Meddling = {
  begin: () => replaced(SharedStore.prototype, { take: () => true }),
};

/** A probe's lease ends five seconds after the probe began. */
const probeOutlastsItsLease: Meddling = {
  begin: () => {
    const leases = new Map<string, { holder: SimulatedProcess; until: number }>();
    return replaced(SharedStore.prototype, {
      take: (holder: SimulatedProcess, name: string) => {
        const held = leases.get(name);
        if (held !== undefined && performance.now() < held.until) return held.holder === holder;
        leases.set(name, { holder, until: performance.now() + 5000 });
        return true;
      },
    });
  },
};

function operation<Name extends keyof SimulatedDisk['operations']>(
  disk: SimulatedDisk,
  name: Name,
  by: SimulatedDisk['operations'][Name],
): () => void {
  const before = disk.operations[name];
  disk.operations[name] = by;
  return () => {
    disk.operations[name] = before;
  };
}

/** The message is sent again without a look, as p-retry once did. */
const noLook: Meddling = {
  begin: () => {
    const { set } = Notes.prototype;
    return replaced(Notes.prototype, {
      set(this: Notes, change: Parameters<Notes['set']>[0]) {
        set.call(this, { ...change, lookFirst: false });
      },
    });
  },
};

/** An id under 2xx is a delivery, whatever else the answer says. */
const everyIdIsTaken: Meddling = {
  begin: () => {
    const { call } = Transport.prototype;
    const { isTaken } = LearnedAnswers.prototype;
    return ends(
      replaced(LearnedAnswers.prototype, {
        isTaken(this: LearnedAnswers, ...[form, marks]: Parameters<typeof isTaken>) {
          return form === 'id' ? Promise.resolve(true) : isTaken.call(this, form, marks);
        },
      }),
      replaced(Transport.prototype, {
        async call(this: Transport, ...args: Parameters<typeof call>) {
          const answer = await call.apply(this, args);
          const id = answer.status < 300 && /"id":"[^"]*"/.exec(answer.text)?.[0];
          const isError = /^\{"(?:error|success)"/.test(answer.text);
          return isError && id ? { ...answer, text: `{${id}}` } : answer;
        },
      }),
    );
  },
};

export const MUTATIONS: readonly Mutation[] = [
  { name: "strangers' failures stop a shop", meddling: strangersStopAShop },
  // Of several gateways another one probes, and it claims by the store's clock.
  { name: 'a probe that never ends', meddling: probeThatNeverEnds, of: 'one' },
  { name: 'shops in the order of the file', meddling: inOrderOfTheFile },
  { name: 'probes come after minutes', meddling: probesWaitForMinutes },
  { name: 'acknowledged though it was not stored', meddling: { acknowledgesUnstored: true } },
  { name: 'the intake eats the ballast', meddling: { eatsBallast: true } },
  { name: 'every empty 2xx counts as delivered', meddling: everyEmptyAnswerIsTaken },
  { name: 'a failed lookup submits again', meddling: lookupThatSubmitsAgain },
  { name: 'leases are not renewed', meddling: noRenewal },
  { name: 'a clock that went back makes wait', meddling: clockThatWentBack, of: 'one' },
  { name: 'lease fencing off', meddling: noFencing },
  { name: 'dedup off', meddling: noDedup },
  { name: 'sent again without a look', meddling: noLook },
  { name: 'an error with an id counts as delivered', meddling: everyIdIsTaken },
  { name: 'order off', meddling: noOrder },
  { name: 'a claim ignores leases', meddling: claimsLeased, of: 'several' },
  { name: "leases end by a gateway's own clock", meddling: expiredByOwnClock, of: 'several' },
  { name: "a start returns others' leases", meddling: recoversLeasesOfOthers, of: 'several' },
  { name: 'a renewal ignores generations', meddling: renewsLostLeases, of: 'several' },
  { name: 'every gateway probes', meddling: everyGatewayProbes, of: 'several' },
  { name: 'a probe outlasts its lease', meddling: probeOutlastsItsLease, of: 'several' },
];
