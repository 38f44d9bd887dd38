import type {
  Accepted,
  Claimed,
  ClaimRequest,
  Lease,
  NewEntry,
  Outcome,
} from '../../src/spool/entry.ts';
import type { OperationName } from '../../src/spool/sqlite/operations.ts';
import type { SimulatedMessage } from './scenario.ts';

export interface Outage {
  readonly from: number;
  readonly to: number;
  readonly kind: 'pause' | 'crash' | 'store';
}

/** The history of one message. */
export interface Fate {
  readonly message: SimulatedMessage;
  /** When its sender got the acknowledgement. */
  acceptedAt: number | undefined;
  entryId: string | undefined;
  deliveredAt: number | undefined;
  /** An operator moved the entry, or it was erased. */
  isMeddledWith: boolean;
  /** Those after it need not wait for it any more; it may have been released later all the same. */
  hasLeftLane: boolean;
  claims: number[];
}

export interface Overlap {
  readonly tag: string;
  readonly begunAt: number;
  readonly at: number;
  /** The attempt under way was another gateway's. */
  readonly isOthers: boolean;
}

/** A message that a gateway submitted after another one had claimed it. */
export interface Stale {
  readonly tag: string;
  readonly at: number;
}

export interface Alarm {
  readonly at: number;
  readonly event: string;
  readonly detail: string;
}

/** What happens in one run, as seen from outside the gateways. */
export class History {
  readonly fates: readonly Fate[];
  readonly outages: Outage[] = [];
  readonly alarms: Alarm[] = [];
  readonly overlaps: Overlap[] = [];
  readonly stale: Stale[] = [];
  /** When probes were sent, by shop; those on request not included. */
  readonly probes = new Map<string, number[]>();
  readonly #now: () => number;
  readonly #byId = new Map<string, Fate>();
  /** When each gateway's attempts in flight began, by entry. */
  readonly #attempts = new Map<string, Map<string, number>>();
  /** The gateway that claimed each message last, by tag. */
  readonly #claimants = new Map<string, string>();
  readonly #askedAt = new Map<string, number>();

  constructor(messages: readonly SimulatedMessage[], now: () => number) {
    this.#now = now;
    this.fates = messages.map((message) => ({
      ...{ message, acceptedAt: undefined, entryId: undefined, deliveredAt: undefined },
      ...{ isMeddledWith: false, hasLeftLane: false, claims: [] },
    }));
  }

  outage(kind: Outage['kind'], ms: number): void {
    this.outages.push({ from: this.#now(), to: this.#now() + ms, kind });
  }

  alarm(event: string, detail: string): void {
    this.alarms.push({ at: this.#now(), event, detail });
  }

  /** An operator asks for a probe, which is not counted as the shop's own. */
  probeAsked(shopId: string): void {
    this.#askedAt.set(shopId, this.#now());
  }

  meddledWith(id: string): void {
    const fate = this.#byId.get(id);
    if (fate !== undefined) fate.isMeddledWith = true;
  }

  attemptEnded(gateway: string, id: string): void {
    this.#attempts.get(gateway)?.delete(id);
  }

  /** All attempts of this gateway, or of all of them, have ended or have lost their leases. */
  attemptsLost(gateway?: string): void {
    if (gateway === undefined) this.#attempts.clear();
    else this.#attempts.delete(gateway);
  }

  /** A store call that was made, even if its answer does not arrive. */
  called(gateway: string, name: OperationName, args: readonly unknown[], result: unknown): void {
    if (name === 'accept') this.#accepted(args[0] as readonly NewEntry[], result);
    if (name === 'claim') this.#claimed(gateway, args[0] as readonly ClaimRequest[], result);
    if (name !== 'settle') return;
    const [lease, outcome] = args as readonly [Lease, Outcome];
    const fate = this.#byId.get(lease.id);
    if (fate === undefined || result !== true) return;
    if (outcome.state === 'delivered') fate.deliveredAt ??= this.#now();
    const isDetached = outcome.state === 'queued' && outcome.detach;
    if (isDetached || outcome.state === 'dead') fate.hasLeftLane = true;
  }

  /** A request to create a message. */
  submitted(gateway: string, content: string): void {
    const tag = /#[^#]*#/.exec(content)?.[0] ?? '';
    const claimant = this.#claimants.get(tag);
    if (claimant === gateway || claimant === undefined) return;
    this.stale.push({ tag, at: this.#now() });
  }

  #accepted(entries: readonly NewEntry[], result: unknown): void {
    const accepted = result as readonly Accepted[];
    for (const [index, { dedupKey }] of entries.entries()) {
      const fate = this.fates.find(({ message }) => message.tag === dedupKey);
      const id = accepted[index]?.id;
      if (fate === undefined || id === undefined) continue;
      fate.entryId = id;
      this.#byId.set(id, fate);
    }
  }

  #claimed(gateway: string, requests: readonly ClaimRequest[], result: unknown): void {
    const claimed = claimedIn(result);
    for (const { entry } of claimed) this.#attemptBegun(gateway, entry.id);
    const [only] = requests;
    if (only === undefined || !isProbe(only) || claimed.length === 0) return;
    // A requested probe may come at any time, and the next interval starts with it.
    const asked = this.#askedAt.get(only.shopId);
    const times = this.probes.get(only.shopId) ?? [];
    if (asked !== undefined && this.#runningSince(asked) < 30_000) times.length = 0;
    this.probes.set(only.shopId, [...times, this.#now()]);
  }

  /** A gateway that is suspended after a request sends its probe once it goes on. */
  #runningSince(at: number): number {
    const pauses = this.outages.filter(({ kind, from }) => kind === 'pause' && from >= at);
    return pauses.reduce((ms, { from, to }) => ms - (to - from), this.#now() - at);
  }

  #attemptBegun(gateway: string, id: string): void {
    const at = this.#now();
    const fate = this.#byId.get(id);
    fate?.claims.push(at);
    if (fate !== undefined) this.#claimants.set(fate.message.tag, gateway);
    for (const [other, attempts] of this.#attempts) {
      const begunAt = attempts.get(id);
      if (begunAt === undefined || fate === undefined) continue;
      const { tag } = fate.message;
      this.overlaps.push({ tag, begunAt, at, isOthers: other !== gateway });
      // Its lease is lost.
      attempts.delete(id);
    }
    const own = this.#attempts.get(gateway) ?? new Map<string, number>();
    this.#attempts.set(gateway, own.set(id, at));
  }
}

/** The entries that a claim returned. */
export const claimedIn = (result: unknown): readonly Claimed[] =>
  (result as readonly { readonly claimed: readonly Claimed[] }[]).flatMap(({ claimed }) => claimed);

/** Whether a claim is a probe's: only probes use `due` as a source. */
export const isProbe = ({ from }: ClaimRequest): boolean => from.includes('due');
