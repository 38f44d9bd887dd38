import { endsAttempt, isApart } from '../../spool/attempt-steps.ts';
import type { TimelineStep as StoredStep } from '../../spool/entry.ts';
import type { EntryDetail, TimelineStep } from '../contract.ts';

/** With durations, and the attempt that each step belongs to. */
export function timelineOf(steps: readonly StoredStep[]): readonly TimelineStep[] {
  let attempt = 1;
  let before: number | undefined;
  return steps.map((step) => {
    const tookMs = Math.max(0, step.at - (before ?? step.at));
    before = step.at;
    if (isApart(step.step)) return { ...step, tookMs };
    const told = { ...step, tookMs, attempt };
    if (endsAttempt(step.step)) attempt += 1;
    return told;
  });
}

/** What the last check of the sender found, one word for each method. */
export function authenticationOf(
  steps: readonly StoredStep[],
): EntryDetail['authentication'] | undefined {
  const found = steps.findLast(({ step }) => step === 'authenticated')?.detail;
  if (found === undefined) return undefined;
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]));
}

/** What the message was taken for, and why; undefined before the first attempt. */
export function classificationOf(
  steps: readonly StoredStep[],
  state: string,
  reason: string | undefined,
): EntryDetail['classification'] | undefined {
  const last = steps.findLast(({ step }) => step === 'held' || step === 'suppressed');
  const released = steps.some(({ step }) => step === 'requeued' || step === 'released');
  if (last !== undefined && !(state === 'delivered' && released)) {
    const why = last.detail?.['reason'];
    return { verdict: last.step, reason: typeof why === 'string' ? why : (reason ?? '') };
  }
  if (state === 'held') return { verdict: 'held', reason: reason ?? '' };
  if (!steps.some(({ step }) => step === 'normalized')) return undefined;
  const why = last === undefined ? 'nothing speaks against it' : 'released by an operator';
  return { verdict: 'deliver', reason: why };
}
