import type { Place } from './place.ts';

export interface Failure extends Place {
  readonly reason: string;
}

/** More are counted, and not told one by one. */
const MOST_TOLD = 1000;

/** What came of the messages so far. */
export class IngestTally {
  accepted = 0;
  duplicates = 0;
  failed = 0;
  /** Of an export: what is no message. */
  skipped = 0;
  /** Entries made: one for each inbox of a message. */
  entries = 0;
  readonly failures: Failure[] = [];

  get messages(): number {
    return this.accepted + this.duplicates + this.failed;
  }

  fail(place: Place, reason: string): void {
    this.failed += 1;
    if (this.failures.length < MOST_TOLD) this.failures.push({ ...place, reason });
  }
}
