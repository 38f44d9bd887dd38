import { endsAttempt, isApart } from '../spool/attempt-steps.ts';
import type { TimelineStep } from '../spool/entry.ts';
import { time } from './queue-entry.ts';
import { printableLine } from './terminal.ts';
import { longSpan } from './time-argument.ts';

/** An attempt, from its first step to what it came to; or one step that is none. */
export type TimelinePart =
  | { readonly kind: 'step'; readonly step: TimelineStep }
  | {
      readonly kind: 'attempt';
      readonly no: number;
      readonly steps: readonly TimelineStep[];
      /** What it came to; undefined while it is under way. */
      readonly outcome?: TimelineStep;
    };

/** Groups what belongs to one attempt. */
export function partsOf(steps: readonly TimelineStep[]): readonly TimelinePart[] {
  const parts: TimelinePart[] = [];
  let open: TimelineStep[] = [];
  let no = 0;
  const close = (outcome?: TimelineStep) => {
    if (open.length === 0) return;
    no += 1;
    parts.push({ kind: 'attempt', no, steps: open, ...(outcome && { outcome }) });
    open = [];
  };
  for (const step of steps) {
    if (isApart(step.step)) {
      close();
      parts.push({ kind: 'step', step });
      continue;
    }
    open.push(step);
    if (endsAttempt(step.step)) close(step);
  }
  close();
  return parts;
}

/** Lines for people: when each part was, how long after the one before, how long it took. */
export function timelineLines(steps: readonly TimelineStep[]): string[] {
  let last: number | undefined;
  const since = (at: number): string => {
    const text = last === undefined ? '' : `+${longSpan(at - last)}`;
    last = at;
    return text.padEnd(12);
  };
  return partsOf(steps).flatMap((part) => {
    if (part.kind === 'step') {
      const { at, step, detail } = part.step;
      return [
        line(`  ${time(at)}  ${since(at)} ${printableLine(step.padEnd(14))} ${details(detail)}`),
      ];
    }
    const [first] = part.steps;
    const end = part.steps.at(-1);
    if (first === undefined || end === undefined) return [];
    const outcome = part.outcome?.step ?? 'under way';
    const head =
      `  ${time(first.at)}  ${since(first.at)} attempt ${part.no}: ${printableLine(outcome)}` +
      `, ${longSpan(end.at - first.at)} after its first step`;
    return [
      head,
      ...part.steps.map(({ at, step, detail }) =>
        line(`${' '.repeat(23)}${since(at)} ${printableLine(step.padEnd(14))} ${details(detail)}`),
      ),
    ];
  });
}

const line = (text: string): string => text.trimEnd();

function details(detail: TimelineStep['detail']): string {
  return Object.entries(detail ?? {})
    .map(([name, value]) =>
      printableLine(
        name === 'nextAttemptAt' && typeof value === 'number'
          ? `next=${time(value)}`
          : `${name}=${value}`,
      ),
    )
    .join(' ');
}
