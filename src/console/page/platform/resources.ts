import type { Contact, Conversation, Ticket } from '../../contract.ts';

export type { Contact, Conversation, Ticket };

export type Nullable<T> = T | null | undefined;

/** The fields of a message (API §2.2) that the page shows. */
export interface Message {
  readonly id: string;
  readonly conversation_id: Nullable<string>;
  readonly agent_id: Nullable<string>;
  readonly user_id: Nullable<string>;
  readonly content?: Nullable<string>;
  readonly text?: Nullable<string>;
  readonly role?: Nullable<string>;
  readonly status?: Nullable<string>;
  readonly type?: Nullable<string>;
  readonly created_at?: Nullable<string>;
  readonly updated_at: string;
  /** Undocumented; some platforms include it. */
  readonly attachments?: unknown;
}

/** What the API lists under each path. */
export interface Resources {
  readonly tickets: Ticket;
  readonly conversations: Conversation;
  readonly contacts: Contact;
  readonly messages: Message;
}

/** The first text that is neither missing nor empty. */
export const firstOf = (...texts: readonly Nullable<string>[]): string | undefined =>
  texts.find((text) => text !== null && text !== undefined && text !== '') ?? undefined;

export const nameOf = ({ display_name, name, email, phone }: Contact): string =>
  firstOf(display_name, name, email, phone) ?? 'Unnamed contact';

/** Milliseconds since the epoch; undefined for a missing or invalid time. */
export function timeOf(text: Nullable<string>): number | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : at;
}
