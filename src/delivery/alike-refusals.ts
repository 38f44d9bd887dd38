import type { Clock } from '../runtime/clock.ts';
import type { AlikeReport } from '../spool/shop-health.ts';
import type { SharedRefusal } from '../spool/refusals.ts';

export const CANARY_EVERY_MS = 60_000;

/** A canary that is due. */
export interface DueCanary {
  readonly number: number;
  /** An operator asked for it. */
  readonly isAsked: boolean;
}

/** The refusals that a shop's entries wait for, as this gateway knows them (`spool/refusals.ts`). */
export class AlikeRefusals {
  readonly #clock: Clock;
  #known: readonly SharedRefusal[] = [];
  /** When the next canary of each is due. */
  readonly #canaryAt = new Map<number, number>();
  #isAsked = false;
  #mustRead = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An operator has asked for canaries since the refusals were read. */
  get mustRead(): boolean {
    return this.#mustRead;
  }

  /** @param refusals all that the shop's entries wait for */
  know(refusals: readonly SharedRefusal[]): void {
    this.#known = refusals;
    this.#mustRead = false;
    const numbers = new Set(refusals.map(({ number }) => number));
    for (const number of this.#canaryAt.keys()) {
      if (!numbers.has(number)) this.#canaryAt.delete(number);
    }
    for (const number of numbers) {
      if (!this.#canaryAt.has(number)) {
        this.#canaryAt.set(number, this.#clock() + CANARY_EVERY_MS);
      }
    }
  }

  /** Refusals whose canary is due; each is due again in a minute. */
  dueCanaries(): readonly DueCanary[] {
    const now = this.#clock();
    const isAsked = this.#isAsked;
    this.#isAsked = false;
    return [...this.#canaryAt].flatMap(([number, at]) => {
      if (now < at && !isAsked) return [];
      this.#canaryAt.set(number, now + CANARY_EVERY_MS);
      return [{ number, isAsked }];
    });
  }

  /** Makes each canary due at once, on an operator's request. */
  tryNow(): void {
    this.#isAsked = true;
    this.#mustRead = true;
  }

  report(): readonly AlikeReport[] {
    return this.#known.map(({ words, since, count }) => ({ words, since, count }));
  }
}
