import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { TimelineStep } from '../spool/entry.ts';

type Detail = NonNullable<TimelineStep['detail']>;

/** The steps of one attempt: each is a log line at once, and a line of the timeline when it settles. */
export class Steps {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #steps: TimelineStep[] = [];

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
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
