import type { Channel } from '../domain/channel.ts';
import type { HealthPart } from '../domain/health-part.ts';
import type { Trouble } from '../domain/trouble.ts';

/**
 * How the gateway is at one moment, for the console's overview and for alerts: one collection for
 * both, so that they never tell two stories. Times in milliseconds since the epoch.
 */
export interface Facts {
  readonly at: number;
  readonly startedAt: number;
  /** Of every state but `delivered`; a shop that is no longer configured by its id. */
  readonly counts: readonly {
    readonly shop: string;
    readonly channel: Channel;
    readonly state: string;
    readonly count: number;
    readonly oldestAt: number;
  }[];
  readonly shops: readonly ShopFacts[];
  readonly disk: {
    readonly freeBytes: number;
    readonly totalBytes: number;
    /** Below this new messages are refused. */
    readonly reserveBytes: number;
  };
  /** The certificate that STARTTLS shows; absent while SMTP is off. */
  readonly certificate?: {
    readonly subject: string;
    readonly endsAt: number;
    readonly selfSigned: boolean;
  };
  /** Webhooks whose signature did not match, since the start. */
  readonly badSignatures: number;
  readonly sockets: { readonly chat: number; readonly smtp: number };
}

/** The console shows it as it is, with counts of the queue. */
export interface ShopFacts {
  readonly shop: string;
  readonly shopId: string;
  readonly breakers: readonly {
    readonly part: HealthPart;
    readonly state: 'closed' | 'open' | 'probing';
    /** When the next probe is due, while it is open. */
    readonly nextProbeAt?: number;
    /** Since when it is not closed, and why, in the platform's words. For operators only. */
    readonly since?: number;
    readonly reason?: string;
  }[];
  /** Refusals that many messages got in the same words: status, code and field names. */
  readonly refusedAlike: readonly {
    readonly words: string;
    readonly since: number;
    readonly count: number;
  }[];
  readonly lastDeliveredAt?: number;
}

export type CollectFacts = () => Promise<Facts>;

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
