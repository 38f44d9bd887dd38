import type { AlertRecord, SentNotice } from './alert.ts';

/** An alert whose figure grew by this factor since it was last sent is sent again. */
const GROWN = 10;

/**
 * What one target has not been sent yet: the current state, not every change since the last notice.
 */
export interface PendingNotice {
  readonly fired: readonly AlertRecord[];
  readonly worse: readonly AlertRecord[];
  readonly resolved: readonly AlertRecord[];
  /** A reminder of alerts that were sent before and still fire. */
  readonly still: readonly AlertRecord[];
}

export interface NoticeTiming {
  /** Changes within this time of the first change are sent together. */
  readonly groupMs: number;
  /** Alerts that still fire are sent again after this time. */
  readonly repeatMs: number;
}

/** The notice that is due for the target, or undefined when none is due now. Pure. */
export function pendingFor(
  target: string,
  records: readonly AlertRecord[],
  now: number,
  { groupMs, repeatMs }: NoticeTiming,
): PendingNotice | undefined {
  const firing = records.filter(({ phase }) => phase === 'firing');
  const { fired, resolved } = changes(target, records);
  const known = firing.filter((record) => lastSentFiring(record, target));
  const worse = known.filter((record) => hasGrown(record.told[target], record));
  const isReminder = known.some((record) => now - (record.told[target]?.at ?? now) >= repeatMs);
  const first = Math.min(...[...fired, ...resolved].map(({ changedAt }) => changedAt));
  if (!isReminder && worse.length === 0 && now - first < groupMs) return undefined;
  if (fired.length + resolved.length + worse.length === 0 && !isReminder) return undefined;
  const still = isReminder ? known.filter((record) => !worse.includes(record)) : [];
  return { fired, worse, resolved, still };
}

/** When the changes that wait to be grouped are due; undefined when none wait. */
export function nextNoticeAt(
  target: string,
  records: readonly AlertRecord[],
  groupMs: number,
): number | undefined {
  const { fired, resolved } = changes(target, records);
  const all = [...fired, ...resolved];
  return all.length === 0 ? undefined : Math.min(...all.map((r) => r.changedAt)) + groupMs;
}

/** The records after the target has accepted the notice. */
export function markSent(
  target: string,
  pending: PendingNotice,
  records: readonly AlertRecord[],
  at: number,
): AlertRecord[] {
  const sent = new Map(
    [...pending.fired, ...pending.worse, ...pending.still, ...pending.resolved].map((r) => [
      r.key,
      r,
    ]),
  );
  return records.map((record) => {
    const as = sent.get(record.key);
    if (as === undefined || as.phase === 'pending') return record;
    const entry: SentNotice = {
      at,
      phase: as.phase,
      severity: as.severity,
      ...(as.figure !== undefined && { figure: as.figure }),
    };
    return { ...record, told: { ...record.told, [target]: entry } };
  });
}

/** The records without resolved alerts whose end every target has been sent. */
export function withoutEnded(
  records: readonly AlertRecord[],
  targets: readonly string[],
): AlertRecord[] {
  return records.filter(
    (record) =>
      record.phase !== 'resolved' || targets.some((target) => lastSentFiring(record, target)),
  );
}

function changes(target: string, records: readonly AlertRecord[]) {
  return {
    fired: records.filter((r) => r.phase === 'firing' && !lastSentFiring(r, target)),
    resolved: records.filter((r) => r.phase === 'resolved' && lastSentFiring(r, target)),
  };
}

const lastSentFiring = (record: AlertRecord, target: string): boolean =>
  record.told[target]?.phase === 'firing';

function hasGrown(before: SentNotice | undefined, now: AlertRecord): boolean {
  if (before === undefined) return false;
  return (
    (before.severity === 'warning' && now.severity === 'critical') ||
    (before.figure ?? Infinity) * GROWN <= (now.figure ?? 0)
  );
}
