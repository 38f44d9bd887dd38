/** What an agent is told about a conversation. */
export interface AgentContext {
  readonly shopName: string;
  readonly channel: string;
  readonly contactName: string | undefined;
  readonly subject: string | undefined;
  /** The message to answer, as plain text. */
  readonly text: string;
  /** What was said before it, oldest first. */
  readonly history: readonly { readonly role: 'customer' | 'agent'; readonly text: string }[];
}

export interface AgentAnswer {
  /** Markdown. */
  readonly text: string;
  /** A person takes over: the agent is silent in this conversation from now on. */
  readonly escalate: boolean;
}

/** Answers customers. Undefined when there is nothing to say. */
export interface Agent {
  answer(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer | undefined>;
}
