/**
 * The interface between the console's page and its server: JSON under `/api/` on the admin
 * listener. Types only, used by both. Times are milliseconds since the epoch, durations
 * milliseconds, sizes bytes.
 *
 * Every request except `POST /api/login` requires a session cookie, or the password or a token of
 * the API as `Authorization: Bearer`. Requests that change state carry `X-Sluice-Console: 1`, which pages of
 * other origins cannot send without a preflight request. Errors are a `Problem`.
 *
 * `server/reference/` describes it as OpenAPI. The compiler compares that with these types.
 */

import type { WordedReading } from '../domain/email-reading.ts';
import type { GatewayStatus, InstanceStatus, ShopStatus } from '../observability/status.ts';
import type { ApiToken } from '../domain/api-token.ts';
import type { Channel } from '../domain/channel.ts';
import type { DeskChange } from '../domain/desk.ts';
import type { EntryState, OperatorMove } from '../domain/entry-state.ts';
import type { Reason, ReasonCode } from '../domain/reasons.ts';
import type { DeskSummary, Present } from './desk-contract.ts';
import type { Incident } from '../operations/alerts/incident.ts';
import type { Alert } from '../operations/alerts/alert.ts';
import type { CheckResult } from '../operations/doctor/check.ts';
import type { DeliveryRecord } from '../spool/operator-store.ts';

export type { Alert, ApiToken, Channel, EntryState, Incident };
export type * from './desk-contract.ts';

/**
 * The body of every response with a status of 400 and above. `message` is shown to the operator.
 */
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
  /** Seconds to wait before the next attempt. */
  readonly retryAfter?: number;
  /** Of a ticket that has changed since the person read it: what happened, oldest first. */
  readonly changes?: readonly DeskChange[];
}

/** `POST /api/login {operator?, password}`, `GET /api/session`; `POST /api/logout` ends it. */
export interface Session {
  /** The name in the audit log: `operator`, one of `admin.operators`, or `ann's token "ci"`. */
  readonly operator: string;
  /** `desk`: the Platform pages only; every other request is refused with `forbidden`. */
  readonly role: 'operator' | 'desk';
  readonly endsAt: number;
}

/** `GET /api/overview`; the `overview` event of `GET /api/stream`, every 2 s. */
export interface Overview extends Pick<
  GatewayStatus,
  'at' | 'startedAt' | 'disk' | 'certificate' | 'sockets'
> {
  readonly version: string;
  readonly demo: boolean;
  readonly deliveryPaused: boolean;
  readonly channels: readonly ChannelFigures[];
  /** Time from acceptance to delivery over the last 15 minutes; absent without deliveries. */
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
  /** The gateways with a common store; absent while the store admits one. */
  readonly instances?: readonly InstanceStatus[];
  /** Firing alerts, the most severe first. */
  readonly alerts: readonly Alert[];
}

export interface ChannelFigures {
  readonly channel: Channel;
  readonly enabled: boolean;
  /** During the last minute. */
  readonly acceptedPerMinute: number;
  readonly deliveredPerMinute: number;
  readonly refusedPerMinute: number;
  /** Accepted since the start. */
  readonly accepted: number;
}

export interface ShopFigures extends ShopStatus {
  readonly queued: number;
  readonly delivering: number;
  readonly dead: number;
  readonly held: number;
  readonly suppressed: number;
}

/**
 * `POST /api/shops/:shop/try`: tries one of the shop's messages at once and returns the result,
 * after 15 s at the latest.
 */
export type { ShopTrial } from '../domain/shop-trial.ts';

/**
 * `GET /api/history?range=`: one point for every 10 s of the last hour (`hour`, the default) or every 2 min of the
 * last day (`day`), kept in memory.
 */
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

export type HistoryRange = 'hour' | 'day';

/** `GET /api/incidents`: the latest 500 of this gateway, the newest first. */
export interface IncidentList {
  readonly incidents: readonly Incident[];
}

/**
 * `GET /api/entries?text=&shop=&channel=&state=&state=&reason=&from=&to=&before=&limit=`; newest
 * first. `text` matches words and prefixes in sender, recipient, subject, address, number and id.
 * `shop` is a configured name. The stream's `entries` event lists new and changed entries: `{ids:
 * string[]}`, at most 100, once a second.
 */
