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

/** Whether the step is the last of an attempt, which is the resulting state. */
export const endsAttempt = (step: string): boolean => ENDS.has(step);

/** Whether the step belongs to no attempt: the arrival, and operators' moves. */
export const isApart = (step: string): boolean => APART.has(step);
