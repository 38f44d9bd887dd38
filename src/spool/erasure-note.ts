import type { TimelineStep } from './entry.ts';
import type { Person } from './erasure.ts';

/** In place of what named the person. */
export const BLACKENED = '[erased]';

/** The step without the texts that name the person; the same step when none does. */
export function blackened(step: TimelineStep, person: Person): TimelineStep {
  const { detail } = step;
  if (detail === undefined) return step;
  const names = (value: unknown) => typeof value === 'string' && person.isNamedIn(value);
  if (!Object.values(detail).some(names)) return step;
  const clean = Object.entries(detail).map(
    ([key, value]) => [key, names(value) ? BLACKENED : value] as const,
  );
  return { ...step, detail: Object.fromEntries(clean) };
}
