const ENDS: ReadonlySet<string> = new Set(['delivered', 'queued', 'dead', 'held', 'suppressed']);
const APART: ReadonlySet<string> = new Set([
  'accepted',
  'requeued',
  'retried',
  'released',
  'discarded',
  'restored',
  'taken_back',
]);

/** Every settle writes the steps of its attempt and ends with the state that it came to. */
export const endsAttempt = (step: string): boolean => ENDS.has(step);

/** Of no attempt: the arrival, and what an operator did. */
export const isApart = (step: string): boolean => APART.has(step);
