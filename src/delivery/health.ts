import { addLatest } from '../runtime/keep-latest.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Reason } from '../domain/reasons.ts';
import type { EndpointHealth } from '../spool/shop-health.ts';
import { AnnouncedWait } from './announced-wait.ts';
import { Pace } from './pace.ts';

/** Longer than one attempt can take with all its retries, uploads and timeouts. */
const PROBE_AT_MOST_MS = 15 * 60_000;
const FAILURES_THAT_OPEN = 10;
const FORBIDDEN_LANES_THAT_OPEN = 3;
/** Most outages are short: a restart, a connection reset. */
const FIRST_PROBE_AFTER_MS = 1000;
export const PROBE_AFTER_MS = 5000;
const PROBE_JITTER_MS = 20_000;
/** After a shorter outage there is no backlog that has to be released gradually. */
const RAMP_AFTER_MS = 5000;
/** The largest `delivery.concurrency`: no limit. */
const FULL_ALLOWANCE = 1000;
/** Short waits cost little, and fewer requests at the same time are often enough. */
const PACED_FROM_MS = 10_000;
const CALM_AFTER_MS = 15_000;
const LANES_REMEMBERED = 10_000;

export type HealthState = 'steady' | 'doubted' | 'open';

interface Trouble {
  readonly since: number;
  /** The latest failure, with the platform's error text if any. For operators, never logged. */
  reason: Reason;
  /** Since when there is evidence against the whole shop. */
  openSince: number | undefined;
  probeAt: number;
  /** An operator asked for a probe while one was in flight: another follows right after it. */
  asked: boolean;
  /** The probe found no entry to try. */
  foundNothing: boolean;
}

/**
 * The health of one endpoint of a shop's platform. Anyone can send messages, so a single message
 * that fails says nothing about the shop.
 *
 * ```
 *            an attempt fails, and nothing        lanes that delivered before fail,
 *            was delivered since                  or reads that worked fail
 *   steady ─────────────────────────▶ doubted ─────────────────────────▶ open
 *     ▲                                  │                                 │
 *     └──────────────────────────────────┴────── a message is delivered ───┘
 * ```
 *
 * - steady: every lane head may be claimed. After an outage the allowance is 1 and doubles with
 *   each delivery.
 * - doubted: heads that failed wait for the shop; heads that did not fail are sent as before.
 * - open: as doubted, but heads that did not fail are sent one at a time, or not at all while reads
 *   fail. This state raises the alarm.
 *
 * In doubted and open a next probe is always scheduled: the first after 1 s, then one 5 to 25 s
 * after the previous probe. A probe is an attempt at one waiting head, a different one each time.
 * The first delivery, by a probe or not, ends the trouble: all entries that wait for the shop may
 * be claimed again.
 */
