import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import { FIRST_REFUSAL_NUMBER } from '../spool/entry.ts';
import type { AlikeReport } from '../spool/shop-health.ts';
import type { EntryId } from '../domain/ids.ts';

const LANES_ALIKE = 5;
const WITHIN_MS = 10 * 60_000;
const QUIET_MS = 10 * 60_000;
const CANARY_EVERY_MS = 60_000;
/** The maximum number of different refusals that are tracked. */
const MAX_FOLLOWED = 50;
/** Dead entries kept per refusal, from before it reached five lanes. */
const DEAD_REMEMBERED = 100;

interface Followed {
  readonly words: string;
  readonly number: number;
  /** Lanes that were refused, with the time; the latest last. */
  readonly refused: Map<string, number>;
  /** Entries that became dead before the refusal reached five lanes, with the time. */
  readonly dead: Map<EntryId, number>;
  /** Since when entries with this refusal wait instead of becoming dead. */
  activeSince: number | undefined;
  lastNewAt: number;
  canaryAt: number;
  count: number;
}

/**
 * Detects a refusal that is not about a single message: within ten minutes, the messages of five
 * lanes got the same status, code and field names (`Refused.words`).
 *
 * ```
 *  seen ──five lanes within ten minutes──▶ alike ──▶ over
 * ```
 *
 * - alike: entries with this refusal wait instead of becoming dead. One of them, the canary, is
 *   tried each minute; when it is delivered, the rest are released.
 * - over: the canary was delivered, or no further entry got this refusal for ten minutes.
 *
 * Other messages are never paused: their answers say nothing about these entries.
 */
export class AlikeRefusals {
  readonly #clock: Clock;
  readonly #followed = new Map<string, Followed>();
  /** Refusals that ended because no further entry was refused for ten minutes. */
  readonly #ended = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a refusal. `waitsFor`: the number that the entry waits for. `isNew`: this refusal was
   * the one that reached five lanes.
   * @param again the entry has waited for this refusal before
   */
  refused(
    lane: string,
    id: EntryId,
    words: string,
    again: boolean,
  ): { readonly waitsFor?: number; readonly isNew: boolean } {
    const now = this.#clock();
    // It was released with the others and is refused again, so it becomes dead.
    if (again && this.#ended.has(words)) return { isNew: false };
    const followed = this.#follow(words, now);
    if (!again) {
      followed.count += 1;
      followed.lastNewAt = now;
    }
    followed.refused.delete(lane);
    followed.refused.set(lane, now);
    prune(followed.refused, now, LANES_ALIKE);
    const isNew = followed.activeSince === undefined && followed.refused.size >= LANES_ALIKE;
    if (isNew) {
      followed.activeSince = now;
      followed.canaryAt = now + CANARY_EVERY_MS;
    }
    if (followed.activeSince === undefined) {
      followed.dead.set(id, now);
      prune(followed.dead, now, DEAD_REMEMBERED);
      return { isNew };
    }
    followed.dead.delete(id);
    return { isNew, waitsFor: followed.number };
  }

  /** Refusal numbers whose canary is due; each is due again in a minute. */
  dueCanaries(): readonly number[] {
    const now = this.#clock();
    return this.#active().flatMap((followed) => {
      if (now < followed.canaryAt) return [];
      followed.canaryAt = now + CANARY_EVERY_MS;
      return [followed.number];
    });
  }

  /**
   * An entry that waited for this number was delivered. Returns the entries that became dead before
   * the refusal reached five lanes; undefined when the refusal is over already.
   */
  delivered(number: number): readonly EntryId[] | undefined {
    const followed = this.#active().find((each) => each.number === number);
    if (followed === undefined) return undefined;
    this.#followed.delete(followed.words);
    return [...followed.dead.keys()];
  }

  /** The numbers of refusals that ended because no further entry was refused for ten minutes. */
  takeQuiet(): readonly number[] {
    const now = this.#clock();
    return this.#active().flatMap((followed) => {
      if (now - followed.lastNewAt < QUIET_MS) return [];
      this.#followed.delete(followed.words);
      this.#ended.add(followed.words);
      return [followed.number];
    });
  }

  /** Makes each canary due at once, on an operator's request. */
  tryNow(): void {
    for (const followed of this.#active()) followed.canaryAt = this.#clock();
  }

  /** The refusal numbers that entries wait for. */
  numbers(): readonly number[] {
    return this.#active().map(({ number }) => number);
  }

  report(): readonly AlikeReport[] {
    return this.#active().map(({ words, activeSince = 0, count }) => ({
      words,
      since: activeSince,
      count,
    }));
  }

  #active(): Followed[] {
    return [...this.#followed.values()].filter(({ activeSince }) => activeSince !== undefined);
  }

  #follow(words: string, now: number): Followed {
    const known = this.#followed.get(words);
    if (known !== undefined) return known;
    if (this.#followed.size >= MAX_FOLLOWED) {
      const idle = [...this.#followed.values()].find((each) => each.activeSince === undefined);
      if (idle !== undefined) this.#followed.delete(idle.words);
    }
    this.#ended.delete(words);
    const followed: Followed = {
      ...{ words, number: numberOf(words), refused: new Map<string, number>() },
      dead: new Map<EntryId, number>(),
      ...{ activeSince: undefined, lastNewAt: now, canaryAt: 0, count: 0 },
    };
    this.#followed.set(words, followed);
    return followed;
  }
}

/** Keeps the latest `atMost`, and none older than ten minutes. */
function prune(seen: Map<string, number>, now: number, atMost: number): void {
  for (const [each, at] of seen) {
    if (now - at > WITHIN_MS || seen.size > atMost) seen.delete(each);
  }
}

/** The same words have the same number in every process. */
function numberOf(words: string): number {
  const hash = createHash('sha256').update(words).digest().readUInt32BE(0);
  return FIRST_REFUSAL_NUMBER + (hash % 1_000_000_000);
}
