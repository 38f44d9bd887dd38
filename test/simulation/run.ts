import { EntryEraser } from '../../src/spool/sqlite/erasure.ts';
import { soleLeases } from '../../src/runtime/leases.ts';
import { SpoolFull, SpoolUnavailable } from '../../src/spool/errors.ts';
import type { Lease } from '../../src/spool/entry.ts';
import type { ErasureKey } from '../../src/spool/sqlite/erased-keys.ts';
import type { OperationName } from '../../src/spool/sqlite/operations.ts';
import { asEntryId, asShopId } from '../../src/domain/ids.ts';
import { Heart } from './heart.ts';
import {
  type Alarm,
  type Fate,
  History,
  type Outage,
  type Overlap,
  type Stale,
} from './history.ts';
import type { Meddling } from './meddling.ts';
import { createPlatformModel, type PlatformModel } from './platform-model.ts';
import { createRandom, type Random } from './random.ts';
import { arrivalOf, drawScenario, type Happening, type Scenario } from './scenario.ts';
import { SharedStore } from './shared-store.ts';
import { type CallFate, type SimulatedDisk, simulatedSpool, type StoredEntry } from './store.ts';
import { type SimulatedProcess, VirtualTime } from './virtual-time.ts';

export const EPOCH = Date.UTC(2026, 0, 1);
/** How long the run continues after all senders have stopped and all faults have ended. */
const QUIET_MS = 6 * 60_000;

/** One gateway, whose process may end and start again. */
interface Gateway {
  readonly name: string;
  /** Until its first start, and while it is down, a process that does nothing. */
  process: SimulatedProcess;
  /** Undefined while it is down or starts. */
  heart: Heart | undefined;
  skewMs: number;
  storeFails: { readonly until: number; readonly rate: number } | undefined;
}

export interface Run {
  readonly seed: number;
  /** How many gateways shared the store. */
  readonly gateways: number;
  readonly scenario: Scenario;
  readonly platform: PlatformModel;
  readonly fates: readonly Fate[];
  readonly endedAt: number;
  /** Periods in which the process or its store did not work. */
  readonly outages: readonly Outage[];
  /** When probes were sent, by shop; those on request not included. */
  readonly probes: ReadonlyMap<string, number[]>;
  readonly alarms: readonly Alarm[];
  /** Claims of entries that a process was already attempting, with a valid lease. */
  readonly overlaps: readonly Overlap[];
  readonly stale: readonly Stale[];
  /** The store's entries at the end, by tag. */
  readonly entries: ReadonlyMap<string, StoredEntry>;
  /** The number of store calls and of requests to the platform. */
  readonly calls: number;
  readonly requests: number;
}

/** A gateway's process before its start; each gets a copy. */
const NOT_RUNNING: SimulatedProcess = { isAlive: false, pausedUntil: 0, skewMs: 0 };
const KEY = { hash: (kind: string, text: unknown) => Buffer.from(`${kind}${String(text)}`) };

/** Runs one seed from start to end. A seed always gives exactly the same run. */
export async function runSeed(
  seed: number,
  disk: SimulatedDisk,
  { gateways = 1, ...meddling }: Meddling & { readonly gateways?: number } = {},
): Promise<Run> {
  const random = createRandom(seed);
  const drawn = drawScenario(random, gateways);
  const end = meddling.begin?.(disk);
  try {
    const scenario = meddling.scenario?.(drawn) ?? drawn;
    return await new World({ seed, random, scenario, disk, meddling, gateways }).play();
  } finally {
    end?.();
  }
}

interface WorldOptions {
  readonly seed: number;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly disk: SimulatedDisk;
  readonly meddling: Meddling;
  readonly gateways: number;
}

class World {
  readonly #seed: number;
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #disk: SimulatedDisk;
  readonly #meddling: Meddling;
  readonly #time = new VirtualTime(EPOCH);
  readonly #platform: PlatformModel;
  readonly #history: History;
  readonly #latency: Random;
  readonly #fate: Random;
  readonly #senders: Random;
  readonly #operator: Random;
  #diskFullUntil = 0;
  #calls = 0;
  #requests = 0;
  readonly #gateways: readonly Gateway[];
  readonly #fleet: Random;
  /** Undefined for a single gateway, which has the disk for itself. */
  #shared: SharedStore | undefined;
  #processes = 0;