export class Health {
  readonly #clock: Clock;
  readonly #random: () => number;
  #trouble: Trouble | undefined;
  #lastDeliveredAt = 0;
  /** Lanes that have delivered, the most recent last. */
  readonly #deliveredLanes = new Set<string>();
  /** Since the last delivery: failures of lanes that had delivered before. */
  #failuresInARow = 0;
  #forbiddenLanes = new Set<string>();
  /** Lanes that failed while nothing had been delivered yet. */
  #failedLanes = new Set<string>();
  /** When the probe in flight began; kept when the trouble that it was sent for ends. */
  #probingSince: number | undefined;
  #readsFail = false;
  #timedOut = false;
  #allowance = FULL_ALLOWANCE;
  #growsSlowly = false;
  /** When an outage ended after which the allowance still grows. */
  #recoveringSince: number | undefined;
  readonly #announced: AnnouncedWait;
  readonly #pace: Pace;
  /** An announced wait has ended before its time. */
  #isReleased = false;
  /** When lane heads began to fail on their first attempt, and when the latest one did. */
  #unrest: { readonly since: number; readonly latest: number } | undefined;
  #lastProbe: EndpointHealth['lastProbe'];

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#announced = new AnnouncedWait(clock);
    this.#pace = new Pace(clock);
  }

  get state(): HealthState {
    if (this.#trouble === undefined) return 'steady';
    return this.#trouble.openSince === undefined ? 'doubted' : 'open';
  }

  get readsFail(): boolean {
    return this.#readsFail;
  }

  /** The latest failure was a timeout, while reads are answered. */
  get isSlow(): boolean {
    return this.#timedOut && !this.#readsFail;
  }

  /** 0 before the first delivery. */
  get lastDeliveredAt(): number {
    return this.#lastDeliveredAt;
  }

  /** The health as operators and alerts see it. */
  report(): EndpointHealth {
    const trouble = this.#trouble;
    return {
      state: this.state,
      probing: trouble !== undefined && this.#probingSince !== undefined,
      ...(trouble !== undefined && this.#readsFail && { readsFail: true }),
      ...(trouble !== undefined && {
        since: trouble.openSince ?? trouble.since,
        reason: trouble.reason,
        nextProbeAt: this.#nextProbeAt(trouble),
      }),
      ...(trouble === undefined &&
        this.#recoveringSince !== undefined && { recoveringSince: this.#recoveringSince }),
      ...(this.#lastDeliveredAt > 0
        ? { lastDeliveredAt: this.#lastDeliveredAt }
        : { untried: true as const }),
      ...(this.#lastProbe !== undefined && { lastProbe: this.#lastProbe }),
    };
  }

  /** The maximum number of attempts in flight, probes not included. */
  get allowance(): number {
    if (this.#clock() < this.#announced.mayTryAt) return 0;
    if (this.state === 'open' && this.#readsFail) return 0;
    const isOneAtATime = this.state === 'open' || !this.#announced.isOver;
    return isOneAtATime ? 1 : Math.floor(this.#allowance);
  }

  get isProbeDue(): boolean {
    const trouble = this.#trouble;
    if (trouble === undefined || this.#probingSince !== undefined) return false;
    return this.#clock() >= this.#nextProbeAt(trouble);
  }

  /** Probes are at least 5 s apart, across outages too, unless an operator asks for one. */
  #nextProbeAt({ probeAt, asked }: Trouble): number {
    if (asked) return probeAt;
    const { mayTryAt } = this.#announced;
    return Math.max(probeAt, mayTryAt, (this.#lastProbe?.at ?? 0) + PROBE_AFTER_MS);
  }

  /** Whether an operator has asked for the next probe. */
  get isProbeAsked(): boolean {
    return this.#trouble?.asked === true;
  }

  /**
   * Marks a probe as in flight. Call the returned function when it has ended in any way, with false
   * if it was not made after all.
   */
  beginProbe(): (isMade?: boolean) => void {
    const trouble = this.#trouble;
    if (trouble === undefined) return () => undefined;
    const begunAt = this.#clock();
    this.#probingSince = begunAt;
    const { asked } = trouble;
    Object.assign(trouble, { asked: false, foundNothing: false });
    return (isMade = true) => {
      // The watchdog may have given up this probe, and another one may be in flight.
      if (this.#probingSince !== begunAt) return;
      this.#probingSince = undefined;
      const result = this.#resultOf(trouble);
      if (isMade) this.#lastProbe = { begunAt, at: this.#clock(), ...result };
      if (asked && result.outcome === 'delivered' && this.#announced.end()) this.#released();
      const waitMs = PROBE_AFTER_MS + this.#random() * PROBE_JITTER_MS;
      this.#planProbe(trouble, trouble.asked ? 0 : waitMs);
    };
  }

  /** For the watchdog: replaces an overdue probe by one that is due now; true if it did. */
  repairProbe(now: number): boolean {
    if (this.#probingSince === undefined || now - this.#probingSince < PROBE_AT_MOST_MS) {
      return false;
    }
    this.#probingSince = undefined;
    this.tryNow();
    return true;
  }

  /**
   * Makes a probe due at once, on an operator's request. If it delivers, a wait that the platform
   * has announced is over.
   */
  tryNow(): void {
    if (this.#trouble === undefined) return;
    this.#trouble.asked = true;
    this.#planProbe(this.#trouble, 0);
  }

  #released(): void {
    this.#isReleased = true;
    this.#allowance = 1;
  }

  /** Nothing that waited during an outage is left to send. */
  caughtUp(): void {
    this.#recoveringSince = undefined;
  }

  /** A probe found no entry to try: the trouble affects none and ends, unless reads fail. */
  nothingToTry(): void {
    if (this.#trouble !== undefined) this.#trouble.foundNothing = true;
    if (this.state === 'doubted' || (this.state === 'open' && !this.#readsFail)) this.#end();
  }

  /** Whether the platform has asked since then to wait. */
  isWaitAnnouncedSince(at: number): boolean {
    return this.#announced.isAnnouncedSince(at);
  }

  /** How many messages may be sent now, whatever the allowance. */
  get room(): number {
    return Math.floor(this.#pace.room);
  }

  /** An attempt begins, by a probe or not. */
  begun(): void {
    this.#announced.tried();
    this.#pace.sent();
  }

  delivered(lane: string, sentAt = this.#clock()): void {
    this.#pace.delivered();
    if (this.#announced.delivered(sentAt)) this.#released();
    this.#lastDeliveredAt = this.#clock();
    addLatest(this.#deliveredLanes, lane, LANES_REMEMBERED);
    if (this.#trouble === undefined) this.#grow();
    else {
      const lasted = this.#clock() - this.#trouble.since;
      this.#end();
      if (lasted > RAMP_AFTER_MS) {
        this.#allowance = 1;
        this.#recoveringSince = this.#clock();
      }
    }
    this.#readsFail = false;
    this.#failuresInARow = 0;
    this.#forbiddenLanes.clear();
    this.#failedLanes.clear();
  }

  /**
   * An attempt in this lane failed because of an outage, a fault or a refusal of the key.
   * @param first whether this was the entry's first failure
   * @param retryAfterMs the platform's Retry-After
   */
  failed(
    lane: string,
    reason: Reason,
    {
      forbidden = false,
      first = false,
      timedOut = false,
      retryAfterMs,
    }: {
      forbidden?: boolean;
      first?: boolean;
      timedOut?: boolean;
      retryAfterMs?: number | undefined;
    } = {},
  ): void {
    const now = this.#clock();
    this.#doubt(reason);
    if (retryAfterMs !== undefined) this.#announced.announce(retryAfterMs);
    this.#timedOut = timedOut;
    if (first) this.#unrest = { since: this.#unrest?.since ?? now, latest: now };
    if (this.#deliveredLanes.has(lane)) {
      this.#failuresInARow += 1;
      if (forbidden) this.#forbiddenLanes.add(lane);
    }
    const isEnough = this.#failedLanes.size >= FAILURES_THAT_OPEN;
    if (this.#lastDeliveredAt === 0 && !isEnough) this.#failedLanes.add(lane);
    const evidence =
      this.#failuresInARow >= FAILURES_THAT_OPEN ||
      this.#forbiddenLanes.size >= FORBIDDEN_LANES_THAT_OPEN ||
      this.#failedLanes.size >= FAILURES_THAT_OPEN;
    if (evidence) this.#open();
  }

  /** A read that worked before fails: evidence against the shop, as senders cannot cause it. */
  readsFailed(reason: Reason): void {
    this.#doubt(reason);
    this.#readsFail = true;
    this.#open();
  }

  readsAnswered(): void {
    this.#readsFail = false;
  }

  /** After a 429 to a message that was sent then: waits as long as the platform says, then sends more slowly. */
  slowDown(retryAfterMs: number, sentAt = this.#clock()): void {
    this.#announced.announce(retryAfterMs);
    if (retryAfterMs >= PACED_FROM_MS) this.#pace.tooMany(sentAt);
    this.#allowance = Math.max(1, Math.min(this.#allowance, 32) / 2);
    this.#growsSlowly = true;
  }

  /**
   * The time at which lane heads began to fail, once they have stopped failing and others were
   * delivered since. Returned once. Entries that failed since then need not wait for their full
   * delay.
   */
  takeUnrest(): number | undefined {
    const unrest = this.#unrest;
    if (unrest === undefined || this.#trouble !== undefined) return undefined;
    if (this.#clock() - unrest.latest < CALM_AFTER_MS) return undefined;
    if (this.#lastDeliveredAt <= unrest.latest) return undefined;
    this.#unrest = undefined;
    return unrest.since;
  }

  /** Whether an announced wait has ended before its time; returned once. */
  takeRelease(): boolean {
    const isReleased = this.#isReleased;
    this.#isReleased = false;
    return isReleased;
  }

  #doubt(reason: Reason): Trouble {
    const now = this.#clock();
    this.#trouble ??= {
      since: now,
      reason,
      openSince: undefined,
      probeAt: now + FIRST_PROBE_AFTER_MS,
      asked: false,
      foundNothing: false,
    };
    this.#trouble.reason = reason;
    return this.#trouble;
  }

  #open(): void {
    if (this.#trouble !== undefined) this.#trouble.openSince ??= this.#clock();
  }

  #end(): void {
    this.#trouble = undefined;
  }

  /** The result of a probe: whether the trouble that it was sent for has ended. */
  #resultOf(
    trouble: Trouble,
  ): Pick<NonNullable<EndpointHealth['lastProbe']>, 'outcome' | 'reason'> {
    if (this.#trouble === trouble) return { outcome: 'failed', reason: trouble.reason };
    return { outcome: trouble.foundNothing ? 'nothing_to_try' : 'delivered' };
  }

  #planProbe(trouble: Trouble, inMs: number): void {
    trouble.probeAt = this.#clock() + inMs;
  }

  #grow(): void {
    const step = this.#growsSlowly ? 1 / this.#allowance : this.#allowance;
    this.#allowance = Math.min(FULL_ALLOWANCE, this.#allowance + step);
    if (this.#allowance < FULL_ALLOWANCE) return;
    this.#growsSlowly = false;
    this.#recoveringSince = undefined;
  }
}
