import type { Channel } from '../domain/channel.ts';
import type { OverLimits } from '../domain/desk.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { Reason } from '../domain/reasons.ts';
import type { Trouble } from '../domain/trouble.ts';

/**
 * The status of the gateway at one moment. The console's overview and the alerts share one
 * collection, so they never disagree. Times are in milliseconds since the epoch.
 */
export interface GatewayStatus {
  readonly at: number;
  readonly startedAt: number;
  /** `delivery.paused`: messages are accepted and stay queued. */
  readonly deliveryPaused: boolean;
  /** All states except `delivered`. A shop that is no longer configured is shown by its id. */
  readonly counts: readonly {
    readonly shop: string;
    readonly channel: Channel;
    readonly state: string;
    readonly count: number;
    readonly oldestAt: number;
  }[];
  readonly shops: readonly ShopStatus[];
  readonly disk: {
    /** Absent where the file system does not say. */
    readonly freeBytes?: number;
    readonly totalBytes?: number;
    /** New messages are refused when less space than this is free. */
    readonly reserveBytes: number;
  };
  /** The STARTTLS certificate; absent while SMTP is off. */
  readonly certificate?: {
    readonly subject: string;
    readonly endsAt: number;
    readonly selfSigned: boolean;
    /** Why what stands in its files meanwhile cannot be used. */
    readonly unusable?: { readonly found: string; readonly todo: string };
  };
  /** Webhooks with an invalid signature since the start. */
  readonly badSignatures: number;
  readonly sockets: { readonly chat: number; readonly smtp: number };
  /** Of the shops on the local platform: the tickets that wait for a person. */
  readonly waitingTickets: readonly {
    readonly shop: string;
    readonly waiting: number;
    /** Since when the first of them waits. */
    readonly oldestAt?: number;
    /** How long the shop lets a customer wait; absent without a limit. */
    readonly answerWithinMs?: number;
    /** What limits of automatic answers have left to people in the last hour; absent if nothing. */
    readonly overLimits?: OverLimits;
  }[];
  /** Of this gateway, since the start: where pages show a shop's chat and may not connect. */
  readonly refusedPages: readonly {
    readonly shop: string;
    readonly origin: string;
    /** It shares its registrable domain with a page of the shop or with the gateway. */
    readonly isOwn: boolean;
    /** Seen last. */
    readonly at: number;
  }[];
  /** Absent while the store admits one gateway. */
  readonly fleet?: FleetStatus;
}

/** The gateways with a common store, and what they share, as last seen. */
export interface FleetStatus {
  /** Those that were seen in the last day, by host. */
  readonly instances: readonly InstanceStatus[];
  /** Absent while it cannot be reached. */
  readonly database?: DatabaseStatus;
  /** Whether the place of large messages can be used. */
  readonly blobs: 'reachable' | 'unreachable';
}

/** What a gateway says of itself. */
export interface InstanceReport {
  /** The name of its machine. */
  readonly host: string;
  readonly version: string;
  readonly uptimeMs: number;
  readonly acceptedPerMinute: number;
  readonly deliveredPerMinute: number;
  readonly sockets: { readonly chat: number; readonly smtp: number };
}

export interface InstanceStatus extends InstanceReport {
  /** Identifies it, also after a restart. */
  readonly name: string;
  /** Whether it is the gateway that shows this. */
  readonly isOwn: boolean;
  /** How long ago it reported, by the store's clock. */
  readonly seenAgoMs: number;
}

/** Shown on the console, with counts of the queue. */
export interface ShopStatus {
  readonly shop: string;
  readonly shopId: string;
  readonly breakers: readonly {
    readonly part: Endpoint;
    readonly state: 'closed' | 'open' | 'probing';
    /** When the next probe is due, while the breaker is open. */
    readonly nextProbeAt?: number;
    /**
     * Since when it fails, and the platform's error, for operators only. If the state is `closed`, only some messages
     * have failed: others are still sent.
     */
    readonly since?: number;
    /** Closed: an outage ended then, and what waited is sent step by step. */
    readonly recoveringSince?: number;
    readonly reason?: string;
    /** In a few words: `API key refused (401)`. */
    readonly cause?: string;
    readonly todo?: string;
    /** What the platform itself says. */
    readonly words?: string;
  }[];
  /** Groups of messages that were refused in the same words: status, code and field names. */
  readonly refusedAlike: readonly {
    readonly words: string;
    readonly since: number;
    readonly count: number;
  }[];
  readonly lastDeliveredAt?: number;
  /** Nothing was delivered yet to this platform with this key: whether it works is unknown. */
  readonly untried?: true;
}

export type CollectStatus = () => Promise<GatewayStatus>;

/** The state of a data folder on the disk, whoever owns it. */
export interface DataFolderStatus {
  readonly dir: string;
  /** Absent if the folder does not exist, so no gateway has run with it. */
  readonly folder?: { readonly uid: number; readonly mode: number };
  /** The files with keys that exist. */
  readonly secrets: readonly {
    readonly name: string;
    readonly uid: number;
    readonly mode: number;
  }[];
  /** Why this user cannot run a gateway with it; absent if nothing prevents it. */
  readonly trouble?: Trouble;
  /** `left`: the last gateway ended without releasing it. */
  readonly lock: 'held' | 'free' | 'left';
  readonly pid?: string;
  /** Absent if there is no spool. */
  readonly spool?: SpoolStatus | 'unreadable' | 'damaged';
}

/** The settings and the state of a shared store's database. */
export interface DatabaseStatus {
  /** As the server writes it: `16.2`. */
  readonly version: string;
  /** The major version. */
  readonly major: number;
  readonly isStandby: boolean;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  readonly synchronousCommit: string;
  /** `synchronous_standby_names`; empty without a synchronous standby. */
  readonly synchronousStandbys: string;
  /** The number of standbys and other receivers that are connected. */
  readonly receivers: number;
  /** The number of hosts that the URL names. */
  readonly hosts: number;
  /** How much log is kept for the receiver that is furthest behind. */
  readonly keptLogBytes: number;
  /** How far the server's clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  /** The age of the oldest transaction of any program, which keeps deleted rows from being removed. */
  readonly oldestTransactionMs: number;
}

export interface SpoolStatus {
  readonly bytes: number;
  readonly schema: number;
  /** The schema version that this program writes. */
  readonly knownSchema: number;
  /** Why this program cannot use its schema. */
  readonly mismatch?: { readonly why: string; readonly remedy: string };
  /** The last write to the database or its log, in milliseconds since the epoch. */
  readonly lastWriteAt: number;
  /** Entries that are due, and when the first of them became due. */
  readonly due: number;
  readonly dueSince?: number;
  /** Shops whose deliveries are stopped, according to the gateway's last report. */
  readonly stopped: readonly {
    readonly shopId: string;
    readonly part: Endpoint;
    readonly since: number;
    readonly reason: Reason;
  }[];
}
