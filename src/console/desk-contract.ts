import type {
  CannedText,
  DeskChange,
  DeskFile,
  DeskMessage,
  DeskStep,
  DeskTicket,
  NewDeskMessage,
  WaitingCount,
  WaitingTicket,
} from '../domain/desk.ts';
import type { OtherChannel, OutboxReply } from '../domain/outbox.ts';
import type { ReplyFate } from '../domain/reply-fate.ts';

/** The part of `contract.ts` that is about people who answer. */

export type { CannedText, DeskChange, DeskFile, DeskMessage, DeskStep };
export type { OtherChannel, ReplyFate };

/**
 * The desk: people answer the tickets of shops on the local platform. Each change is
 * `POST /api/platform/desk/:shop/tickets/:id/...` with the `version` that the person has read, and is
 * answered with the ticket; with `conflict` and `changes` when the ticket has another version by then.
 *
 * - `reply`, `note`: `DeskMessageRequest`
 * - `assign`: `{version, to}`: a name of `assignable`, or null
 * - `complete`, `reopen`, `hand-back`: `{version}`
 * - `presence`: `{writing}`, every few seconds while the page is open; answered with 204
 * - `seen`: `{message}`, once the customer's newest message is on the screen; answered with 204
 *
 * `POST /api/platform/desk/:shop/files?name=` stores a file, whose bytes are the body, and answers with
 * a `DeskFile`; `GET /api/platform/desk/:shop/files/:id` is its download.
 */
export interface DeskMessageRequest extends NewDeskMessage {
  readonly version: string;
}
/** `GET /api/platform/desk/queue?limit=`: what waits for a person, the longest waiting first. */
export interface DeskQueue {
  readonly tickets: readonly QueuedTicket[];
}
export interface QueuedTicket extends WaitingTicket {
  /** A configured name. */
  readonly shop: string;
}
/** `GET /api/platform/desk/:shop/tickets/:id?before=`, with the messages before one. */
export interface DeskTicketView extends DeskTicket {
  readonly shop: string;
  /** Whether the number has opted out of texts (STOP): a reply is refused until it texts START. */
  readonly optedOut: boolean;
  /** The people to whom it can be assigned. */
  readonly assignable: readonly string[];
  readonly present: readonly Present[];
}
/** Somebody who has a ticket open. */
export interface Present {
  readonly who: string;
  readonly writing: boolean;
  /** They have left unless this is renewed by then. */
  readonly until: number;
}
/** `GET /api/platform/desk/texts?words=`: the shop's own texts, for replies. */
export interface CannedTexts {
  readonly texts: readonly CannedText[];
}
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

/**
 * `GET /api/platform/desk/outbox?limit=`: the replies that have not arrived. What to do about one that
 * has failed is a `POST /api/platform/desk/:shop/replies/:id/...`, answered with 204, or with
 * `conflict` when somebody has dealt with it.
 *
 * - `send-again`: `{}`
 * - `send-by`: `{channel}`, one of its `otherChannels`
 * - `dismiss`: `{}`: somebody has reached the customer otherwise
 */
export interface OutboxList {
  /** The latest first. */
  readonly failed: readonly ListedReply[];
  /** Those that are tried again, the next one first. */
  readonly deferred: readonly ListedReply[];
}
export interface ListedReply extends OutboxReply {
  /** A configured name. */
  readonly shop: string;
}
