/**
 * What the console's page and its server say to each other: JSON under `/api/` on the admin
 * listener. Types only, for both sides. Times are milliseconds since the epoch, durations
 * milliseconds, sizes bytes.
 *
 * Every request but `POST /api/login` needs a session (cookie) or the password or a token as
 * `Authorization: Bearer`. A request that changes something carries `X-Sluice-Console: 1`, which no
 * foreign page can send without asking first. A refusal is a `Problem`.
 */

import type { ShopFacts } from '../observability/facts.ts';
import type { Channel } from '../domain/channel.ts';
import type { EntryState, OperatorMove } from '../domain/entry-state.ts';

export type { Channel, EntryState };

/** Of every answer of 400 and above. `message` is for people. */
export interface Problem {
  readonly code:
    | 'signed_out'
    | 'wrong_password'
    | 'too_many_tries'
    | 'invalid'
    | 'not_found'
    | 'conflict'
    | 'forbidden'
    | 'unavailable'
    | 'internal';
  readonly message: string;
  /** Seconds until another try makes sense. */
  readonly retryAfter?: number;
}

/** `POST /api/login {operator?, password}`, `GET /api/session`; `POST /api/logout` ends it. */
export interface Session {
  /** Whose actions the audit names: `operator`, or one of `admin.operators`. */
  readonly operator: string;
  readonly endsAt: number;
}

/** `GET /api/overview`; the `overview` event of `GET /api/stream`, every 2 s. */
export interface Overview {
  readonly at: number;
  readonly startedAt: number;
  readonly version: string;
  readonly demo: boolean;
  readonly deliveryPaused: boolean;
  readonly channels: readonly ChannelFigures[];
  /** Acceptance to `delivered`, of the last 15 minutes; absent while there were none. */
  readonly latency?: {
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly count: number;
  };
  readonly queue: {
    readonly queued: number;
    readonly delivering: number;
    readonly oldestQueuedAt?: number;
    readonly dead: number;
    readonly held: number;
    readonly suppressed: number;
  };
  readonly shops: readonly ShopFigures[];
  readonly disk: {
    readonly freeBytes: number;
    readonly totalBytes: number;
    /** Below this new messages are refused. */
    readonly reserveBytes: number;
  };
  readonly certificate?: {
    readonly subject: string;
    readonly endsAt: number;
    readonly selfSigned: boolean;
  };
  readonly sockets: { readonly chat: number; readonly smtp: number };
  /** Alerts that fire now, the worst first. */
  readonly alerts: readonly Alert[];
}

export interface ChannelFigures {
  readonly channel: Channel;
  readonly enabled: boolean;
  /** Of the last minute. */
  readonly acceptedPerMinute: number;
  readonly deliveredPerMinute: number;
  readonly refusedPerMinute: number;
  /** Accepted since the start. */
  readonly accepted: number;
}

export interface ShopFigures extends ShopFacts {
  readonly queued: number;
  readonly dead: number;
  readonly held: number;
}

/**
 * `POST /api/shops/:shop/try`: has one of its messages tried at once, and answers with the result,
 * after 15 s at the latest.
 */
export type { ShopTrial } from '../domain/shop-trial.ts';

/** `GET /api/history`: one point each 10 s, of the last hour, kept by the process. */
export interface History {
  readonly stepMs: number;
  readonly points: readonly HistoryPoint[];
}
export interface HistoryPoint {
  readonly at: number;
  readonly accepted: Readonly<Record<Channel, number>>;
  readonly delivered: Readonly<Record<Channel, number>>;
  readonly queued: number;
  readonly p50?: number;
  readonly p95?: number;
}

export interface Alert {
  /** The rule's name: `dead`, `held`, `breaker-open`, `refused-alike`, `oldest-queued`, `certificate`, `disk`, `bad-signatures`. */
  readonly rule: string;
  readonly severity: 'warning' | 'critical';
  /** One line for people, with the figure. */
  readonly summary: string;
  /** What to do. */
  readonly todo: string;
  readonly shop?: string;
  readonly since: number;
}

