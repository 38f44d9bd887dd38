import type { Clock } from '../runtime/clock.ts';
import type { PartHealth } from '../spool/shop-health.ts';

/** All retries, uploads and timeouts of one attempt are over by then. */
const PROBE_AT_MOST_MS = 15 * 60_000;
const FAILURES_THAT_OPEN = 10;
const FORBIDDEN_LANES_THAT_OPEN = 3;
/** Most trouble is over in a moment: a restart, a reset. */
const FIRST_PROBE_AFTER_MS = 1000;
const PROBE_AFTER_MS = 5000;
const PROBE_JITTER_MS = 20_000;
/** The longest Retry-After that is honoured. */
const PATIENT_AT_MOST_MS = 3_600_000;
/** Trouble that was over sooner left nothing behind that could come all at once. */
const RAMP_AFTER_MS = 5000;
/** The largest `delivery.concurrency`: no limit. */
const FULL_ALLOWANCE = 1000;
const CALM_AFTER_MS = 15_000;
const SLOWED_AT_MOST_MS = 2000;
const LANES_REMEMBERED = 10_000;

export type HealthState = 'steady' | 'doubted' | 'open';

interface Trouble {
  readonly since: number;
  /** The latest failure, in the platform's words where it said any. For operators, never logged. */
  reason: string;
  /** Evidence against the whole shop. */
  openSince: number | undefined;
  probeAt: number;
  /** The platform asked for so much patience (Retry-After). */
  notBefore: number;
  /** An operator asked while one was under way: the next comes right after it. */
  asked: boolean;
  /** The probe found nothing to try. */
  foundNothing: boolean;
}

/**
 * What is known of the health of one endpoint of one shop's platform. Strangers write the messages,
 * so a message that fails says nothing about the shop by itself.
 *
 * ```
 *            a try fails, and nothing             lanes that delivered before fail,
 *            was delivered since                  or reads that worked fail
 *   steady ─────────────────────────▶ doubted ─────────────────────────▶ open
 *     ▲                                  │                                 │
 *     └──────────────────────────────────┴──── something is delivered ─────┘
 * ```
 *
 * - steady: every head may go. After trouble the allowance is 1 and doubles with each delivery.
 * - doubted: heads that failed wait for the shop; heads that did not fail are sent as before.
 * - open: as doubted, but of the heads that did not fail one at a time goes, and none while reads
 *   fail. This is the state that alarms.
 *
 * While doubted or open there is always a next probe, the first after 1 s, each other 5 to 25 s after
 * the last: one head that waits, another one each time. The first delivery, whoever made it, ends the
 * trouble, and all that waits for the shop may be claimed again.
 */
