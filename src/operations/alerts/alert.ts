import { z } from 'zod';

export const ruleSchema = z.enum([
  'dead',
  'held',
  'breaker-open',
  'refused-alike',
  'oldest-queued',
  'unanswered',
  'answers',
  'certificate',
  'disk',
  'bad-signatures',
  'database',
  'clock',
  'blobs',
]);
export type AlertRule = z.output<typeof ruleSchema>;

export const severitySchema = z.enum(['warning', 'critical']);
export type Severity = z.output<typeof severitySchema>;

/**
 * An alert as it is shown. It contains shops, counts and times, but no person, address, number or
 * content, since notices may be read by anyone in a company.
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
  /** The condition is gone since then; the alert is resolved once that has lasted. */
  readonly wellSince?: number;
}

/** The most severe first, then the oldest. */
export function inOrder(alerts: readonly Alert[]): Alert[] {
  return alerts.toSorted(
    (a, b) =>
      Number(b.severity === 'critical') - Number(a.severity === 'critical') || a.since - b.since,
  );
}

/**
 * What a rule says of one subject: a shop, a part of a shop, or the gateway. What is well has no
 * reading.
 */
export interface Reading {
  /** Identifies rule and subject, also after a restart. */
  readonly key: string;
  readonly rule: AlertRule;
  readonly shop?: string;
  /** False: it neither starts nor ends an alert, as it lies between the two thresholds or is unknown. */
  readonly holds: boolean;
  /** How long the condition must last before the alert fires. */
  readonly forMs: number;
  readonly severity: Severity;
  readonly summary: string;
  readonly todo: string;
  /** The count in the summary, if any; a tenfold increase is sent again. */
  readonly figure?: number;
}

const sentNotice = z.strictObject({
  at: z.number(),
  phase: z.enum(['firing', 'resolved']),
  severity: severitySchema,
  figure: z.exactOptional(z.number()),
});

/** The stored state of one alert. */
const record = z.strictObject({
  key: z.string(),
  rule: ruleSchema,
  shop: z.exactOptional(z.string()),
  severity: severitySchema,
  summary: z.string(),
  todo: z.string(),
  figure: z.exactOptional(z.number()),
  /** `pending`: bad for less than `forMs`; `resolved`: over, but not yet sent to every target. */
  phase: z.enum(['pending', 'firing', 'resolved']),
  /** When the condition began. */
  since: z.number(),
  /** When it entered its phase; grouping starts here. */
  changedAt: z.number(),
  /** Firing, with the condition gone since this time. */
  wellSince: z.exactOptional(z.number()),
  /** The last notice of this alert to each target. */
  told: z.record(z.string(), sentNotice),
});

/** The content of the alert file. */
export const recordsSchema = z.strictObject({ version: z.literal(1), alerts: z.array(record) });

export type AlertRecord = Readonly<z.output<typeof record>>;
export type SentNotice = Readonly<z.output<typeof sentNotice>>;

/** The alert of a record. */
export function alertOf({
  rule,
  severity,
  summary,
  todo,
  shop,
  since,
  wellSince,
}: AlertRecord): Alert {
  return {
    ...{ rule, severity, summary, todo, since },
    ...(shop !== undefined && { shop }),
    ...(wellSince !== undefined && { wellSince }),
  };
}