/**
 * `GET /api/entries?text=&shop=&channel=&state=&state=&reason=&from=&to=&before=&limit=`; newest
 * first. `text` finds words, and beginnings of words, of sender, recipient, subject, address, number
 * and id. `shop` is a configured name. The `entries` event of the stream says that there are new or
 * changed ones: `{ids: string[]}`, at most 100, once a second.
 */
export interface EntryList {
  readonly entries: readonly EntryRow[];
  /** `before` of the next page; absent at the end. */
  readonly next?: string;
  /** How many there are in all, up to 10,000; absent when it was not asked for (`count=1`). */
  readonly total?: { readonly count: number; readonly exact: boolean };
  /** False while the index for `text` still catches up with the spool. */
  readonly searchIsComplete: boolean;
}

export interface EntryRow {
  readonly id: string;
  readonly kind: 'message' | 'event';
  readonly shop: string;
  readonly channel: Channel;
  readonly state: EntryState;
  readonly receivedAt: number;
  readonly settledAt?: number;
  /** Of a queued one: when it may be tried. */
  readonly nextAttemptAt?: number;
  /** What a queued one waits for instead: its shop, attachments of its shop, a refusal that many got. */
  readonly waitsFor?: 'shop' | 'media' | 'refusal';
  readonly attempts: number;
  readonly reason?: string;
  /** Name and address or number of whoever wrote; empty when it is not known. */
  readonly from: string;
  readonly to: string;
  /** Subject of an email; of a text or a chat nothing. */
  readonly subject: string;
  readonly bytes: number;
}

/** `GET /api/entries/:id`. Nothing of a body is in it. */
export interface EntryDetail extends EntryRow {
  readonly shopId: string;
  readonly lane: string;
  readonly remoteId: string;
  readonly detached: boolean;
  readonly platformMessageId?: string;
  readonly conversationId?: string;
  readonly ticketId?: string;
  readonly timeline: readonly TimelineStep[];
  /** What may be done with it now. */
  readonly actions: readonly EntryAction[];
  readonly rawKept: boolean;
  /** SPF, DKIM, DMARC, ARC as the message was checked. */
  readonly authentication?: Readonly<Record<string, string>>;
  readonly classification?: { readonly verdict: string; readonly reason: string };
  readonly hasRecord: boolean;
  /** The entries that were accepted right before and right after it. */
  readonly previous?: string;
  readonly following?: string;
}

export interface TimelineStep {
  readonly at: number;
  readonly step: string;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
  /** Since the step before. */
  readonly tookMs: number;
  /** Counted from 1: the attempt that it belongs to; absent for `accepted` and operators' steps. */
  readonly attempt?: number;
}

/**
 * `GET /api/entries/:id/content`: what was received and what became of it, asked for by a click.
 * Each opening is a line of the audit.
 */
export interface EntryContent {
  /** Received: the head of the raw form as text (decoded, at most 256 KiB), and how much there is. */
  readonly raw?: { readonly text: string; readonly truncated: boolean; readonly type: string };
  /** The readable parts of what was received. */
  readonly received: { readonly text?: string; readonly hasHtml: boolean };
  /** The body of the create-message request, as it was last submitted or would have been. */
  readonly payload?: unknown;
  readonly trimmed?: string;
  readonly attachments: readonly {
    readonly part: string;
    readonly name: string;
    readonly type: string;
    readonly bytes: number;
    readonly mediaId?: string;
  }[];
}
// GET /api/entries/:id/raw          the raw form as a download (message/rfc822, or text)
// GET /api/entries/:id/html         sanitized HTML as a document of its own, for <iframe sandbox>:
//                                   Content-Security-Policy: sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:
// GET /api/entries/:id/attachments/:part   as a download, never shown by the browser

