import { setLatest } from '../../../runtime/keep-latest.ts';
import * as z from 'zod';
import { NotYet } from '../../../intake/normalizer.ts';
import { type Clock, withinMs } from '../../../runtime/clock.ts';
import type { Claimed, EntryMeta } from '../../../spool/entry.ts';
import type { EntryId } from '../../../domain/ids.ts';
import type { Authenticator } from './authenticator.ts';
import type { CheckRequest } from './check-message.ts';
import type { AuthenticationVerdict } from './verdict.ts';

/** How long an attempt waits for its check. */
const WAIT = {
  /** With more checks awaited or late, a check counts as made at a busy time. */
  busyFrom: 4,
  /** Most checks take less. */
  usualMs: 250,
  /** Instead, while that many are late, as with a zone that does not respond. */
  busyMs: 25,
  /** After the usual time, except at a busy time: the first check has to start its thread. */
  quietMs: 2000,
};
/** How long an entry with a late check is put back, each time. */
const POLL_DELAYS_MS = [500, 2000, 4000, 10_000];
/** At most this many late checks run at once; a busy machine finishes about as many per minute. */
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
  timesPutBack: number;
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
  readonly #wait: Readonly<typeof WAIT>;

  constructor(
    authenticator: Pick<Authenticator, 'check'> | undefined,
    clock: Clock,
    wait: Readonly<typeof WAIT> = WAIT,
  ) {
    this.#authenticator = authenticator;
    this.#clock = clock;
    this.#wait = wait;
  }

  /**
   * @param isEnforced the message may be held because of its policy; otherwise, no check follows one
   * that did not end
   * @param open called only if a check begins: the raw form may be a copy
   * @returns undefined if senders are not checked, or an operator has released the entry
   * @throws {NotYet} there is no verdict yet
   * @throws the errors of `open`
   */
  async verdict(
    { entry: { id }, released, notes }: Claimed,
    known: AuthenticationVerdict | undefined,
    isEnforced: boolean,
    open: () => Promise<CheckRequest>,
  ): Promise<AuthenticationVerdict | undefined> {
    const verdict = known ?? this.#verdicts.get(id);
    if (verdict !== undefined || released || this.#authenticator === undefined) return verdict;
    const late = this.#late.get(id);
    if (late === undefined && this.#lateUnderWay >= MAX_LATE) {
      throw new NotYet(NOT_CHECKED, POLL_DELAYS_MS[1] ?? 0);
    }
    const check = late ?? this.#begin(this.#authenticator, notes, isEnforced, await open());
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

  /** Resolves when no check of the entry is under way any more; undefined if none is. */
  underWay(id: EntryId): Promise<unknown> | undefined {
    return this.#late.get(id)?.verdict;
  }

  #begin(
    { check }: Pick<Authenticator, 'check'>,
    notes: EntryMeta,
    isEnforced: boolean,
    request: CheckRequest,
  ): Check {
    const now = this.#clock();
    const noted = notedSchema.safeParse(notes['channel']).data ?? { unended: 0, since: now };
    const isLast =
      !isEnforced ||
      noted.unended >= CHECK_AGAIN_MS.length ||
      now - noted.since >= CHECK_AGAIN_WITHIN_MS;
    const verdict = check(request).then((found) =>
      isLast && found.unfinished !== undefined ? check({ ...request, policiesOnly: true }) : found,
    );
    return { verdict, isLast, noted, timesPutBack: 0 };
  }

  /** Undefined if the check takes too long for a slot. */
  async #awaited({ verdict, timesPutBack }: Check): Promise<AuthenticationVerdict | undefined> {
    const { busyFrom, usualMs, busyMs, quietMs } = this.#wait;
    const within = (ms: number) =>
      withinMs<AuthenticationVerdict | undefined>(verdict, ms, () => undefined);
    if (timesPutBack > 0) return within(0);
    this.#waiting += 1;
    try {
      const found = await within(this.#lateUnderWay < busyFrom ? usualMs : busyMs);
      const isBusy = this.#waiting + this.#lateUnderWay > busyFrom;
      return found ?? (isBusy ? undefined : await within(quietMs));
    } finally {
      this.#waiting -= 1;
    }
  }

  #putBack(id: EntryId, check: Check): NotYet {
    const retryAfterMs =
      POLL_DELAYS_MS[Math.min(check.timesPutBack, POLL_DELAYS_MS.length - 1)] ?? 0;
    check.timesPutBack += 1;
    if (check.timesPutBack === 1) {
      setLatest(this.#late, id, check, MAX_VERDICTS);
      this.#lateUnderWay += 1;
      void check.verdict.then(() => (this.#lateUnderWay -= 1));
    }
    return new NotYet(NOT_CHECKED, retryAfterMs);
  }

  #keep(id: EntryId, verdict: AuthenticationVerdict): void {
    if (verdict.dmarc === 'temperror' || verdict.claimed === 'temperror') return;
    setLatest(this.#verdicts, id, verdict, MAX_VERDICTS);
  }
}

const NOT_CHECKED = { code: 'sender_not_checked' } as const;
