import { z } from 'zod';
import { ruleSchema, severitySchema } from './alert.ts';

const alertIncident = z.object({
  kind: z.literal('alert'),
  /** When the condition began. */
  at: z.number(),
  /** When the alert was resolved; absent while it fires. */
  until: z.exactOptional(z.number()),
  /** The key of its record. */
  key: z.string(),
  rule: ruleSchema,
  severity: severitySchema,
  /** As it was when the alert began to fire. */
  summary: z.string(),
  shop: z.exactOptional(z.string()),
});
const incident = z.discriminatedUnion('kind', [
  alertIncident,
  z.object({ kind: z.literal('start'), at: z.number() }),
  z.object({
    kind: z.literal('reload'),
    at: z.number(),
    outcome: z.string(),
    /** An operator's name, or `signal`. */
    who: z.exactOptional(z.string()),
  }),
]);
const incidentFile = z.object({ version: z.literal(1), incidents: z.array(z.unknown()) });

/**
 * The incidents in the content of a file, without those of a kind that this version does not know.
 * @throws {SyntaxError} {z.ZodError} it is not such a file
 */
export const incidentsIn = (text: string): readonly Incident[] =>
  incidentFile.parse(JSON.parse(text)).incidents.flatMap((each) => {
    const { data } = incident.safeParse(each);
    return data === undefined ? [] : [data];
  });

/** A start of this gateway, a reload of its configuration, or an alert from its beginning to its end. */
export type Incident = Readonly<z.output<typeof incident>>;
