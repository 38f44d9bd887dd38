import type { Clock } from '../../runtime/clock.ts';
import type { Present } from '../contract.ts';

/** The page says every 5 s that it is open; a lost request is no departure. */
const LIFETIME_MS = 12_000;
/** Far more than there are people; more would be a program. */
const TICKETS_MAX = 1000;

/** Who has which ticket open, and who writes in it. In memory only. */
export class DeskPresence {
  readonly #clock: Clock;
  readonly #tickets = new Map<string, Map<string, Present>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns who is present now */
  note(ticketId: string, who: string, writing: boolean): readonly Present[] {
    const people = this.#tickets.get(ticketId) ?? new Map<string, Present>();
    people.set(who, { who, writing, until: this.#clock() + LIFETIME_MS });
    this.#tickets.set(ticketId, people);
    if (this.#tickets.size > TICKETS_MAX) this.#forgetEmpty();
    return this.of(ticketId);
  }

  of(ticketId: string): readonly Present[] {
    const people = this.#tickets.get(ticketId);
    if (people === undefined) return [];
    const now = this.#clock();
    for (const { who, until } of people.values()) if (until <= now) people.delete(who);
    if (people.size === 0) this.#tickets.delete(ticketId);
    return [...people.values()];
  }

  #forgetEmpty(): void {
    for (const id of this.#tickets.keys()) this.of(id);
    for (const id of this.#tickets.keys()) {
      if (this.#tickets.size <= TICKETS_MAX) return;
      this.#tickets.delete(id);
    }
  }
}