export interface EntryList {
  readonly entries: readonly EntryRow[];
  /** `before` of the next page; absent at the end. */
  readonly next?: string;
  /** The number of matches, up to 10,000; present with `count=1`. */
  readonly total?: { readonly count: number; readonly exact: boolean };
  /** False while the index for `text` is behind the spool. */
  readonly searchIsComplete: boolean;
}

/** A reason in words, and as data (`domain/reasons.ts`). */
export interface ShownReason {
  readonly reason?: string;
  readonly reasonCode?: ReasonCode;
  readonly reasonParams?: Reason['params'];
}

export interface EntryRow extends ShownReason {
  readonly id: string;
  readonly kind: 'message' | 'event';
  readonly shop: string;
  readonly channel: Channel;
  readonly state: EntryState;
  readonly receivedAt: number;
  readonly settledAt?: number;
  /** When a queued entry is due. */
  readonly nextAttemptAt?: number;
  /**
   * What a queued entry waits for instead of a time: deliveries of its shop, attachment uploads of
   * its shop, or the end of a refusal of many messages.
   */
  readonly waitsFor?: 'shop' | 'media' | 'refusal';
  /** Attempts that the retry schedule counts. */
  readonly attempts: number;
  /** Failed attempts since the message arrived or was last queued by an operator, whatever the cause. */
  readonly failures: number;
  /** Name and address or number of the sender; empty when unknown. */
  readonly from: string;
  readonly to: string;
  /** The subject of an email or the name of a note; empty for SMS and chat. */
  readonly subject: string;
  /** The beginning of a text or a chat message, if `admin.snippets` is set. */
  readonly snippet?: string;
  readonly bytes: number;
}

/** `GET /api/entries/:id`, without message content. */
export interface EntryDetail extends EntryRow {
  readonly shopId: string;
  readonly lane: string;
  readonly remoteId: string;
  readonly detached: boolean;
  readonly platformMessageId?: string;
  readonly conversationId?: string;
  readonly ticketId?: string;
  readonly timeline: readonly TimelineStep[];
  /** The currently allowed actions. */
  readonly actions: readonly EntryAction[];
  readonly rawKept: boolean;
  /** The results of SPF, DKIM, DMARC and ARC. */
  readonly authentication?: Readonly<Record<string, string>>;
  readonly classification?: ShownReason & { readonly verdict: string; readonly reason: string };
  readonly hasRecord: boolean;
  /** The people on whose timelines it is noted: whom a bounce says was not reached. */
  readonly about?: readonly string[];
  /** The entries accepted directly before and after this one. */
  readonly previous?: string;
  readonly following?: string;
}

export interface TimelineStep {
  readonly at: number;
  readonly step: string;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
  /** Its duration, without the wait before its attempt; 0 outside of attempts. */
  readonly tookMs: number;
  /** The number of its attempt, from 1; absent for `accepted` and operators' steps. */
  readonly attempt?: number;
}

/**
 * `GET /api/entries/:id/content`: the received and the submitted content. Every request is recorded
 * in the audit log.
 */
export interface EntryContent {
  /** The beginning of the raw form as decoded text, at most 256 KiB. */
  readonly raw?: { readonly text: string; readonly truncated: boolean; readonly type: string };
  /** The readable parts of the received message. */
  readonly received: { readonly text?: string; readonly hasHtml: boolean };
  /** The body of the create-message request that was last submitted or would be submitted next. */
  readonly payload?: unknown;
  readonly trimmed?: string;
  readonly attachments: DeliveryRecord['attachments'];
}
/** `GET /api/entries/:id/reading`: how an email was read. Recorded in the audit log as well. */
export type EntryReading = WordedReading;
// GET /api/entries/:id/raw          the raw form as a download (message/rfc822, or text)
// GET /api/entries/:id/html         sanitized HTML as a document of its own, for <iframe sandbox>:
//                                   Content-Security-Policy: sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:
// GET /api/entries/:id/attachments/:part   as a download, never shown by the browser

export type EntryAction = OperatorMove;

