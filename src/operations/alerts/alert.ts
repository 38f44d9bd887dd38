import { z } from 'zod';

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

/** What one rule says about one thing now: a shop, a part of a shop, or the whole gateway. */
export interface Reading {
  /** The same for the same rule and thing, also after a restart. */
  readonly key: string;
  readonly rule: AlertRule;
  readonly shop?: string;
  /**
   * `between` is neither bad enough to begin an alert nor good enough to end one, or nobody can tell
   * yet: whatever was before stays.
   */
  readonly verdict: 'bad' | 'between' | 'good';
  /** It must be bad for this long before it is told. */
  readonly forMs: number;
  readonly severity: Severity;
  readonly summary: string;
  readonly todo: string;
  /** The count that the summary tells, where there is one: a tenfold count is sent again. */
  readonly figure?: number;
}

export type Verdict = Reading['verdict'];

/** Bad from one threshold, good from another: what lies around one alone would flap. */
export function verdictOf(value: number, badFrom: number, goodBelow: number): Verdict {
  if (value >= badFrom) return 'bad';
  return value < goodBelow ? 'good' : 'between';
}

const told = z.strictObject({
  at: z.number(),
  phase: z.enum(['firing', 'resolved']),
  severity: z.enum(['warning', 'critical']),
  figure: z.exactOptional(z.number()),
});

/** One thing that is, or was until a moment ago, not well. */
const record = z.strictObject({
  key: z.string(),
  rule: z.enum([
    'dead',
    'held',
    'breaker-open',
    'refused-alike',
    'oldest-queued',
    'certificate',
    'disk',
    'bad-signatures',
  ]),
  shop: z.exactOptional(z.string()),
  severity: z.enum(['warning', 'critical']),
  summary: z.string(),
  todo: z.string(),
  figure: z.exactOptional(z.number()),
  /** `pending`: bad, and not for long enough; `resolved`: over, and not everyone knows. */
  phase: z.enum(['pending', 'firing', 'resolved']),
  /** When the trouble began. */
  since: z.number(),
  /** When it entered its phase: what is grouped waits from here. */
  changedAt: z.number(),
  /** Firing, and well since then. */
  wellSince: z.exactOptional(z.number()),
  /** What each target was last told of it. */
  told: z.record(z.string(), told),
});

/** What is written down between two evaluations, and across restarts. */
export const recordsSchema = z.strictObject({ version: z.literal(1), alerts: z.array(record) });

export type AlertRecord = Readonly<z.output<typeof record>>;
export type Told = Readonly<z.output<typeof told>>;

/** What is told of a record. */
export function alertOf({ rule, severity, summary, todo, shop, since }: AlertRecord): Alert {
  return { rule, severity, summary, todo, ...(shop !== undefined && { shop }), since };
}
