import type { Clock } from '../runtime/clock.ts';

/** A shop stands still for no longer on account of what one answer said. */
const STANDS_STILL_AT_MOST_MS = 300_000;
const TRIED_EVERY_MS = 60_000;
/** So many deliveries of messages that were sent meanwhile end the wait. */
const DELIVERIES_THAT_END_IT = 3;

/**
 * A wait that the platform has announced (Retry-After) in the answer to some message. The shop stands
 * still for it, but for at most five minutes: then one head a minute is tried. An answer to one message
 * may be about that message alone, so the wait ends when three messages are delivered that were sent
 * since, and none of them was answered with such a wait again.
 */
export class AnnouncedWait {
  readonly #clock: Clock;
  #since = 0;
  #announcedAt = 0;
  #until = 0;
  #triedAt = 0;
  #delivered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  announce(ms: number): void {
    const now = this.#clock();
    if (now >= this.#until) this.#since = now;
    this.#announcedAt = now;
    this.#until = Math.max(this.#until, now + ms);
    this.#delivered = 0;
  }

  /** Whether the platform has asked for it since then. */
  isAnnouncedSince(at: number): boolean {
    return !this.isOver && this.#announcedAt >= at;
  }

  get isOver(): boolean {
    return this.#clock() >= this.#until;
  }

  /** When a head may be tried. */
  get mayTryAt(): number {
    if (this.isOver) return 0;
    const stands = this.#since + STANDS_STILL_AT_MOST_MS;
    return Math.min(this.#until, Math.max(stands, this.#triedAt + TRIED_EVERY_MS));
  }

  /** A head is tried. */
  tried(): void {
    if (!this.isOver) this.#triedAt = this.#clock();
  }

  /**
   * A message was delivered.
   * @returns whether that ends the wait before its time
   */
  delivered(sentAt: number): boolean {
    if (this.isOver || sentAt < this.#since) return false;
    this.#delivered += 1;
    return this.#delivered >= DELIVERIES_THAT_END_IT && this.end();
  }

  /** @returns whether that ended a wait before its time */
  end(): boolean {
    const isEarly = !this.isOver;
    this.#until = 0;
    return isEarly;
  }
}