export class Health {
  readonly #clock: Clock;
  readonly #random: () => number;
  #trouble: Trouble | undefined;
  #lastDeliveredAt = 0;
  /** Lanes that delivered, the latest last. */
  readonly #deliveredLanes = new Set<string>();
  /** Since the last delivery: failures of lanes that delivered before. */
  #failuresInARow = 0;
  #forbiddenLanes = new Set<string>();
  /** Lanes that failed while nothing at all had been delivered. */
  #failedLanes = new Set<string>();
  /** Since when a probe is under way; also when the trouble that it was sent for is over. */
  #probingSince: number | undefined;
  #readsFail = false;
  #timedOut = false;
  #allowance = FULL_ALLOWANCE;
  #growsSlowly = false;
  #notBefore = 0;
  /** When heads began to fail at their first try, and when the latest did. */
  #unrest: { readonly since: number; readonly latest: number } | undefined;
  #lastProbe: PartHealth['lastProbe'];

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get state(): HealthState {
    if (this.#trouble === undefined) return 'steady';
    return this.#trouble.openSince === undefined ? 'doubted' : 'open';
  }

  get readsFail(): boolean {
    return this.#readsFail;
  }

  /** The latest failure was a request that was not answered in time, while reads are answered. */
  get isSlow(): boolean {
    return this.#timedOut && !this.#readsFail;
  }

  /** 0 before the first. */
  get lastDeliveredAt(): number {
    return this.#lastDeliveredAt;
  }

  /** What operators and alerts are told. */
  report(): PartHealth {
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
      ...(this.#lastDeliveredAt > 0 && { lastDeliveredAt: this.#lastDeliveredAt }),
      ...(this.#lastProbe !== undefined && { lastProbe: this.#lastProbe }),
    };
  }

  /** How many attempts may be in flight, probes aside. */
  get allowance(): number {
    if (this.#clock() < this.#notBefore) return 0;
    if (this.state !== 'open') return Math.floor(this.#allowance);
    return this.#readsFail ? 0 : 1;
  }

  get isProbeDue(): boolean {
    const trouble = this.#trouble;
    if (trouble === undefined || this.#probingSince !== undefined) return false;
    return this.#clock() >= this.#nextProbeAt(trouble);
  }

  /** Also where trouble comes and goes there are 5 s between two probes, unless somebody asks. */
  #nextProbeAt({ probeAt, notBefore, asked }: Trouble): number {
    if (asked) return probeAt;
    return Math.max(probeAt, notBefore, (this.#lastProbe?.at ?? 0) + PROBE_AFTER_MS);
  }

  /** Takes the one probe. Call what is returned when it has ended, however it ended. */
  beginProbe(): () => void {
    const trouble = this.#trouble;
    if (trouble === undefined) return () => undefined;
    const begunAt = this.#clock();
    this.#probingSince = begunAt;
    Object.assign(trouble, { asked: false, foundNothing: false });
    return () => {
      // The watchdog may have given it up, and another one may be under way.
      if (this.#probingSince !== begunAt) return;
      this.#probingSince = undefined;
      this.#lastProbe = { begunAt, at: this.#clock(), ...this.#resultOf(trouble) };
      const waitMs = PROBE_AFTER_MS + this.#random() * PROBE_JITTER_MS;
      this.#planProbe(trouble, trouble.asked ? 0 : waitMs);
    };
  }

  /** For the watchdog: true when the probe under way cannot be one any more; the next is planned. */
  repairProbe(now: number): boolean {
    if (this.#probingSince === undefined || now - this.#probingSince < PROBE_AT_MOST_MS) {
      return false;
    }
    this.#probingSince = undefined;
    this.tryNow();
    return true;
  }

  /** An operator asked for a probe: it is due at once. */
  tryNow(): void {
    if (this.#trouble === undefined) return;
    this.#trouble.asked = true;
    this.#planProbe(this.#trouble, 0);
  }

  /** A probe found nothing to try: there is nothing that the trouble could be about. */
  nothingToTry(): void {
    if (this.#trouble !== undefined) this.#trouble.foundNothing = true;
    if (this.state === 'doubted' || (this.state === 'open' && !this.#readsFail)) this.#end();
  }

  delivered(lane: string): void {
    this.#lastDeliveredAt = this.#clock();
    this.#deliveredLanes.delete(lane);
    this.#deliveredLanes.add(lane);
    if (this.#deliveredLanes.size > LANES_REMEMBERED) {
      const [oldest] = this.#deliveredLanes;
      if (oldest !== undefined) this.#deliveredLanes.delete(oldest);
    }
    if (this.#trouble === undefined) this.#grow();
    else {
      const lasted = this.#clock() - this.#trouble.since;
      this.#end();
      if (lasted > RAMP_AFTER_MS) this.#allowance = 1;
    }
    this.#readsFail = false;
    this.#failuresInARow = 0;
    this.#forbiddenLanes.clear();
    this.#failedLanes.clear();
  }

  /**
   * An attempt of this lane failed by an outage, a fault or a refusal of the key.
   * @param first it had not failed before
   * @param retryAfterMs as the platform asked; an hour of it is honoured
   */
  failed(
    lane: string,
    reason: string,
    {
      forbidden = false,
      first = false,
      timedOut = false,
      retryAfterMs = 0,
    }: { forbidden?: boolean; first?: boolean; timedOut?: boolean; retryAfterMs?: number } = {},
  ): void {
    const now = this.#clock();
    const trouble = this.#doubt(reason);
    trouble.notBefore = now + Math.min(retryAfterMs, PATIENT_AT_MOST_MS);
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

  /** A read that worked before fails: that is no stranger's doing. */
  readsFailed(reason: string): void {
    this.#doubt(reason);
    this.#readsFail = true;
    this.#open();
  }

  readsAnswered(): void {
    this.#readsFail = false;
  }

  /** Too many requests: fewer at a time, and more again with each delivery. */
  slowDown(retryAfterMs: number): void {
    const now = this.#clock();
    if (this.#allowance <= 1) {
      this.#notBefore = now + Math.min(retryAfterMs, SLOWED_AT_MOST_MS);
    }
    this.#allowance = Math.max(1, Math.min(this.#allowance, 32) / 2);
    this.#growsSlowly = true;
  }

  /**
   * The time at which heads began to fail, once they no longer do and others were delivered since;
   * it is returned once. What failed since then need not wait for its full time.
   */
  takeUnrest(): number | undefined {
    const unrest = this.#unrest;
    if (unrest === undefined || this.#trouble !== undefined) return undefined;
    if (this.#clock() - unrest.latest < CALM_AFTER_MS) return undefined;
    if (this.#lastDeliveredAt <= unrest.latest) return undefined;
    this.#unrest = undefined;
    return unrest.since;
  }

  #doubt(reason: string): Trouble {
    const now = this.#clock();
    this.#trouble ??= {
      since: now,
      reason,
      openSince: undefined,
      probeAt: now + FIRST_PROBE_AFTER_MS,
      notBefore: 0,
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

  /** What a probe came to: the trouble that it was sent for is over, or it is not. */
  #resultOf(trouble: Trouble): Pick<NonNullable<PartHealth['lastProbe']>, 'outcome' | 'reason'> {
    if (this.#trouble === trouble) return { outcome: 'failed', reason: trouble.reason };
    return { outcome: trouble.foundNothing ? 'nothing_to_try' : 'delivered' };
  }

  #planProbe(trouble: Trouble, inMs: number): void {
    trouble.probeAt = this.#clock() + inMs;
  }

  #grow(): void {
    const step = this.#growsSlowly ? 1 / this.#allowance : this.#allowance;
    this.#allowance = Math.min(FULL_ALLOWANCE, this.#allowance + step);
    if (this.#allowance === FULL_ALLOWANCE) this.#growsSlowly = false;
  }
}
