import type { Channel } from '../domain/channel.ts';

/**
 * The attributes of an entry in a trace: ids, configured names and counts, but no personal data.
 */
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
  /** Runs one part of the attempt. Errors are rethrown. */
  timed<T>(part: AttemptPart, work: () => Promise<T>): Promise<T>;
  /** Called once, for any outcome; `state` is the outcome's. */
  end(state: string): void;
}

/** Writes traces; undefined when tracing is off. Its methods never throw or block. */
export interface Tracing {
  /** An entry is durable and about to be acknowledged. */
  accepted(entry: {
    readonly id: string;
    readonly shopId: string;
    readonly channel: Channel;
  }): void;
  /** Undefined if this entry is not sampled. */
  attempt(entry: TracedEntry): AttemptTrace | undefined;
  /** Sends the remaining spans, within a bounded time. */
  stop(): Promise<void>;
}
