import { storedReason } from '../entry-row.ts';
import type { Person } from '../erasure.ts';

/** Replaces texts that name the person. */
const REDACTED = '[erased]';

/** What stands for a reason that names the person. */
export const ERASED_REASON = storedReason({ code: 'other', params: { text: REDACTED } });

/**
 * JSON with the texts that name the person redacted: steps of a timeline, or a shop's health, which may quote
 * answers of the platform. The same JSON if none names them.
 */
export function redacted(json: string, person: Person): string {
  let count = 0;
  const clean = JSON.stringify(JSON.parse(json), (_key, value: unknown) => {
    if (typeof value !== 'string' || !person.isNamedIn(value)) return value;
    count += 1;
    return REDACTED;
  });
  return count > 0 ? clean : json;
}
