import type { Channel } from './channel.ts';
import type { OtherChannel } from './outbox.ts';
import type { ReplyFate } from './reply-fate.ts';

/**
 * What people at the desk see of the local platform's tickets, and what they do to them. Times are
 * milliseconds since the epoch. People are named as in the audit log.
 */

/** A ticket that waits for a person. */
export interface WaitingTicket {
  readonly id: string;
  /** Its number within the shop. */
  readonly number: number;
  /** The subject in one line. */
  readonly name: string;
  readonly channel: Channel;
  /** The platform's status (API §3). */
  readonly status: string;
  /** The customer's name, address or number; empty for an anonymous visitor. */
  readonly customer: string;
  /** The beginning of the customer's last message. */
  readonly excerpt: string;
  /** Since when the customer waits for an answer. */
  readonly waitingSince: number;
  /** Who has it. */
  readonly assignee?: string;
}

/** The tickets of a shop that wait for a person. */
export interface WaitingCount {
  readonly waiting: number;
  /** Since when the first of them waits. */
  readonly oldestAt?: number;
  /** What limits have left to people in the last hour; absent if nothing. */
  readonly overLimits?: OverLimits;
}

/** How many messages got no automatic answer. */
export interface OverLimits {
  /** Nothing confirms who wrote. */
  readonly unverified: number;
  /** The shop's automatic answers were used up, or the share of the sender's domain. */
  readonly shopBudget: number;
  /** The network that brought most of the former; it may forward the shop's mail. */
  readonly network?: string;
}

/** One ticket with its conversation. */
export interface DeskTicket extends Omit<WaitingTicket, 'waitingSince'> {
  /** Sent with each change, which is refused when the ticket has another one by then. */
  readonly version: string;
  readonly conversationId: string;
  readonly contactId?: string;
  /** Where a reply goes: an address or a number; absent in the chat, and when there is none. */
  readonly replyTo?: string;
  /** Absent while the customer does not wait. */
  readonly waitingSince?: number;
  readonly completedAt?: number;
  /** `answers`: the next message; `silent`: a person answers it; `off`: the shop has none. */
  readonly agent: 'answers' | 'silent' | 'off';
  /** The limit at which the agent has left the last message to people, who have not answered it yet. */
  readonly limitReached?: ReachedLimit;
  /** The newest ones, oldest first. */
  readonly messages: readonly DeskMessage[];
  /** By what else a reply that failed can be sent. */
  readonly otherChannels: readonly OtherChannel[];
  /** Whether there are messages before these. */
  readonly hasEarlier: boolean;
  /** What people did, the newest 200, oldest first. */
  readonly steps: readonly DeskStep[];
}

/** Limits that leave a message to people, although the agent could have answered it. */
export const ANSWER_LIMITS = [
  'repeated',
  'too_fast',
  'unverified',
  'fails_policy',
  'shop_budget',
  'domain_budget',
] as const;
export type ReachedLimit = (typeof ANSWER_LIMITS)[number];

export interface DeskMessage {
  readonly id: string;
  readonly at: number;
  readonly from: 'customer' | 'agent' | 'person';
  /** The person's name. */
  readonly who?: string;
  /** A note, which the customer never gets. */
  readonly isInternal: boolean;
  /** Without markup. */
  readonly text: string;
  /** Of a reply. */
  readonly fate?: ReplyFate;
  readonly files: readonly DeskFile[];
}

export interface DeskFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}

export const DESK_STEPS = [
  'assigned',
  'unassigned',
  'completed',
  'reopened',
  'handed_back',
  'sent_again',
  'sent_by_email',
  'sent_by_sms',
] as const;

/** A change of a ticket other than a message. */
export interface DeskStep {
  readonly what: (typeof DESK_STEPS)[number];
  readonly at: number;
  readonly who: string;
  /** Of `assigned`: to whom. */
  readonly to?: string;
}

export const DESK_CHANGES = [
  ...DESK_STEPS,
  'message',
  'agent_reply',
  'reply',
  'note',
  'status',
] as const;

/** What happened to a ticket since somebody read it. */
export interface DeskChange {
  readonly what: (typeof DESK_CHANGES)[number];
  readonly at: number;
  /** Absent for customers and the agent. */
  readonly who?: string;
  readonly to?: string;
  /** The beginning of a message. */
  readonly text?: string;
}

/** A text for replies: a section of the shop's own texts. */
export interface CannedText {
  readonly title: string;
  readonly heading: string;
  /** Markdown. */
  readonly text: string;
}

/** A ticket that somebody changes, as they saw it. */
export interface TicketAsSeen {
  readonly shopId: string;
  readonly id: string;
  readonly version: string;
  /** The person's name. */
  readonly who: string;
}

/** A ticket that has changed. */
export interface ChangedTicket {
  readonly shopId: string;
  readonly id: string;
}

/** A reply or an internal note. */
export interface NewDeskMessage {
  readonly text: string;
  readonly format: 'TEXT' | 'MARKDOWN';
  /** Ids of uploaded files. */
  readonly files: readonly string[];
}

/** One file's limit, and that of all files of a reply: most mail servers take 25 MB with encoding. */
export const DESK_FILES_MAX_BYTES = 15 * 1024 * 1024;

/** A change of a ticket was refused; the message is shown to the person. */
export class DeskRefused extends Error {
  override name = 'DeskRefused';
  readonly kind: 'not_found' | 'invalid' | 'conflict';
  /** What happened since the person read the ticket. */
  readonly changes: readonly DeskChange[];

  constructor(kind: DeskRefused['kind'], message: string, changes: readonly DeskChange[] = []) {
    super(message);
    this.kind = kind;
    this.changes = changes;
  }
}
