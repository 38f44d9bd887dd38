import type { Arrival } from '../../src/intake/intake.ts';
import { ErasureRows } from '../../src/spool/sqlite/erasure-rows.ts';
import { SpoolFull, SpoolUnavailable } from '../../src/spool/errors.ts';
import type {
  Accepted,
  ClaimRequest,
  Claimed,
  Lease,
  NewEntry,
  Outcome,
} from '../../src/spool/entry.ts';
import type { ErasureKey } from '../../src/spool/sqlite/erased-keys.ts';
import type { OperationName } from '../../src/spool/sqlite/operations.ts';
import { asEntryId, asShopId } from '../../src/domain/ids.ts';
import { Heart } from './heart.ts';
import type { PlatformAnswer } from './platform-answers.ts';
import { createPlatformModel, type PlatformModel } from './platform-model.ts';
import { createRandom, type Random } from './random.ts';
import { drawScenario, type Happening, type Scenario, type SimulatedMessage } from './scenario.ts';
import { type CallFate, type SimulatedDisk, simulatedSpool } from './store.ts';
import { VirtualTime } from './virtual-time.ts';

export const EPOCH = Date.UTC(2026, 0, 1);
/** How long the run continues after all senders have stopped and all faults have ended. */
const QUIET_MS = 6 * 60_000;

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
  wasDetached: boolean;
  claims: number[];
}

export interface Run {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly platform: PlatformModel;
  readonly fates: readonly Fate[];
  readonly endedAt: number;
  /** Periods in which the process or its store did not work. */
  readonly outages: readonly Outage[];
  /** When probes were sent, by shop; those on request not included. */
  readonly probes: ReadonlyMap<string, number[]>;
  readonly alarms: readonly {
    readonly at: number;
    readonly event: string;
    readonly detail: string;
  }[];
  /** Claims of entries that the same process was already attempting, with a valid lease. */
  readonly overlaps: readonly Overlap[];
  /** The store's entries at the end, by tag. */
  readonly entries: ReadonlyMap<string, EntryInTheEnd>;
  /** The number of store calls and of requests to the platform. */
  readonly calls: number;
  readonly requests: number;
}

export interface Overlap {
  readonly tag: string;
  readonly begunAt: number;
  readonly at: number;
}

export interface EntryInTheEnd {
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

const KEY = { hash: (kind: string, text: unknown) => Buffer.from(`${kind}${String(text)}`) };

/** Injects a fault or changes the inputs of a run. */
export interface Meddling {
  readonly scenario?: (scenario: Scenario) => Scenario;
  /** Changes the arguments of store calls. */
  readonly call?: (name: OperationName, args: unknown[]) => unknown[];
  /** The fate of the nth store call, `atMs` after the start; undefined: as in the scenario. */
  readonly fate?: (name: OperationName, nth: number, atMs: number) => CallFate | undefined;
  /** Replaces the answer to the nth request. */
  readonly request?: (nth: number, atMs: number) => PlatformAnswer | undefined;
  /** On a full disk new messages are stored and delivery's writes fail. */
  readonly eatsBallast?: true;
  /** Messages that were not stored are acknowledged. */
  readonly acknowledgesUnstored?: true;
  /** Injects faults into the process's code for one run; returns a function that removes them. */
  readonly begin?: (disk: SimulatedDisk) => () => void;
}

/** Runs one seed from start to end. A seed always gives exactly the same run. */
export async function runSeed(
  seed: number,
  disk: SimulatedDisk,
  meddling: Meddling = {},
): Promise<Run> {
  const random = createRandom(seed);
  const drawn = drawScenario(random);
  const end = meddling.begin?.(disk);
  try {
    const scenario = meddling.scenario?.(drawn) ?? drawn;
    return await new World(seed, random, scenario, disk, meddling).play();
  } finally {
    end?.();
  }
}

class World {
  readonly #seed: number;
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #disk: SimulatedDisk;
  readonly #meddling: Meddling;
  readonly #time = new VirtualTime(EPOCH);
  readonly #platform: PlatformModel;
  readonly #fates: readonly Fate[];
  readonly #byId = new Map<string, Fate>();
  readonly #outages: Outage[] = [];
  readonly #probes = new Map<string, number[]>();
  readonly #alarms: { at: number; event: string; detail: string }[] = [];
  /** When the attempts in flight began, by entry. */
  readonly #attempts = new Map<string, number>();
  readonly #overlaps: Overlap[] = [];
  readonly #latency: Random;
  readonly #fate: Random;
  readonly #senders: Random;
  readonly #operator: Random;
  #diskFullUntil = 0;
  #calls = 0;
  #requests = 0;
  #storeFails: { readonly until: number; readonly rate: number } | undefined;
  #askedAt = new Map<string, number>();
  #heart: Heart | undefined;
  #processes = 0;
  #skewMs = 0;

