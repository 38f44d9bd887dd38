export type AlertRule =
  | 'dead'
  | 'held'
  | 'breaker-open'
  | 'refused-alike'
  | 'oldest-queued'
  | 'certificate'
  | 'disk'
  | 'bad-signatures';

export type Severity = 'warning' | 'critical';

/**
 * What is told to people. It names shops, counts and times, never a person, an address, a number or
 * a text: it leaves by ways that anyone in a company may read.
 */
export interface Alert {
  readonly rule: AlertRule;
  readonly severity: Severity;
  /** One line, with the figure. */
  readonly summary: string;
  /** What to do about it. */
  readonly todo: string;
  /** A configured name. */
  readonly shop?: string;
  /** When it began, in milliseconds since the epoch. */
  readonly since: number;
}

/** The worst first, then the oldest. */
export function inOrder(alerts: readonly Alert[]): Alert[] {
  return alerts.toSorted(
    (a, b) =>
      Number(b.severity === 'critical') - Number(a.severity === 'critical') || a.since - b.since,
  );
}
