import type { AlertRecord, SentNotice } from './alert.ts';

/** An alert whose figure grew by this factor since it was last sent is sent again. */
const GROWN = 10;

/** What one target has not been sent yet: the present state, not each change on the way there. */
export interface PendingNotice {
  readonly fired: readonly AlertRecord[];
  readonly worse: readonly AlertRecord[];
  readonly resolved: readonly AlertRecord[];
  /** A reminder of what was told before and still fires. */
  readonly still: readonly AlertRecord[];
}

export interface NoticeTiming {
  /** What changes within this time of the first change is told together. */
  readonly groupMs: number;
  /** What still fires is told again after this time. */
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
  const known = firing.filter((record) => believes(record, target));
  const worse = known.filter((record) => hasGrown(record.told[target], record));
  const isReminder = known.some((record) => now - (record.told[target]?.at ?? now) >= repeatMs);
  const first = Math.min(...[...fired, ...resolved].map(({ changedAt }) => changedAt));
  if (!isReminder && worse.length === 0 && now - first < groupMs) return undefined;
  if (fired.length + resolved.length + worse.length === 0 && !isReminder) return undefined;
  const still = isReminder ? known.filter((record) => !worse.includes(record)) : [];
  return { fired, worse, resolved, still };
}

/** When something that waits for company may be told; undefined when nothing waits. */
export function nextNoticeAt(
  target: string,
  records: readonly AlertRecord[],
  groupMs: number,
): number | undefined {
  const { fired, resolved } = changes(target, records);
  const all = [...fired, ...resolved];
  return all.length === 0 ? undefined : Math.min(...all.map((r) => r.changedAt)) + groupMs;
}

/** The records once the target has taken the notice. */
export function told(
  target: string,
  pending: PendingNotice,
  records: readonly AlertRecord[],
  at: number,
): AlertRecord[] {
  const heard = new Map(
    [...pending.fired, ...pending.worse, ...pending.still, ...pending.resolved].map((r) => [
      r.key,
      r,
    ]),
  );
  return records.map((record) => {
    const as = heard.get(record.key);
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

/** Without what is over and what nobody still believes to fire. */
export function forgotten(
  records: readonly AlertRecord[],
  targets: readonly string[],
): AlertRecord[] {
  return records.filter(
    (record) => record.phase !== 'resolved' || targets.some((target) => believes(record, target)),
  );
}

function changes(target: string, records: readonly AlertRecord[]) {
  return {
    fired: records.filter((r) => r.phase === 'firing' && !believes(r, target)),
    resolved: records.filter((r) => r.phase === 'resolved' && believes(r, target)),
  };
}

const believes = (record: AlertRecord, target: string): boolean =>
  record.told[target]?.phase === 'firing';

function hasGrown(before: SentNotice | undefined, now: AlertRecord): boolean {
  if (before === undefined) return false;
  return (
    (before.severity === 'warning' && now.severity === 'critical') ||
    (before.figure ?? Infinity) * GROWN <= (now.figure ?? 0)
  );
}