  constructor(
    seed: number,
    random: Random,
    scenario: Scenario,
    disk: SimulatedDisk,
    meddling: Meddling,
  ) {
    this.#seed = seed;
    this.#random = random;
    this.#scenario = scenario;
    this.#disk = disk;
    this.#meddling = meddling;
    this.#platform = createPlatformModel({
      random: random.fork('platform'),
      now: () => this.#time.now,
      shops: scenario.shops,
      traits: scenario.traits,
    });
    this.#latency = random.fork('store latency');
    this.#fate = random.fork('store fate');
    this.#senders = random.fork('senders');
    this.#operator = random.fork('operator');
    this.#fates = scenario.messages.map((message) => ({
      ...{ message, acceptedAt: undefined, entryId: undefined, deliveredAt: undefined },
      ...{ isMeddledWith: false, wasDetached: false, claims: [] },
    }));
  }

  async play(): Promise<Run> {
    this.#disk.wipe();
    this.#time.begin(() => this.#skewMs);
    try {
      this.#startProcess();
      for (const fate of this.#fates) {
        const { at, copies } = fate.message;
        for (let copy = 0; copy < copies; copy += 1) {
          this.#time.at(EPOCH + at + copy, () => this.#send(fate));
        }
      }
      for (const happening of this.#scenario.happenings) {
        this.#time.at(EPOCH + happening.at, () => this.#happen(happening));
      }
      const endedAt = this.#calmFrom() + QUIET_MS;
      await this.#time.run(endedAt);
      return {
        ...{ seed: this.#seed, scenario: this.#scenario, platform: this.#platform },
        ...{ fates: this.#fates, endedAt, outages: this.#outages, probes: this.#probes },
        ...{ alarms: this.#alarms, overlaps: this.#overlaps, entries: this.#inTheEnd() },
        ...{ calls: this.#calls, requests: this.#requests },
      };
    } finally {
      this.#time.kill();
      this.#time.end();
    }
  }

  /** The time from which no one writes and nothing fails. */
  #calmFrom(): number {
    const { shops, activeMs, happenings } = this.#scenario;
    const ends = happenings.map((happening) => {
      const lasts = 'ms' in happening ? happening.ms : 'downMs' in happening ? happening.downMs : 0;
      return EPOCH + happening.at + lasts;
    });
    const healthy = shops
      .map(({ shopId }) => this.#platform.healthySince(shopId))
      .filter((at) => Number.isFinite(at));
    return Math.max(EPOCH + activeMs, ...ends, ...healthy);
  }

  #startProcess(): void {
    this.#processes += 1;
    const process = this.#time.process;
    this.#attempts.clear();
    const skewMs = this.#skewMs;
    this.#disk.open(() => Math.round(this.#time.now + skewMs));
    const spool = simulatedSpool(this.#disk, {
      latency: () => this.#latency.between(0, 4),
      fate: (name) => this.#fateOf(name),
      watch: (name, args, result) => this.#watch(name, args, result),
      answer: (afterMs, settle) => this.#time.reach(this.#time.now + afterMs, settle),
      die: () => this.#crash(1000, 0),
      isAlive: () => this.#time.process === process,
      prepare: (name, args) => {
        // The attempt has ended, whatever the result. `args` are those of the operation.
        if (name === 'settle') this.#attempts.delete((args[0] as Lease).id);
        return this.#meddling.call?.(name, args) ?? args;
      },
    });
    const { shops, concurrency, requestTimeoutMs } = this.#scenario;
    const heart = new Heart({
      ...{ time: this.#time, spool, platform: this.#network(), shops, skewMs },
      ...{ concurrency, requestTimeoutMs, random: this.#random.fork(`process ${this.#processes}`) },
      onSettled: () => undefined,
      onLog: (level, event, fields) => {
        if (level === 'error') {
          this.#alarms.push({ at: this.#time.now, event, detail: JSON.stringify(fields) });
        }
      },
    });
    void heart.start().then(
      () => {
        if (this.#time.process === process) this.#heart = heart;
      },
      // The store failed at the start, so the process is started again.
      () => this.#crash(1000, 0),
    );
  }

  #fateOf(name: OperationName): CallFate {
    this.#calls += 1;
    const meant = this.#meddling.fate?.(name, this.#calls, this.#time.now - EPOCH);
    if (meant !== undefined) return meant;
    if (this.#time.now < this.#diskFullUntil) {
      const isIntake = name === 'accept';
      if (isIntake !== (this.#meddling.eatsBallast === true)) return 'full';
    }
    const fails = this.#storeFails;
    if (fails === undefined || this.#time.now > fails.until) return 'done';
    if (!this.#fate.chance(fails.rate)) return 'done';
    if (name === 'accept' && this.#meddling.acknowledgesUnstored === true) return 'lost';
    if (name === 'accept')
      return this.#fate.pick(['not done', 'full', 'done, but the process dies']);
    return this.#fate.chance(0.1) ? 'done, but the process dies' : 'not done';
  }

  /** The platform behind a network with faults of its own. */
  #network(): Pick<PlatformModel, 'handle'> {
    return {
      handle: (request) => {
        this.#requests += 1;
        const fault = this.#meddling.request?.(this.#requests, this.#time.now - EPOCH);
        return fault ?? this.#platform.handle(request);
      },
    };
  }

  /** The sender: tries again until it gets the acknowledgement. */
  #send(fate: Fate): void {
    const again = () =>
      this.#time.at(this.#time.now + this.#senders.between(1000, 10_000), () => this.#send(fate));
    const heart = this.#heart;
    if (heart === undefined || this.#time.isPaused) {
      again();
      return;
    }
    const { process } = this.#time;
    let answered = false;
    heart.intake.accept([arrivalOf(fate.message)]).then(
      () => {
        answered = true;
        fate.acceptedAt ??= this.#time.now;
      },
      (error: unknown) => {
        answered = true;
        if (!(error instanceof SpoolFull || error instanceof SpoolUnavailable)) throw error;
        again();
      },
    );
    this.#time.at(this.#time.now + 30_000, () => {
      if (!answered && this.#time.process !== process) again();
    });
  }

  #happen(happening: Happening): void {
    switch (happening.kind) {
      case 'pause':
        this.#outage('pause', happening.ms);
        this.#time.pause(happening.ms);
        break;
      case 'crash':
        this.#crash(happening.downMs, happening.skewMs);
        break;
      case 'reload':
        if (!this.#time.isPaused) this.#byHand(() => this.#heart?.reload());
        break;
      case 'try now':
        this.#byHand(() => this.#disk.call('requestProbe', [asShopId(happening.shopId)]));
        break;
      case 'leases lost':
        this.#attempts.clear();
        this.#disk.db.exec(
          `UPDATE entries SET state = 'queued', lease_until = NULL WHERE state = 'delivering'`,
        );
        break;
      case 'disk full':
        this.#diskFullUntil = this.#time.now + happening.ms;
        break;
      case 'store fails':
        this.#outage('store', happening.ms);
        this.#storeFails = { until: this.#time.now + happening.ms, rate: happening.rate };
        break;
      case 'retry':
      case 'discard':
      case 'erase':
        this.#operate(happening.kind);
        break;
    }
  }

  /** Runs an operator's action, so that the probes it causes are not counted as the shop's own. */
  #byHand(act: () => void): void {
    for (const { shopId } of this.#scenario.shops) this.#askedAt.set(shopId, this.#time.now);
    act();
  }

  #operate(kind: 'retry' | 'discard' | 'erase'): void {
    const rows = this.#disk.db
      .prepare<[], { id: string; seq: number }>(
        `SELECT id, seq FROM entries WHERE state <> 'delivered' ORDER BY seq`,
      )
      .all();
    if (rows.length === 0) return;
    const { id, seq } = this.#operator.pick(rows);
    const fate = this.#byId.get(id);
    if (fate !== undefined) fate.isMeddledWith = true;
    if (kind === 'retry') this.#disk.call('requeue', [asEntryId(id)]);
    else if (kind === 'discard') this.#disk.call('discard', [asEntryId(id)]);
    else {
      const rowsOf = new ErasureRows(this.#disk.db, () => KEY as unknown as ErasureKey);
      rowsOf.entries([{ seq, id: asEntryId(id) } as never], 'take', this.#time.now + this.#skewMs);
    }
  }

  #outage(kind: Outage['kind'], ms: number): void {
    this.#outages.push({ from: this.#time.now, to: this.#time.now + ms, kind });
  }

  #crash(downMs: number, skewMs: number): void {
    this.#outage('crash', downMs);
    this.#time.kill();
    this.#heart = undefined;
    this.#skewMs += skewMs;
    const { process } = this.#time;
    this.#time.at(this.#time.now + downMs, () => {
      if (this.#time.process === process) this.#startProcess();
    });
  }

  #watch(name: OperationName, args: readonly unknown[], result: unknown): void {
    if (name === 'accept') this.#watchAccept(args[0] as readonly NewEntry[], result);
    if (name === 'claim') this.#watchClaim(args[0] as readonly ClaimRequest[], result);
    if (name !== 'settle') return;
    const [lease, outcome] = args as readonly [Lease, Outcome];
    const fate = this.#byId.get(lease.id);
    if (fate === undefined || result !== true) return;
    if (outcome.state === 'delivered') fate.deliveredAt ??= this.#time.now;
    if (outcome.state === 'queued' && outcome.detach) fate.wasDetached = true;
  }

  /** Records accepted entries, even if the sender gets no acknowledgement. */
  #watchAccept(entries: readonly NewEntry[], result: unknown): void {
    const accepted = result as readonly Accepted[];
    for (const [index, { dedupKey }] of entries.entries()) {
      const fate = this.#fates.find(({ message }) => message.tag === dedupKey);
      const id = accepted[index]?.id;
      if (fate === undefined || id === undefined) continue;
      fate.entryId = id;
      this.#byId.set(id, fate);
    }
  }

  #watchClaim(requests: readonly ClaimRequest[], result: unknown): void {
    const answers = result as readonly { readonly claimed: readonly Claimed[] }[];
    for (const { claimed } of answers) {
      for (const { entry } of claimed) this.#watchAttempt(entry.id);
    }
    const [only] = requests;
    if (only === undefined || !isProbe(only) || answers[0]?.claimed.length === 0) return;
    // A requested probe may come at any time, and the next interval starts with it.
    const asked = this.#askedAt.get(only.shopId);
    const times = this.#probes.get(only.shopId) ?? [];
    if (asked !== undefined && this.#time.now - asked < 30_000) times.length = 0;
    this.#probes.set(only.shopId, [...times, this.#time.now]);
  }

  #watchAttempt(id: string): void {
    const at = this.#time.now;
    const fate = this.#byId.get(id);
    fate?.claims.push(at);
    const begunAt = this.#attempts.get(id);
    if (begunAt !== undefined && fate !== undefined) {
      this.#overlaps.push({ tag: fate.message.tag, begunAt, at });
    }
    this.#attempts.set(id, at);
  }

  #inTheEnd(): ReadonlyMap<string, EntryInTheEnd> {
    const rows = this.#disk.db
      .prepare<[], EntryInTheEnd & { meta: string }>(`SELECT * FROM entries`)
      .all();
    return new Map(rows.map(({ meta, ...row }) => [/#[^#]*#/.exec(meta)?.[0] ?? meta, row]));
  }
}

/** Whether a claim is a probe's: only probes use `due` as a source. */
export const isProbe = ({ from }: ClaimRequest): boolean => from.includes('due');

function arrivalOf({ tag, shopId, channel, lane, wanted }: SimulatedMessage): Arrival {
  return {
    ...{ shopId: asShopId(shopId), channel, lane, dedupKey: tag, remoteId: `<${tag}@sender>` },
    meta: { ...wanted },
    raw: { kind: 'inline', bytes: Buffer.from(tag) },
    summary: { from: '', to: '', subject: '', more: '' },
  };
}
