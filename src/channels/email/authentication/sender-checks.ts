import * as z from 'zod';
import { NotYet } from '../../../intake/normalizer.ts';
import { type Clock, withinMs } from '../../../runtime/clock.ts';
import type { Claimed, EntryMeta } from '../../../spool/entry.ts';
import type { EntryId } from '../../../domain/ids.ts';
import type { Authenticator } from './authenticator.ts';
import type { CheckRequest } from './check-message.ts';
import type { AuthenticationVerdict } from './verdict.ts';

/** How long an attempt waits for its check. */
const PATIENCE = {
  /** So many may wait, or be late, before others have to hurry. */
  crowd: 4,
  /** In the crowd. Most checks take less. */
  usualMs: 250,
  /** While more are late, as with a zone that does not respond. */
  lateMs: 25,
  /** After the usual time, unless there is a crowd. The first check has to start its thread. */
  aloneMs: 2000,
};
/** When an entry is claimed again whose check was late. */
const LOOK_AGAIN_MS = [500, 2000, 4000, 10_000];
/** Late checks under way: a busy machine ends so many in a minute. */
const MAX_LATE = 500;
/** Waits before a check is made again that did not end. */
const CHECK_AGAIN_MS = [10_000, 60_000, 180_000];
const CHECK_AGAIN_WITHIN_MS = 600_000;
const MAX_VERDICTS = 5000;

/** Stored with an entry whose check did not end: how often, and when the first one began. */
const notedSchema = z.object({ unended: z.number(), since: z.number() });

interface Check {
  /** Never rejects. */
  readonly verdict: Promise<AuthenticationVerdict>;
  /** No further one follows. */
  readonly isLast: boolean;
  readonly noted: z.infer<typeof notedSchema>;
  /** How often its entry was put back. */
  looks: number;
}

/**
 * Checks the senders of entries that are delivered. An entry does not occupy a slot of delivery
 * while its check waits for DNS or for processor time: it is put back (`NotYet`), the check goes
 * on, and a later attempt uses the verdict. If that attempt is made in another process, or after a
 * restart, the check starts over there.
 *
 * A check that did not end is made again, three times in ten minutes. How often is stored with the
 * entry, which leaves its lane meanwhile: a message whose checks never end must not delay the other
 * mail of the person that it names.
 *
 * Verdicts are kept for retries of the delivery: the key may be gone from DNS by then, and a message
 * that was held must not be delivered later for that reason. After a DNS failure, the sender is
 * checked again.
 */
export class SenderChecks {
  readonly #authenticator: Pick<Authenticator, 'check'> | undefined;
  readonly #clock: Clock;
  readonly #verdicts = new Map<EntryId, AuthenticationVerdict>();
  /** Checks whose entries were put back. */
  readonly #late = new Map<EntryId, Check>();
  /** How many of them are under way. */
  #lateUnderWay = 0;
  /** Attempts that wait for their checks. */
  #waiting = 0;
  readonly #patience: Readonly<typeof PATIENCE>;

  constructor(
    authenticator: Pick<Authenticator, 'check'> | undefined,
    clock: Clock,
    patience: Readonly<typeof PATIENCE> = PATIENCE,
  ) {
    this.#authenticator = authenticator;
    this.#clock = clock;
    this.#patience = patience;
  }

  /**
   * @returns undefined if senders are not checked, or an operator has released the entry
   * @throws {NotYet} there is no verdict yet
   */
  async verdict(
    { entry: { id }, released, notes }: Claimed,
    known: AuthenticationVerdict | undefined,
    request: CheckRequest,
  ): Promise<AuthenticationVerdict | undefined> {
    const verdict = known ?? this.#verdicts.get(id);
    if (verdict !== undefined || released || this.#authenticator === undefined) return verdict;
    const check = this.#late.get(id) ?? this.#begin(this.#authenticator, notes, request);
    const found = await this.#awaited(check);
    if (found === undefined) throw this.#putBack(id, check);
    this.#late.delete(id);
    const { unended, since } = check.noted;
    if (found.unfinished !== undefined && !check.isLast) {
      const memo = { unended: unended + 1, since };
      throw new NotYet(NOT_CHECKED, CHECK_AGAIN_MS[unended] ?? 0, { memo, detach: true });
    }
    this.#keep(id, found);
    return found;
  }

  /** Resolves when nothing reads the entry's raw form any more; undefined if nothing does. */
  underWay(id: EntryId): Promise<unknown> | undefined {
    return this.#late.get(id)?.verdict;
  }

  #begin({ check }: Pick<Authenticator, 'check'>, notes: EntryMeta, request: CheckRequest): Check {
    if (this.#lateUnderWay >= MAX_LATE) throw new NotYet(NOT_CHECKED, LOOK_AGAIN_MS[1] ?? 0);
    const now = this.#clock();
    const noted = notedSchema.safeParse(notes['channel']).data ?? { unended: 0, since: now };
    const isLast =
      noted.unended >= CHECK_AGAIN_MS.length || now - noted.since >= CHECK_AGAIN_WITHIN_MS;
    const verdict = check(request).then((found) =>
      isLast && found.unfinished !== undefined ? check({ ...request, policiesOnly: true }) : found,
    );
    return { verdict, isLast, noted, looks: 0 };
  }

  /** Undefined if the check takes too long for a slot. */
  async #awaited({ verdict, looks }: Check): Promise<AuthenticationVerdict | undefined> {
    const { crowd, usualMs, lateMs, aloneMs } = this.#patience;
    const within = (ms: number) =>
      withinMs<AuthenticationVerdict | undefined>(verdict, ms, () => undefined);
    if (looks > 0) return within(0);
    this.#waiting += 1;
    try {
      const found = await within(this.#lateUnderWay < crowd ? usualMs : lateMs);
      const isCrowd = this.#waiting + this.#lateUnderWay > crowd;
      return found ?? (isCrowd ? undefined : await within(aloneMs));
    } finally {
      this.#waiting -= 1;
    }
  }

  #putBack(id: EntryId, check: Check): NotYet {
    const retryAfterMs = LOOK_AGAIN_MS[Math.min(check.looks, LOOK_AGAIN_MS.length - 1)] ?? 0;
    check.looks += 1;
    if (check.looks === 1) {
      this.#late.set(id, check);
      this.#lateUnderWay += 1;
      void check.verdict.then(() => (this.#lateUnderWay -= 1));
      dropOldest(this.#late);
    }
    return new NotYet(NOT_CHECKED, retryAfterMs);
  }

  #keep(id: EntryId, verdict: AuthenticationVerdict): void {
    if (verdict.dmarc === 'temperror' || verdict.claimed === 'temperror') return;
    this.#verdicts.set(id, verdict);
    dropOldest(this.#verdicts);
  }
}

const NOT_CHECKED = { code: 'sender_not_checked' } as const;

function dropOldest(kept: Map<EntryId, unknown>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > MAX_VERDICTS) kept.delete(oldest);
}
