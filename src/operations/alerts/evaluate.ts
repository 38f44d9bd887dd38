import type { AlertRecord, Reading } from './alert.ts';

/**
 * The next state of every alert. Pure.
 *
 * ```
 *  holds          for `forMs`
 *  ─────▶ pending ────────────────▶ firing ◀─────────────┐ holds again
 *            │ gone                   │ gone for `settleMs` │
 *            ▼                        ▼                  │
 *         dropped                  resolved ─────────────┘
 *                                     │ its end was sent to every target
 *                                     ▼
 *                                  dropped
 * ```
 *
 * A reading that does not hold changes no phase. Without a reading the condition is gone.
 */
export function evaluate(
  records: readonly AlertRecord[],
  readings: readonly Reading[],
  now: number,
  settleMs: number,
): AlertRecord[] {
  const known = new Map(records.map((record) => [record.key, record]));
  const next = readings.map((reading) => {
    const before = known.get(reading.key);
    known.delete(reading.key);
    return moved(before, reading, now);
  });
  const withoutReading = [...known.values()].map((record) => settled(record, now, settleMs));
  return [...next, ...withoutReading].filter((record) => record !== undefined);
}

function moved(
  before: AlertRecord | undefined,
  reading: Reading,
  now: number,
): AlertRecord | undefined {
  if (!reading.holds) return before;
  if (before === undefined) return fired(begun(reading, now), reading, now);
  if (before.phase === 'resolved') {
    return {
      ...refreshed(before, reading),
      phase: 'firing',
      changedAt: now,
      since: now,
    };
  }
  const same = refreshed(before, reading);
  return same.phase === 'pending' ? fired(same, reading, now) : same;
}

function begun(reading: Reading, now: number): AlertRecord {
  const { key, rule, shop, severity, summary, todo, figure } = reading;
  return {
    ...{ key, rule, severity, summary, todo },
    ...(shop !== undefined && { shop }),
    ...(figure !== undefined && { figure }),
    phase: 'pending',
    since: now,
    changedAt: now,
    told: {},
  };
}

function fired(record: AlertRecord, { forMs }: Reading, now: number): AlertRecord {
  if (now - record.since < forMs) return record;
  return { ...record, phase: 'firing', changedAt: now };
}

/** The record with the current texts of the rule. It holds again, so `wellSince` is removed. */
function refreshed(record: AlertRecord, reading: Reading): AlertRecord {
  const { wellSince: _wellSince, ...rest } = record;
  const { severity, summary, todo, figure } = reading;
  return { ...rest, severity, summary, todo, ...(figure !== undefined && { figure }) };
}

function settled(record: AlertRecord, now: number, settleMs: number): AlertRecord | undefined {
  if (record.phase === 'pending') return undefined;
  if (record.phase === 'resolved') return record;
  const wellSince = record.wellSince ?? now;
  if (now - wellSince < settleMs) return { ...record, wellSince };
  const { wellSince: _wellSince, ...rest } = record;
  return { ...rest, phase: 'resolved', changedAt: now };
}
