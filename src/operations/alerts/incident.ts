import { z } from 'zod';

const alertIncident = z.object({
  kind: z.literal('alert'),
  /** When the condition began. */
  at: z.number(),
  /** When the alert was resolved; absent while it fires. */
  until: z.exactOptional(z.number()),
  /** The key of its record. */
  key: z.string(),
  rule: z.string(),
  severity: z.enum(['warning', 'critical']),
  /** As it was when the alert began to fire. */
  summary: z.string(),
  shop: z.exactOptional(z.string()),
});
const incident = z.discriminatedUnion('kind', [
  alertIncident,
  z.object({ kind: z.literal('start'), at: z.number() }),
  z.object({ kind: z.literal('reload'), at: z.number(), outcome: z.string() }),
]);
/** The content of the file. */
export const incidentFile = z.object({ version: z.literal(1), incidents: z.array(incident) });

/** A start of this gateway, a reload of its configuration, or an alert from its beginning to its end. */
export type Incident = Readonly<z.output<typeof incident>>;
