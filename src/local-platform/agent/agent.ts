/** What an agent knows about a conversation. */
export interface AgentContext {
  readonly shopName: string;
  readonly channel: string;
  /** Nothing confirms who sent the email: the answer may reach anybody. */
  readonly isUnverified?: boolean;
  readonly contactName: string | undefined;
  readonly subject: string | undefined;
  /** The message to answer, as plain text. */
  readonly text: string;
  /** The number of attached files. */
  readonly attachments: number;
  /** The earlier messages, oldest first. */
  readonly history: readonly { readonly role: 'customer' | 'agent'; readonly text: string }[];
  /** The contact's tickets in this shop, newest first. Other contacts' tickets are not accessible. */
  readonly tickets: (limit: number) => readonly TicketSummary[];
}

/** What an agent may know about a ticket; the messages in it are left out. */
export interface TicketSummary {
  readonly number: number;
  readonly name: string;
  readonly status: string;
  readonly createdAt: string;
  readonly lastMessageAt: string | undefined;
  /** Whether it is the ticket of the conversation that is being answered. */
  readonly isCurrent: boolean;
}

export interface AgentAnswer {
  /** Markdown; plain text for SMS. */
  readonly text: string;
  /** Whether a person takes over; the agent then no longer answers in this conversation. */
  readonly escalate: boolean;
  /** What the customer wants, for the person who takes over. */
  readonly summary?: string;
}

/** Answers customers. */
export interface Agent {
  /**
   * @returns undefined when the message needs no answer
   * @throws {AgentUnavailable} the agent cannot answer now; the message waits
   * @throws the signal's reason when the signal is aborted
   */
  answer(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer | undefined>;
}

/** The service behind the agent cannot be reached, or rejects the agent. */
export class AgentUnavailable extends Error {
  override name = 'AgentUnavailable';
  /** For the log. */
  readonly code: string;
  /**
   * Whether the failure may pass by itself. False when the configuration has to change: the agent is
   * not asked again for this message until the next start.
   */
  readonly isTemporary: boolean;
  /** The service's own wait before the next attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    options: ErrorOptions & { readonly isTemporary?: boolean; readonly retryAfterMs?: number } = {},
  ) {
    super(`the agent cannot answer: ${code}`, options);
    this.code = code;
    this.isTemporary = options.isTemporary ?? true;
    this.retryAfterMs = options.retryAfterMs;
  }
}