/**
 * `POST /api/actions`: applies to `ids` (up to 10,000), or to all entries that match `filter` (the
 * parameters of the list). Runs in the background; `GET /api/actions/:id` and the stream's `action`
 * event report progress. `POST /api/actions/:id/undo` undoes a discard (by restoring), and a retry
 * or release whose entry has not been claimed yet.
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
  /** The reasons why entries were not changed, with their numbers. */
  readonly refused: readonly { readonly why: string; readonly count: number }[];
  readonly finished: boolean;
  readonly canUndo: boolean;
  readonly undone: boolean;
}

/**
 * `GET /api/platform/:shop/tickets|conversations|contacts|messages?...`: the platform's own
 * responses (`{results, next}`) through the gateway's client, with the filters of its API; read
 * only.
 */
export type { Contact, Conversation, Page, Ticket } from '../platform-api/resources.ts';

/** `GET /api/configuration` */
export interface ConfigurationView {
  /** The configuration file, whose values override the defaults. */
  readonly file?: string;
  readonly loadedAt: number;
  /** Effective values by dotted path; a secret is `••••` when set and empty otherwise. */
  readonly values: readonly {
    readonly path: string;
    readonly value: string;
    readonly secret: boolean;
    readonly isDefault: boolean;
    /** The environment variable that set it. */
    readonly variable?: string;
  }[];
  /** Differences between the file and the running configuration; null when the file is invalid. */
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

/**
 * `POST /api/test-message {shop, channel}`: sends a test message through the channel, as a customer
 * would.
 */
export interface TestMessage {
  /** The id of its entry. */
  readonly id: string;
}

/**
 * `GET /api/audit?text=&action=&action=&from=&to=&before=&limit=`; newest first. `text` is part of the
 * operator, target, outcome or address. `GET /api/audit.csv` with the same filters is a download of all lines.
 */
export interface AuditPage {
  readonly lines: readonly AuditLine[];
  readonly next?: number;
}
export interface AuditLine {
  readonly no: number;
  readonly at: number;
  /** `operator`, a name in `admin.operators`, `terminal:<user>`, or `ann's token "ci"`. */
  readonly who: string;
  /** `login`, `login_failed`, `logout`, `retry`, `release`, `discard`, `restore`, `open`, `download`, `export`, `ingest`, `erase`, `reload`, `test_message`, `try`, `token_create`, `token_revoke`, and of the desk `ticket_reply`, `ticket_note`, `ticket_assign`, `ticket_complete`, `ticket_reopen`, `ticket_hand_back`. */
  readonly action: string;
  /** An entry's id, a shop's name, or `500 entries`; never an address, a number or content. */
  readonly target: string;
  readonly outcome: string;
  /** The network address of the operator's browser or program: of IPv6, its /64. */
  readonly address?: string;
}

/** `GET /api/tokens`, by name. Their secrets are not stored. */
export interface ApiTokenList {
  readonly tokens: readonly ApiToken[];
}
/** `POST /api/tokens`, by operators only; `DELETE /api/tokens/:id` revokes it. */
export interface NewApiToken {
  readonly name: string;
  readonly scope: ApiToken['scope'];
  /** Null: it does not end. */
  readonly lifetimeMs: number | null;
}
export interface MadeApiToken {
  /** What requests carry as `Authorization: Bearer`; it is shown only now. */
  readonly secret: string;
  readonly token: ApiToken;
}

/** `GET /api/doctor`: runs the checks of `sluice doctor` without `--fix`. */
export interface DoctorReport {
  readonly checks: readonly CheckResult[];
}

/** `GET /api/stream`: server-sent events. */
export type StreamEvent =
  | { readonly event: 'overview'; readonly data: Overview }
  | { readonly event: 'entries'; readonly data: { readonly ids: readonly string[] } }
  | { readonly event: 'action'; readonly data: ActionProgress }
  | { readonly event: 'desk'; readonly data: DeskSummary }
  | {
      readonly event: 'tickets';
      /** Changed ones, at most 100, once a second. */
      readonly data: {
        readonly tickets: readonly { readonly shop: string; readonly id: string }[];
      };
    }
  | {
      readonly event: 'presence';
      readonly data: { readonly id: string; readonly present: readonly Present[] };
    }
  | { readonly event: 'signed_out'; readonly data: Record<string, never> };
