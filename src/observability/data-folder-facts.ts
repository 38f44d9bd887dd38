import type { HealthPart } from '../domain/health-part.ts';
import type { Trouble } from '../domain/trouble.ts';

/** How a data folder lies there, whoever it belongs to. */
export interface DataFolderFacts {
  readonly dir: string;
  /** Absent: there is no such folder, so no gateway has run with it. */
  readonly folder?: { readonly uid: number; readonly mode: number };
  /** Files with keys, as far as they are there. */
  readonly secrets: readonly {
    readonly name: string;
    readonly uid: number;
    readonly mode: number;
  }[];
  /** Why this user cannot run a gateway with it; absent when nothing is in the way. */
  readonly trouble?: Trouble;
  /** `left`: the last gateway ended without letting go of it. */
  readonly lock: 'held' | 'free' | 'left';
  readonly pid?: string;
  /** Absent: there is no spool. */
  readonly spool?: SpoolFacts | 'unreadable' | 'damaged';
}

export interface SpoolFacts {
  readonly bytes: number;
  readonly schema: number;
  /** The schema that this program writes. */
  readonly knownSchema: number;
  /** Of the database or its log, in milliseconds since the epoch. */
  readonly lastWriteAt: number;
  /** Entries that may be tried, and since when the first of them. */
  readonly due: number;
  readonly dueSince?: number;
  /** What most of those that wait failed with, by shop. */
  readonly failing: readonly {
    readonly shopId: string;
    readonly reason: string;
    readonly count: number;
  }[];
  /** Shops whose deliveries are stopped, as the gateway last reported. */
  readonly stopped: readonly {
    readonly shopId: string;
    readonly part: HealthPart;
    readonly since: number;
    readonly reason: string;
  }[];
}
