import type { Channel } from './channel.ts';
import type { ReplyFate } from './reply-fate.ts';

/** A reply that has not arrived: it failed and nobody has dealt with it, or it is to be tried again. */
export interface OutboxReply {
  /** Of the message. */
  readonly id: string;
  readonly ticketId: string;
  /** The ticket's number within the shop. */
  readonly number: number;
  /** The ticket's name. */
  readonly name: string;
  readonly channel: Channel;
  /** The customer's name, address or number; empty for an anonymous visitor. */
  readonly customer: string;
  /** The beginning of the reply. */
  readonly excerpt: string;
  readonly fate: ReplyFate;
  /** Of one that is to be tried again: milliseconds since the epoch. */
  readonly nextAt?: number;
  /** How often it was tried since it was queued. */
  readonly attempts?: number;
  /** By what else it can be sent. */
  readonly otherChannels: readonly OtherChannel[];
}

/** A channel by which a customer can be reached although they wrote by another one. */
export type OtherChannel = Extract<Channel, 'email' | 'sms'>;

/** What a person does about a reply that has failed. */
export interface ReplyAction {
  readonly shopId: string;
  /** Of the message. */
  readonly id: string;
  /** The person's name. */
  readonly who: string;
}
