import type { Channel } from '../domain/channel.ts';

/** What a trace tells of an entry: ids, names of the configuration and counts, nothing of a person. */
export interface TracedEntry {
  readonly id: string;
  readonly shopId: string;
  /** The configured name. */
  readonly shop: string;
  readonly channel: Channel;
  readonly kind: string;
  /** Counted from 1. */
  readonly claim: number;
}

export type AttemptPart = 'normalize' | 'upload' | 'conversation' | 'submit' | 'settle';

/** One attempt in a trace. */
export interface AttemptTrace {
  /** Runs a part of the attempt. What it throws passes through. */
  timed<T>(part: AttemptPart, work: () => Promise<T>): Promise<T>;
  /** Once, whatever became of it; `state` is the outcome's. */
  end(state: string): void;
}

/** Writes traces; there is none of it when tracing is off. Nothing here throws or waits. */
export interface Tracing {
  /** An entry is durable and is about to be acknowledged. */
  accepted(entry: {
    readonly id: string;
    readonly shopId: string;
    readonly channel: Channel;
  }): void;
  /** Undefined when this entry is not among those that are traced. */
  attempt(entry: TracedEntry): AttemptTrace | undefined;
  /** Sends what is left, for a bounded time. */
  stop(): Promise<void>;
}
