import type { Alert } from './alert.ts';
import type { AlertRecord } from './record.ts';

/** What is told of a record. */
export function alertOf({ rule, severity, summary, todo, shop, since }: AlertRecord): Alert {
  return { rule, severity, summary, todo, ...(shop !== undefined && { shop }), since };
}
