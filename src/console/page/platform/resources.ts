/**
 * The fields of the platform's resources (API §2) that the page shows. The gateway's client has
 * validated them; fields that the API calls optional may be missing.
 */
export type Nullable<T> = T | null | undefined;

export interface Page<T> {
  readonly results: readonly T[];
  readonly next?: Nullable<string>;
}

export interface Ticket {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly status?: Nullable<string>;
  readonly priority?: Nullable<number>;
  readonly summary?: Nullable<string>;
  readonly contact_id: Nullable<string>;
  readonly conversation_id: Nullable<string>;
  readonly agent_id: Nullable<string>;
  readonly assignee_id: Nullable<string>;
  readonly last_message_at?: Nullable<string>;
  readonly last_message_content?: Nullable<string>;
  readonly completed_at?: Nullable<string>;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Conversation {
  readonly id: string;
  readonly type: string;
  readonly direction?: Nullable<string>;
  readonly status?: Nullable<string>;
  readonly resolution?: Nullable<string>;
  readonly title?: Nullable<string>;
  readonly contact_id: Nullable<string>;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Message {
  readonly id: string;
  readonly conversation_id: Nullable<string>;
  readonly agent_id: Nullable<string>;
  readonly user_id: Nullable<string>;
  readonly content?: Nullable<string>;
  readonly text?: Nullable<string>;
  readonly format?: Nullable<string>;
  readonly role?: Nullable<string>;
  readonly status?: Nullable<string>;
  readonly type?: Nullable<string>;
  readonly remote_id?: Nullable<string>;
  readonly created_at?: Nullable<string>;
  readonly updated_at: string;
  /** Undocumented; some platforms include it. */
  readonly attachments?: unknown;
}

export interface Contact {
  readonly id: string;
  readonly name?: Nullable<string>;
  readonly display_name?: Nullable<string>;
  readonly company?: Nullable<string>;
  readonly email?: Nullable<string>;
  readonly phone?: Nullable<string>;
  readonly parent_contact_id: Nullable<string>;
  readonly is_archived?: Nullable<boolean>;
  readonly last_activity_at?: Nullable<string>;
  readonly created_at: string;
  readonly updated_at: string;
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