  constructor({ seed, random, scenario, disk, meddling, gateways }: WorldOptions) {
    this.#seed = seed;
    this.#random = random;
    this.#scenario = scenario;
    this.#disk = disk;
    this.#meddling = meddling;
    this.#fleet = random.fork('fleet');
    this.#gateways = Array.from({ length: gateways }, (_, index) => ({
      ...{ name: `gateway ${index}`, process: { ...NOT_RUNNING }, heart: undefined },
      // The first one's clock is right: a single gateway has no other to differ from.
      skewMs: index === 0 ? 0 : this.#fleet.pick([0, 0, -600_000, 3_600_000]),
      storeFails: undefined,
    }));
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
    this.#history = new History(scenario.messages, () => this.#time.now);
  }

  async play(): Promise<Run> {
    this.#disk.wipe();
    this.#time.begin();
    try {
      this.#startFleet();
      for (const fate of this.#history.fates) {
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
      const { fates, outages, probes, alarms, overlaps, stale } = this.#history;
      return {
        ...{ seed: this.#seed, scenario: this.#scenario, platform: this.#platform },
        gateways: this.#gateways.length,
        ...{
          fates,
          outages,
          probes,
          alarms,
          overlaps,
          stale,
          endedAt,
          entries: this.#disk.byTag(),
        },
        ...{ calls: this.#calls, requests: this.#requests },
      };
    } finally {
      for (const { process } of this.#gateways) process.isAlive = false;
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

  #startFleet(): void {
    const [only, ...others] = this.#gateways;
    if (only !== undefined && others.length === 0) {
      this.#startProcess(only);
      return;
    }
    this.#shared = new SharedStore(this.#disk, this.#time);
    for (const gateway of this.#gateways) {
      this.#time.at(EPOCH, () => this.#startProcess(gateway));
    }
  }

  #startProcess(gateway: Gateway): void {
    this.#processes += 1;
    const { skewMs } = gateway;
    // Stopped while it was down, it is stopped as it starts.
    const process = this.#time.spawn(skewMs, gateway.process.pausedUntil);
    gateway.process = process;
    const shared = this.#shared;
    if (shared === undefined) this.#disk.open(() => Math.round(this.#time.now + skewMs));
    const latency = () => this.#latency.between(0, 4);
    const spool = simulatedSpool(this.#disk, {
      latency,
      fate: (name) => this.#fateOf(gateway, name),
      ...(shared && { call: (name, args) => shared.call(gateway, name, args) }),
      watch: (name, args, result) => this.#history.called(gateway.name, name, args, result),
      answer: (afterMs, settle) => this.#time.reach(this.#time.now + afterMs, settle),
      die: () => this.#crash(gateway, 1000, 0),
      isAlive: () => process.isAlive,
      prepare: (name, args) => {
        // The attempt has ended, whatever the result. `args` are those of the operation.
        if (name === 'settle') this.#history.attemptEnded(gateway.name, (args[0] as Lease).id);
        return this.#meddling.call?.(name, args) ?? args;
      },
    });
    const leases =
      shared?.leasesOf(process, latency, () => this.#fateOf(gateway, 'lease')) ?? soleLeases;
    const { shops, concurrency, requestTimeoutMs } = this.#scenario;
    const heart = new Heart({
      ...{ time: this.#time, spool, leases, platform: this.#network(gateway) },
      ...{ shops, skewMs, concurrency, requestTimeoutMs },
      random: this.#random.fork(`process ${this.#processes}`),
      onSettled: () => undefined,
      onLog: (level, event, fields) => {
        if (level === 'error') this.#history.alarm(event, JSON.stringify(fields));
      },
    });
    void heart.start().then(
      () => {
        if (process.isAlive) gateway.heart = heart;
      },
      // The store failed at the start, so the process is started again.
      () => this.#crash(gateway, 1000, 0),
    );
  }

  #fateOf(gateway: Gateway, name: OperationName | 'lease'): CallFate {
    this.#calls += 1;
    const meant =
      name === 'lease'
        ? undefined
        : this.#meddling.fate?.(name, this.#calls, this.#time.now - EPOCH);
    if (meant !== undefined) return meant;
    if (this.#time.now < this.#diskFullUntil) {
      const isIntake = name === 'accept';
      if (isIntake !== (this.#meddling.eatsBallast === true)) return 'full';
    }
    const fails = gateway.storeFails;
    if (fails === undefined || this.#time.now > fails.until) return 'done';
    if (!this.#fate.chance(fails.rate)) return 'done';
    if (name === 'accept' && this.#meddling.acknowledgesUnstored === true) return 'lost';
    // The connection is lost, and the gateway goes on.
    if (this.#shared) return this.#fate.pick(['not done', 'done, but not answered']);
    if (name === 'accept')
      return this.#fate.pick(['not done', 'full', 'done, but the process dies']);
    return this.#fate.chance(0.1) ? 'done, but the process dies' : 'not done';
  }

  /** The platform behind a network with faults of its own. */
  #network({ name }: Gateway): Pick<PlatformModel, 'handle'> {
    return {
      handle: (request) => {
        this.#requests += 1;
        if (request.method === 'POST' && /messages.$/.test(request.path)) {
          this.#history.submitted(name, JSON.stringify(request.body));
        }
        const fault = this.#meddling.request?.(this.#requests, this.#time.now - EPOCH);
        return fault ?? this.#platform.handle(request);
      },
    };
  }

  /** A gateway by chance, for a sender or a happening. */
  #oneOf(): Gateway {
    return this.#fleet.pick(this.#gateways);
  }

  /** The sender: tries again until it gets the acknowledgement. */
  #send(fate: Fate): void {
    const again = () =>
      this.#time.at(this.#time.now + this.#senders.between(1000, 10_000), () => this.#send(fate));
    const gateway = this.#oneOf();
    const { heart, process } = gateway;
    if (heart === undefined || this.#time.isPaused(process)) {
      again();
      return;
    }
    this.#time.enter(process);
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
      if (!answered && !process.isAlive) again();
    });
  }

  #happen(happening: Happening): void {
    const gateway = this.#oneOf();
    switch (happening.kind) {
      case 'pause':
        this.#history.outage('pause', happening.ms);
        this.#time.pause(gateway.process, happening.ms);
        break;
      case 'crash':
        this.#crash(gateway, happening.downMs, happening.skewMs);
        break;
      case 'reload':
        if (this.#time.isPaused(gateway.process)) break;
        this.#time.enter(gateway.process);
        this.#byHand(() => gateway.heart?.reload());
        break;
      case 'try now':
        this.#byHand(() => this.#disk.call('requestProbe', [asShopId(happening.shopId)]));
        break;
      case 'leases lost':
        this.#history.attemptsLost();
        this.#disk.db.exec(`UPDATE entries SET state = 'queued' WHERE state = 'delivering'`);
        break;
      case 'disk full':
        this.#diskFullUntil = this.#time.now + happening.ms;
        break;
      case 'store fails':
        this.#history.outage('store', happening.ms);
        gateway.storeFails = { until: this.#time.now + happening.ms, rate: happening.rate };
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
    for (const { shopId } of this.#scenario.shops) this.#history.probeAsked(shopId);
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
    this.#history.meddledWith(id);
    if (kind === 'retry') this.#disk.call('requeue', [asEntryId(id)]);
    else if (kind === 'discard') this.#disk.call('discard', [asEntryId(id)]);
    else {
      const eraser = new EntryEraser(this.#disk.db, () => KEY as unknown as ErasureKey);
      eraser.erase(
        [{ seq, id: asEntryId(id) } as never],
        'take',
        this.#time.now + (this.#gateways[0]?.skewMs ?? 0),
      );
    }
  }

  #crash(gateway: Gateway, downMs: number, skewMs: number): void {
    this.#history.outage('crash', downMs);
    this.#history.attemptsLost(gateway.name);
    gateway.process.isAlive = false;
    const none = { ...NOT_RUNNING };
    gateway.process = none;
    gateway.heart = undefined;
    gateway.skewMs += skewMs;
    this.#time.at(this.#time.now + downMs, () => {
      // Unless it crashed again meanwhile.
      if (gateway.process === none) this.#startProcess(gateway);
    });
  }
}
