import type { Clock } from '../../../runtime/clock.ts';

/**
 * A time limit for several media that are fetched one after the other. Each may take an equal share
 * of what is left, so that one which stalls does not use up the time of those after it.
 */
export class SharedTime {
  readonly #endsAt: number;
  readonly #clock: Clock;
  #waiting: number;

  /** @param endsAt milliseconds since the epoch */
  constructor(endsAt: number, media: number, clock: Clock) {
    this.#endsAt = endsAt;
    this.#waiting = media;
    this.#clock = clock;
  }

  /** Milliseconds for the next of them. */
  nextShareMs(): number {
    const leftMs = Math.max(this.#endsAt - this.#clock(), 0);
    const shareMs = Math.floor(leftMs / Math.max(this.#waiting, 1));
    this.#waiting -= 1;
    return shareMs;
  }
}
