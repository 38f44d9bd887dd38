import type { Channel } from '../domain/channel.ts';
import type { HealthPart } from '../domain/health-part.ts';

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
