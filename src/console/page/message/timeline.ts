import type { TimelineStep } from '../../contract.ts';
import { stepWords, type StepWords } from './step-words.ts';

/** One line of a timeline. */
export interface TimelineLine extends StepWords {
  readonly at: number;
  readonly step: string;
  /** How long it took; for the first line of an attempt without the wait before it. */
  readonly tookMs: number;
  /** In [0, 1]: of the longest line of its attempt. */
  readonly share: number;
}

/** What belongs together: one attempt, or what happened outside of attempts. */
export type TimelineGroup =
  | { readonly kind: 'event'; readonly line: TimelineLine; readonly waitedMs: number }
  | {
      readonly kind: 'attempt';
      readonly number: number;
      readonly lines: readonly TimelineLine[];
      readonly startedAt: number;
      readonly tookMs: number;
      /** Between the step before and the time when this one was due. */
      readonly waitedMs: number;
    };

/**
 * Groups steps by attempt. When an attempt began is not written down; it was not before the step
 * that came before it, nor before it was due.
 */
export function timelineGroups(steps: readonly TimelineStep[]): readonly TimelineGroup[] {
  const groups: TimelineGroup[] = [];
  let before: TimelineStep | undefined;
  for (let index = 0; index < steps.length;) {
    const first = steps[index];
    if (first === undefined) break;
    if (first.attempt === undefined) {
      const waitedMs = before === undefined ? 0 : Math.max(0, first.at - before.at);
      groups.push({ kind: 'event', line: lineOf(first, 0, 0), waitedMs });
      before = first;
      index += 1;
      continue;
    }
    const last = steps.findIndex(({ attempt }, at) => at > index && attempt !== first.attempt);
    const own = steps.slice(index, last < 0 ? undefined : last);
    const group = attemptGroup(first.attempt, own, before);
    groups.push(group);
    before = own.at(-1);
    index += own.length;
  }
  return groups;
}

function attemptGroup(
  number: number,
  steps: readonly TimelineStep[],
  before: TimelineStep | undefined,
): TimelineGroup {
  const first = steps[0]?.at ?? 0;
  const startedAt = Math.min(first, Math.max(before?.at ?? first, dueAt(before)));
  const took = steps.map(({ at }, index) =>
    Math.max(0, at - (index === 0 ? startedAt : (steps[index - 1]?.at ?? at))),
  );
  const longest = Math.max(1, ...took);
  return {
    kind: 'attempt',
    number,
    lines: steps.map((step, index) => lineOf(step, took[index] ?? 0, longest)),
    startedAt,
    tookMs: Math.max(0, (steps.at(-1)?.at ?? startedAt) - startedAt),
    waitedMs: before === undefined ? 0 : Math.max(0, startedAt - before.at),
  };
}

function dueAt(before: TimelineStep | undefined): number {
  const due = before?.detail?.['nextAttemptAt'];
  return typeof due === 'number' ? due : 0;
}

const lineOf = (step: TimelineStep, tookMs: number, longest: number): TimelineLine => ({
  ...stepWords(step),
  at: step.at,
  step: step.step,
  tookMs,
  share: longest === 0 ? 0 : tookMs / longest,
});
