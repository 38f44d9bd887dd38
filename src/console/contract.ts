/**
 * The interface between the console's page and its server: JSON under `/api/` on the admin
 * listener. Types only, used by both. Times are milliseconds since the epoch, durations
 * milliseconds, sizes bytes.
 *
 * Every request except `POST /api/login` requires a session cookie, or the password or a token of
 * the API as `Authorization: Bearer`. Requests that change state carry `X-Sluice-Console: 1`, which pages of
 * other origins cannot send without a preflight request. Errors are a `Problem`.
 *
 * The answers are those of the schemas in `server/reference/`, from which the OpenAPI document is made.
 */

import type { z } from 'zod';
import type { ApiToken } from '../domain/api-token.ts';
import type { WordedReading } from '../domain/email-reading.ts';
import type { NewDeskMessage, WaitingCount } from '../domain/desk.ts';
import type { OperatorMove } from '../domain/entry-state.ts';
import type * as answers from './server/reference/answers.ts';
import type * as desk from './server/reference/desk-answers.ts';
import type * as entry from './server/reference/entry-answers.ts';
import type * as status from './server/reference/status-answers.ts';

export type { ApiToken } from '../domain/api-token.ts';
export type { Channel } from '../domain/channel.ts';
export type { DeskChange, DeskFile, DeskMessage, DeskStep } from '../domain/desk.ts';
export type { EntryState } from '../domain/entry-state.ts';
export type { OtherChannel } from '../domain/outbox.ts';
export type { ReplyFate } from '../domain/reply-fate.ts';
export type { ShopTrial } from '../domain/shop-trial.ts';
export type { Alert } from '../operations/alerts/alert.ts';
export type { Incident } from '../operations/alerts/incident.ts';
export type { Contact, Conversation, Page, Ticket } from '../platform-api/resources.ts';

/** What a schema describes, as JSON has it: a member is absent, never undefined. */
type Answer<Schema extends z.ZodType> = Sent<z.output<Schema>>;
type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Member<Key, Exclude<T[Key], undefined>> }
    : T;
/** Reasons within reasons are of the domain's type. */
type Member<Key, T> = Key extends 'reasonParams' ? T : Sent<T>;

export type Problem = Answer<typeof answers.problem>;
export type Session = Answer<typeof answers.session>;
export type ActionProgress = Answer<typeof answers.actionProgress>;
export type TestMessage = Answer<typeof answers.testMessage>;
export type PersonReport = Answer<typeof answers.personReport>;
export type AuditPage = Answer<typeof answers.auditPage>;
export type AuditLine = AuditPage['lines'][number];
export type DoctorReport = Answer<typeof answers.doctorReport>;
export type ApiTokenList = Answer<typeof answers.apiTokenList>;
export type MadeApiToken = Answer<typeof answers.madeApiToken>;

export type Overview = Answer<typeof status.overview>;
export type Condition = Overview['conditions'][number];
export type ChannelFigures = Overview['channels'][number];
export type ShopFigures = Overview['shops'][number];
export type History = Answer<typeof status.history>;
export type HistoryPoint = History['points'][number];
export type HistoryRange = 'hour' | 'day';
export type IncidentList = Answer<typeof status.incidentList>;
export type ConfigurationView = Answer<typeof status.configurationView>;
export type ReloadResult = Answer<typeof status.reloadResult>;

export type EntryList = Answer<typeof entry.entryList>;
export type EntryRow = EntryList['entries'][number];
export type ShownReason = Pick<EntryRow, 'reason' | 'reasonCode' | 'reasonParams'>;
export type EntryDetail = Answer<typeof entry.entryDetail>;
export type TimelineStep = EntryDetail['timeline'][number];
export type EntryContent = Answer<typeof entry.entryContent>;
export type EntryReading = WordedReading;
export type EntryAction = OperatorMove;

/** `POST /api/actions`: applies to `ids` (up to 10,000), or to all entries that match `filter`. */
export interface ActionRequest {
  readonly action: EntryAction;
  readonly ids?: readonly string[];
  readonly filter?: Readonly<Record<string, string | readonly string[]>>;
}
/** `POST /api/tokens` */
export interface NewApiToken {
  readonly name: string;
  readonly scope: ApiToken['scope'];
  /** Null: it does not end. */
  readonly lifetimeMs: number | null;
}

/**
 * The desk: people answer the tickets of shops on the local platform. Each change is
 * `POST /api/platform/desk/:shop/tickets/:id/...` with the `version` that the person has read, and is
 * answered with the ticket; with `conflict` and `changes` when the ticket has another version by then.
 */
export interface DeskMessageRequest extends NewDeskMessage {
  readonly version: string;
}
export type DeskQueue = Answer<typeof desk.deskQueue>;
export type QueuedTicket = DeskQueue['tickets'][number];
export type DeskTicketView = Answer<typeof desk.deskTicket>;
/** Somebody who has a ticket open. */
export type Present = DeskTicketView['present'][number];
export type CannedTexts = Answer<typeof desk.cannedTexts>;
export type OutboxList = Answer<typeof desk.outbox>;
export type ListedReply = OutboxList['failed'][number];

/** The `desk` event of `GET /api/stream`, every 2 s. */
export interface DeskSummary {
  readonly at: number;
  readonly shops: readonly DeskShop[];
}
export interface DeskShop extends WaitingCount {
  readonly shop: string;
  /** Whether it is on the local platform; the tickets of others are not answered here. */
  readonly isLocal: boolean;
  /** `shops[].desk.answerWithin`. */
  readonly answerWithinMs?: number;
  /** Replies that have failed and that nobody has dealt with. */
  readonly undelivered: number;
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
