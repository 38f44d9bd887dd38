import type { Clock } from '../runtime/clock.ts';

const FAILURES_IN_A_ROW = 10;
const WINDOW_MS = 60_000;
const WINDOW_MIN_CALLS = 20;
const FIRST_PROBE_AFTER_MS = 30_000;
const PROBE_AT_MOST_EVERY_MS = 300_000;

/**
 * Pauses the deliveries of one shop while its platform fails as a whole.
 *
 * ```
 * closed ──10 failures in a row, or half of at least 20 in a minute──▶ open
 *   ▲                                                                  │ 30 s, doubling to 5 min
 *   └──────── the probe succeeds ──── probing ◀────────────────────────┘
 *                                        └── the probe fails ──▶ open
 * ```
 */
export class Breaker {
  readonly #clock: Clock;
  #failuresInARow = 0;
  #recent: { at: number; ok: boolean }[] = [];
  #open: { probeAt: number; waitMs: number; probing: boolean } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  get state(): 'closed' | 'open' | 'probing' {
    if (this.#open === undefined) return 'closed';
    return this.#open.probing ? 'probing' : 'open';
  }

  /** When the next probe may go, while open. */
  get probeAt(): number | undefined {
    return this.#open?.probeAt;
  }

  /** How many may be tried now, of the number wanted: all, one probe, or none. */
  allowance(wanted: number): number {
    if (this.#open === undefined) return wanted;
    return this.#open.probing || this.#clock() < this.#open.probeAt ? 0 : Math.min(1, wanted);
  }

  /** Takes the one probe of an open breaker. */
  startProbe(): void {
    if (this.#open !== undefined) this.#open.probing = true;
  }

  /** The probe said nothing about the platform (nothing to send, or the entry's own fault). */
  releaseProbe(): void {
    if (this.#open !== undefined) this.#open.probing = false;
  }

  succeeded(): void {
    this.#failuresInARow = 0;
    if (this.#open !== undefined) {
      this.#open = undefined;
      this.#recent = [];
    }
    this.#remember(true);
  }

  failed(): void {
    this.#failuresInARow += 1;
    if (this.#open !== undefined) {
      // Those that were in flight when it opened come back one by one and say nothing new.
      if (this.#open.probing) this.trip();
      return;
    }
    this.#remember(false);
    const failures = this.#recent.filter(({ ok }) => !ok).length;
    const half = this.#recent.length >= WINDOW_MIN_CALLS && failures * 2 >= this.#recent.length;
    if (this.#failuresInARow >= FAILURES_IN_A_ROW || half) this.trip();
  }

  /** Opens at once, or waits longer for the next probe: for a fault that no retry mends. */
  trip(): void {
    const waitMs =
      this.#open === undefined
        ? FIRST_PROBE_AFTER_MS
        : Math.min(this.#open.waitMs * 2, PROBE_AT_MOST_EVERY_MS);
    this.#open = { probeAt: this.#clock() + waitMs, waitMs, probing: false };
  }

  #remember(ok: boolean): void {
    const now = this.#clock();
    this.#recent = this.#recent.filter(({ at }) => now - at < WINDOW_MS).slice(-200);
    this.#recent.push({ at: now, ok });
  }
}
