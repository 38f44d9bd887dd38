import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AttemptPart, AttemptTrace } from '../observability/tracing.ts';
import type { TimelineStep } from '../spool/entry.ts';

type Detail = NonNullable<TimelineStep['detail']>;

/** The steps of one attempt: each is a log line at once, and a line of the timeline when it settles. */
export class Steps {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #trace: AttemptTrace | undefined;
  readonly #steps: TimelineStep[] = [];

  constructor(log: Logger, clock: Clock, trace?: AttemptTrace) {
    this.#log = log;
    this.#clock = clock;
    this.#trace = trace;
  }

  /** A part of the attempt, timed when the entry is traced. */
  timed<T>(part: AttemptPart, work: () => Promise<T>): Promise<T> {
    return this.#trace === undefined ? work() : this.#trace.timed(part, work);
  }

  add(step: string, detail: Detail = {}): void {
    this.#steps.push({ at: this.#clock(), step, ...(hasKeys(detail) && { detail }) });
    this.#log.info(`entry.${step}`, detail);
  }

  get all(): readonly TimelineStep[] {
    return this.#steps;
  }
}

const hasKeys = (detail: Detail): boolean => Object.keys(detail).length > 0;
