/** What an agent is told about a conversation. */
export interface AgentContext {
  readonly shopName: string;
  readonly channel: string;
  readonly contactName: string | undefined;
  readonly subject: string | undefined;
  /** The message to answer, as plain text. */
  readonly text: string;
  /** How many files came with it. */
  readonly attachments: number;
  /** What was said before it, oldest first. */
  readonly history: readonly { readonly role: 'customer' | 'agent'; readonly text: string }[];
  /**
   * The tickets of the contact who wrote, of this shop, newest first. There is no way from here to
   * anybody else's.
   */
  readonly tickets: (limit: number) => readonly TicketSummary[];
}

/** What an agent may know of a ticket: that there is one, not what was said in it. */
export interface TicketSummary {
  readonly number: number;
  readonly name: string;
  readonly status: string;
  readonly createdAt: string;
  readonly lastMessageAt: string | undefined;
  /** It is the ticket of the conversation that is being answered. */
  readonly isCurrent: boolean;
}

export interface AgentAnswer {
  /** Markdown; on SMS plain text. */
  readonly text: string;
  /** A person takes over: the agent is silent in this conversation from now on. */
  readonly escalate: boolean;
}

/** Answers customers. Undefined when there is nothing to say. */
export interface Agent {
  /**
   * @throws {AgentUnavailable} it cannot answer now; the message waits
   * @throws the signal's reason when it is aborted
   */
  answer(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer | undefined>;
}

/** What the agent answers with cannot be reached, or does not let it in. */
export class AgentUnavailable extends Error {
  override name = 'AgentUnavailable';
  /** For the log. */
  readonly code: string;
  /** False when only a new configuration can help: it is not asked again for this message in this run. */
  readonly isPassing: boolean;
  /** Milliseconds that were asked for before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    options: ErrorOptions & { readonly isPassing?: boolean; readonly retryAfterMs?: number } = {},
  ) {
    super(`the agent cannot answer: ${code}`, options);
    this.code = code;
    this.isPassing = options.isPassing ?? true;
    this.retryAfterMs = options.retryAfterMs;
  }
}
