import type { TimelineStep } from './entry.ts';

/** A step of an attempt with its own duration, without the wait before the attempt. */
export interface TimedStep extends Omit<TimelineStep, 'startedAt'> {
  readonly tookMs: number;
}

/** An attempt, from its first step to its outcome, or a single step outside of an attempt. */
export type TimelinePart =
  | { readonly kind: 'step'; readonly step: TimelineStep }
  | {
      readonly kind: 'attempt';
      /** From 1, over the whole life of the entry: operators' moves do not start it again. */
      readonly no: number;
      readonly startedAt: number;
      readonly steps: readonly TimedStep[];
      /** Undefined while the attempt is in progress, and when its lease ended. */
      readonly outcome?: TimelineStep;
    };

/** The last step of an attempt is the resulting state. */
const ENDS: ReadonlySet<string> = new Set(['delivered', 'queued', 'dead', 'held', 'suppressed']);
/** These belong to no attempt: the arrival, and moves by operators or the gateway. */
const APART: ReadonlySet<string> = new Set([
  'accepted',
  'requeued',
  'released',
  'discarded',
  'restored',
  'taken_back',
]);

/** Groups the steps of each attempt. This is the one way in which attempts are counted for people. */
export function timelineParts(steps: readonly TimelineStep[]): readonly TimelinePart[] {
  const parts: TimelinePart[] = [];
  let open: TimelineStep[] = [];
  let no = 0;
  const close = (outcome?: TimelineStep) => {
    const [first] = open;
    if (first === undefined) return;
    no += 1;
    const startedAt = first.startedAt ?? first.at;
    const timed = timedSteps(open, startedAt);
    parts.push({ kind: 'attempt', no, startedAt, steps: timed, ...(outcome && { outcome }) });
    open = [];
  };
  for (const step of steps) {
    if (APART.has(step.step)) {
      close();
      parts.push({ kind: 'step', step });
      continue;
    }
    open.push(step);
    if (ENDS.has(step.step)) close(step);
  }
  close();
  return parts;
}

/** Clocks can be set back between two steps. */
const timedSteps = (steps: readonly TimelineStep[], startedAt: number): readonly TimedStep[] =>
  steps.map(({ startedAt: _startedAt, ...step }, index) => ({
    ...step,
    tookMs: Math.max(0, step.at - (steps[index - 1]?.at ?? startedAt)),
  }));