export type EntryAction = OperatorMove;

/**
 * `POST /api/actions`: `ids` (up to 10,000), or `filter` (the parameters of the list) for all that it
 * finds. Runs in the background; `GET /api/actions/:id` tells, the `action` event of the stream too.
 * `POST /api/actions/:id/undo` takes back a discard (restore) and a retry or release that has not
 * been claimed yet (back to where it was).
 */
export interface ActionRequest {
  readonly action: EntryAction;
  readonly ids?: readonly string[];
  readonly filter?: Readonly<Record<string, string | readonly string[]>>;
}
export interface ActionProgress {
  readonly id: string;
  readonly action: EntryAction;
  readonly total: number;
  readonly done: number;
  readonly changed: number;
  /** Why some could not be changed, with how many. */
  readonly refused: readonly { readonly why: string; readonly count: number }[];
  readonly finished: boolean;
  readonly canUndo: boolean;
  readonly undone: boolean;
}

/**
 * `GET /api/platform/:shop/tickets|conversations|contacts|messages?...`: the platform's own answers
 * ({results, next}), through the gateway's client, with its filters as in the API; read only.
 */

/** `GET /api/configuration` */
export interface ConfigurationView {
  /** The file that was laid over the defaults. */
  readonly file?: string;
  readonly loadedAt: number;
  /** Effective values, by dotted path; a secret is `••••` (set) or empty (not set). */
  readonly values: readonly {
    readonly path: string;
    readonly value: string;
    readonly secret: boolean;
    readonly isDefault: boolean;
  }[];
  /** The file as it is now differs from what runs; null when it cannot be read. */
  readonly pending: readonly { readonly path: string; readonly needsRestart: boolean }[] | null;
  readonly warnings: readonly string[];
  readonly shops: readonly {
    readonly shop: string;
    readonly platform: string;
    readonly email?: { readonly addresses: readonly string[]; readonly smtp: string };
    readonly sms?: { readonly numbers: readonly string[]; readonly webhook: string };
    readonly chat?: {
      readonly key: string;
      readonly origins: readonly string[];
      readonly snippet: string;
      readonly demo?: string;
    };
  }[];
}
/** `POST /api/configuration/reload` */
export type ReloadResult =
  | {
      readonly ok: true;
      readonly changed: readonly string[];
      readonly needsRestart: readonly string[];
    }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** `POST /api/test-message {shop, channel}`: through the channel's own door, as a customer would. */
export interface TestMessage {
  /** The entry that it became. */
  readonly id: string;
}

/** `GET /api/audit?before=&limit=`; newest first. */
export interface AuditPage {
  readonly lines: readonly AuditLine[];
  readonly next?: number;
}
export interface AuditLine {
  readonly no: number;
  readonly at: number;
  /** `operator`, a name of `admin.operators`, or `terminal:<user>`. */
  readonly who: string;
  /** `login`, `login_failed`, `logout`, `retry`, `release`, `discard`, `restore`, `open`, `download`, `export`, `ingest`, `erase`, `reload`, `test_message`, `try`. */
  readonly action: string;
  /** An entry's id, a shop's name, `500 entries`; never an address, a number or a text. */
  readonly target: string;
  readonly outcome: string;
}

/** `GET /api/doctor`: the checks of `sluice doctor`, without changing anything. */
export interface DoctorReport {
  readonly checks: readonly {
    readonly check: string;
    readonly subject: string;
    readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
    readonly expected: string;
    readonly found: string;
    readonly todo?: string;
  }[];
}

/** `GET /api/stream`: server-sent events. */
export type StreamEvent =
  | { readonly event: 'overview'; readonly data: Overview }
  | { readonly event: 'entries'; readonly data: { readonly ids: readonly string[] } }
  | { readonly event: 'action'; readonly data: ActionProgress }
  | { readonly event: 'signed_out'; readonly data: Record<string, never> };
