import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import { z } from 'zod';
import type { AgentContext } from '../agent.ts';
import type { Knowledge } from '../knowledge.ts';
import type { Section } from '../sections.ts';
import { languageSpoken } from '../sentences.ts';
import type { ToolCall } from './completion.ts';

export const HAND_OVER = 'hand_over_to_person';

const TICKETS_MAX = 10;
const SECTIONS_MAX = 3;
const SECTION_MAX_CHARS = 2000;
const SUMMARY_MAX_CHARS = 500;

const PARAMETERS = {
  list_tickets: z.strictObject({}),
  search_knowledge: z.strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .describe('a few words in the language of the customer'),
  }),
  [HAND_OVER]: z.strictObject({
    reason: z
      .enum(['asked', 'unknown', 'other'])
      .describe('asked: the customer wants a person; unknown: you have no answer'),
    summary: z
      .string()
      .optional()
      .describe('for the colleague: what the customer wants, in one or two sentences'),
  }),
} as const;
type ToolName = keyof typeof PARAMETERS;

const DESCRIPTIONS: Readonly<Record<ToolName, string>> = {
  list_tickets:
    'The tickets of the customer you are talking to: number, subject, status and times. There is no way to see those of anybody else.',
  search_knowledge: "Searches the shop's own texts for what they say about something.",
  [HAND_OVER]:
    'A colleague takes over the conversation, and the customer is told so. Use it when the customer asks for a person, and whenever you have no sure answer.',
};

export const TOOLS: ChatCompletionFunctionTool[] = names().map((name) => ({
  type: 'function',
  function: {
    name,
    description: DESCRIPTIONS[name],
    parameters: parametersOf(name),
  },
}));

/** The result of a tool call. */
type ToolResult =
  | { readonly kind: 'handover'; readonly isAsked: boolean; readonly summary?: string }
  /** Text for the model. */
  | { readonly kind: 'text'; readonly text: string };

/**
 * Runs a tool call of the model. The call can only reach data of this conversation's contact: the
 * context limits the data, and the arguments select from it.
 * @param quote marks text that customers wrote
 */
export function runTool(
  call: ToolCall,
  context: AgentContext,
  knowledge: Knowledge,
  quote: (text: string) => string,
): ToolResult {
  const name = names().find((known) => known === call.name);
  if (name === undefined)
    return textResult(`There is no tool of this name. There are: ${names().join(', ')}`);
  const json = parsed(call.arguments);
  if (json === undefined) return textResult('The arguments are not valid JSON.');
  switch (name) {
    case 'list_tickets': {
      const checked = PARAMETERS.list_tickets.safeParse(json.value);
      return checked.success
        ? textResult(ticketList(context, quote))
        : invalidArguments(checked.error);
    }
    case 'search_knowledge': {
      const checked = PARAMETERS.search_knowledge.safeParse(json.value);
      if (!checked.success) return invalidArguments(checked.error);
      return textResult(searchKnowledge(knowledge, checked.data.query, context));
    }
    case HAND_OVER: {
      const checked = PARAMETERS[HAND_OVER].safeParse(json.value);
      // A call with wrong arguments hands over too.
      if (!checked.success) return { kind: 'handover', isAsked: false };
      const summary = checked.data.summary?.trim().slice(0, SUMMARY_MAX_CHARS);
      const isAsked = checked.data.reason === 'asked';
      return { kind: 'handover', isAsked, ...(summary && { summary }) };
    }
  }
}

/** The sections of the shop's texts that match a query, for the model to read. */
export function searchKnowledge(
  knowledge: Knowledge,
  query: string,
  context: AgentContext,
): string {
  const hits = knowledge.search(query, languageSpoken(context), SECTIONS_MAX);
  if (hits.length === 0) return 'Nothing was found.';
  return hits.map(({ section }) => sectionText(section)).join('\n\n');
}

const sectionText = ({ title, heading, text }: Section) =>
  `## ${title === heading ? heading : `${title}: ${heading}`}\n${text.slice(0, SECTION_MAX_CHARS)}`;

function ticketList(context: AgentContext, quote: (text: string) => string): string {
  const tickets = context.tickets(TICKETS_MAX).map((ticket) => ({
    number: ticket.number,
    subject: ticket.name,
    status: STATUS_TEXTS[ticket.status] ?? ticket.status,
    opened: ticket.createdAt,
    lastMessage: ticket.lastMessageAt,
    isThisConversation: ticket.isCurrent,
  }));
  // The subjects were written by the customer.
  return tickets.length === 0 ? 'There are none.' : quote(JSON.stringify(tickets, undefined, 1));
}

const STATUS_TEXTS: Readonly<Record<string, string>> = {
  New: 'new',
  Open: 'open',
  WaitingUser: 'waiting for a colleague of ours',
  WaitingContact: 'waiting for the customer',
  Completed: 'completed',
  Archived: 'completed and archived',
};

function parsed(json: string): { readonly value: unknown } | undefined {
  // Some models send an empty string for a tool without parameters.
  if (json.trim() === '') return { value: {} };
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    return undefined;
  }
}

const invalidArguments = (error: z.ZodError) =>
  textResult(`The arguments are wrong. ${z.prettifyError(error)}`);
const textResult = (text: string): ToolResult => ({ kind: 'text', text });

function names(): ToolName[] {
  return Object.keys(PARAMETERS) as ToolName[]; // the keys of a constant
}

function parametersOf(name: ToolName): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(PARAMETERS[name]);
  return schema;
}
