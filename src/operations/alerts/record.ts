import { z } from 'zod';

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
