import type { Leases } from '../../src/runtime/leases.ts';
import { SpoolUnavailable } from '../../src/spool/errors.ts';
import type { ClaimRequest } from '../../src/spool/entry.ts';
import type { OperationName, Operations } from '../../src/spool/sqlite/operations.ts';
import { claimedIn } from './history.ts';
import type { CallFate, SimulatedDisk } from './store.ts';
import type { SimulatedProcess, VirtualTime } from './virtual-time.ts';

/** One of the gateways; its process may end and start again. */
interface Sharer {
  readonly name: string;
  readonly process: SimulatedProcess;
}

/**
 * The store as several gateways share it (decision 0032). The code is SQLite's; what PostgreSQL does
 * otherwise is done here: its own clock decides leases and schedules, a start returns only the leases
 * of its own gateway, and leases by name expire.
 */
export class SharedStore {
  readonly #disk: SimulatedDisk;
  readonly #time: VirtualTime;
  /** The gateway that claimed each entry last. */
  readonly #owners = new Map<string, string>();
  readonly #leases = new Map<
    string,
    { readonly holder: SimulatedProcess; readonly until: number }
  >();

  constructor(disk: SimulatedDisk, time: VirtualTime) {
    this.#disk = disk;
    this.#time = time;
    disk.open(() => Math.round(time.now));
  }

  /** Makes a call of this gateway. */
  call<Name extends OperationName>(
    { name: gateway, process }: Sharer,
    name: Name,
    args: Parameters<Operations[Name]>,
  ): ReturnType<Operations[Name]> {
    // The results of the operation `name`.
    if (name === 'requeueAll') return this.requeueOwn(gateway) as ReturnType<Operations[Name]>;
    if (name !== 'claim') return this.#disk.call(name, args);
    const [requests, leaseMs, atMost, expiredBefore] = args as Parameters<Operations['claim']>;
    const { skewMs } = process;
    // How long ago a lease must have ended is a duration, which a wrong clock does not change.
    const before = (expiredBefore ?? this.#time.now + skewMs) - skewMs;
    const claims = [requests as ClaimRequest[], leaseMs, atMost, before] as const;
    const result = this.#disk.call(name, claims as unknown as typeof args);
    for (const { entry } of claimedIn(result)) {
      this.#owners.set(entry.id, gateway);
      // Told as a duration, too.
      if (entry.lastAttemptAt > 0)
        Object.assign(entry, { lastAttemptAt: entry.lastAttemptAt + skewMs });
    }
    return result;
  }

  /** Returns the leases that an earlier process of this gateway left; those of others run. */
  requeueOwn(gateway: string): number {
    const others = this.#disk.db
      .prepare<[], { id: string; lease_until: number }>(
        `SELECT id, lease_until FROM entries WHERE state = 'delivering'`,
      )
      .all()
      .filter(({ id }) => this.#owners.get(id) !== gateway);
    const requeued = this.#disk.call('requeueAll', []);
    const keep = this.#disk.db.prepare(
      `UPDATE entries SET state = 'delivering', lease_until = ? WHERE id = ?`,
    );
    for (const { id, lease_until: until } of others) keep.run(until, id);
    return requeued - others.length;
  }

  /**
   * The leases by name of one process.
   * @param fate of each call
   */
  leasesOf(holder: SimulatedProcess, latency: () => number, fate: () => CallFate): Leases {
    const call = <T>(make: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        if (!holder.isAlive) return;
        const happens = fate();
        const result = happens.startsWith('done') ? make() : undefined;
        this.#time.reach(this.#time.now + latency(), () => {
          if (happens === 'done' && result !== undefined) resolve(result);
          else reject(new SpoolUnavailable(happens));
        });
      });
    return {
      take: (name, ttlMs) => call(() => this.take(holder, name, ttlMs)),
      release: async (name) => {
        await call(() => this.#leases.get(name)?.holder === holder && this.#leases.delete(name));
      },
    };
  }

  /** Whether this process holds the lease from now on. */
  take(holder: SimulatedProcess, name: string, ttlMs: number): boolean {
    const held = this.#leases.get(name);
    if (held !== undefined && held.holder !== holder && held.until > this.#time.now) return false;
    this.#leases.set(name, { holder, until: this.#time.now + ttlMs });
    return true;
  }
}
