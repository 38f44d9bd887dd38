import type { Clock } from '../runtime/clock.ts';

const OBSERVED_MS = 10_000;
const OBSERVED_AT_LEAST_MS = 1000;
/** Of the rate at which the platform said that it was too much. */
const SLOWER = 0.7;
const FASTER = 1.1;
/** Below this part of that rate it grows each minute; above, with growing patience. */
const KNOWN_GOOD = 0.9;
const GROWS_EVERY_MS = 60_000;
const TESTS_AFTER_MS = 300_000;
const TESTS_AFTER_AT_MOST_MS = 3_600_000;
/** What has not been sent in time may be sent at once later. */
const AT_ONCE_S = 0.25;
/** A faster platform needs no pace. */
const UNLIMITED_PER_S = 500;

/**
 * How fast a shop's messages may be sent, once the platform has answered 429 (too many requests): a
 * platform that counts requests is not helped by fewer of them at the same time. The rate falls below
 * the one that was too much, and grows again while no 429 comes.
 */
export class Pace {
  readonly #clock: Clock;
  /** When messages were sent lately. */
  #sent: number[] = [];
  #perS = Infinity;
  #tooMuch = Infinity;
  /** A message was delivered since the last 429. */
  #isTaking = false;
  #changedAt = 0;
  #testsAfterMs = TESTS_AFTER_MS;
  /** How many may be sent at `#roomAt`; it grows with the rate. */
  #room = 0;
  #roomAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many messages may be sent now. */
  get room(): number {
    if (this.#perS === Infinity) return Infinity;
    const grown = ((this.#clock() - this.#roomAt) * this.#perS) / 1000;
    return Math.max(0, Math.min(Math.max(1, this.#perS * AT_ONCE_S), this.#room + grown));
  }

  sent(): void {
    const now = this.#clock();
    this.#sent = [...this.#sent.filter((at) => now - at < OBSERVED_MS), now];
    this.#room = this.room - 1;
    this.#roomAt = now;
    this.#grow(now);
  }

  delivered(): void {
    this.#isTaking = true;
  }

  /** The platform answered 429 to a message that was sent then. */
  tooMany(sentAt: number): void {
    const now = this.#clock();
    const [first] = this.#sent;
    // What was sent before the rate changed says nothing of the new one; where nothing is taken, it is no rate.
    if (first === undefined || !this.#isTaking || sentAt <= this.#changedAt) return;
    this.#isTaking = false;
    const observed = (1000 * this.#sent.length) / Math.max(OBSERVED_AT_LEAST_MS, now - first);
    if (this.#perS < Infinity && this.#perS >= KNOWN_GOOD * this.#tooMuch) {
      this.#testsAfterMs = Math.min(2 * this.#testsAfterMs, TESTS_AFTER_AT_MOST_MS);
    }
    this.#tooMuch = Math.min(this.#perS, observed);
    this.#perS = SLOWER * this.#tooMuch;
    this.#changedAt = now;
    this.#sent = [];
    this.#room = 0;
    this.#roomAt = now;
  }

  #grow(now: number): void {
    if (this.#perS === Infinity) return;
    const isKnownGood = FASTER * this.#perS < KNOWN_GOOD * this.#tooMuch;
    if (now - this.#changedAt < (isKnownGood ? GROWS_EVERY_MS : this.#testsAfterMs)) return;
    this.#perS *= FASTER;
    this.#changedAt = now;
    if (this.#perS > UNLIMITED_PER_S) this.#perS = Infinity;
  }
}
