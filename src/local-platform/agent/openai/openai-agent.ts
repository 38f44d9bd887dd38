import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Logger } from '../../../observability/logger.ts';
import { type Agent, type AgentAnswer, type AgentContext, AgentUnavailable } from '../agent.ts';
import {
  handOverOnRequest,
  formatAnswer,
  languageSpoken,
  handOverUnanswered,
  sentencesIn,
} from '../sentences.ts';
import { intentOf } from '../intent.ts';
import type { Knowledge } from '../knowledge.ts';
import type { KnowledgeSource } from '../knowledge-folder.ts';
import { languageOf } from '../language.ts';
import type { Completion, ToolCall } from './completion.ts';
import { Endpoint, type EndpointOptions, RequestRefused } from './endpoint.ts';
import { conversationFor, createQuotes, lengthOf, type Quotes } from './prompt.ts';
import { isSafeForStrangers } from './stranger-words.ts';
import { runTool, searchKnowledge, TOOLS } from './tools.ts';

interface OpenAiAgentOptions {
  readonly knowledge: KnowledgeSource;
  readonly endpoint: EndpointOptions;
  /** For one answer, with all of its requests; milliseconds. */
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** Requests per answer; each may return tool calls or an unusable answer. */
const REQUESTS_MAX = 6;
const CALLS_PER_REQUEST = 4;
const UNUSABLE_MAX = 2;
/** Some models write their reasoning before the answer. */
const THOUGHTS = /^\s*<think>[^]*?<\/think>/;

/** The state of one answer. */
interface AnswerState {
  readonly context: AgentContext;
  readonly knowledge: Knowledge;
  readonly quotes: Quotes;
  readonly messages: ChatCompletionMessageParam[];
  calls: number;
  unusable: number;
}

/**
 * Answers with a language model behind any endpoint of the chat completions API.
 *
 * Customers' texts are marked as data. The model can look up this contact's tickets and the knowledge
 * folder. Only whole answers are sent: after a truncated, overlong or empty answer the model is asked
 * once more; after a second one, or a refusal, a person takes over.
 */
export class OpenAiAgent implements Agent {
  readonly #options: OpenAiAgentOptions;
  readonly #endpoint: Endpoint;

  constructor(options: OpenAiAgentOptions) {
    this.#options = options;
    this.#endpoint = new Endpoint(options.endpoint, options.logger);
  }

  async answer(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer> {
    // A request for a person does not depend on the model, which may be unavailable.
    if (intentOf(context.text, undefined) === 'person') return handOverOnRequest(context);
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      return await this.#converse(context, AbortSignal.any([signal, deadline]));
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw new AgentUnavailable('timeout');
      if (!(error instanceof RequestRefused)) throw error;
      this.#options.logger.error('agent.request_refused', { code: error.code });
      return handOverUnanswered(context);
    }
  }

  async #converse(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer> {
    const { logger } = this.#options;
    const knowledge = await this.#options.knowledge.current();
    const quotes = createQuotes();
    const texts = searchKnowledge(knowledge, `${context.subject ?? ''}\n${context.text}`, context);
    const messages = conversationFor(context, quotes, texts);
    const state: AnswerState = { context, knowledge, quotes, messages, calls: 0, unusable: 0 };
    for (let requests = 1; requests <= REQUESTS_MAX; requests++) {
      const completion = await this.#endpoint.complete({ messages, tools: TOOLS }, signal);
      const answer = await answerFrom(state, completion);
      if (answer === undefined) continue;
      logger.info('agent.model_answered', {
        ...{ rounds: requests, calls: state.calls, escalated: answer.escalate },
      });
      return answer;
    }
    logger.warn('agent.model_undecided', { rounds: REQUESTS_MAX, calls: state.calls });
    return handOverUnanswered(context);
  }
}

/** The answer; undefined when the model has to be asked again. */
async function answerFrom(
  state: AnswerState,
  completion: Completion,
): Promise<AgentAnswer | undefined> {
  const { context } = state;
  switch (completion.kind) {
    case 'refused':
      return handOverUnanswered(context);
    case 'cut':
      return askAgain(state, 'Your answer was too long.');
    case 'calls':
      return runCalls(state, completion.text, completion.calls);
    case 'text': {
      const text = completion.text.replace(THOUGHTS, '').trim();
      // An answer with the mark quotes the rules: the customer's text has manipulated the model.
      if (text.includes(state.quotes.mark)) return handOverUnanswered(context);
      if (text === '') return askAgain(state, 'Your answer was empty.');
      if (text.length > lengthOf(context.channel).most) {
        return askAgain(state, 'Your answer was too long.');
      }
      if (
        context.isUnverified === true &&
        !(await isSafeForStrangers(text, context, state.knowledge))
      ) {
        return handOverUnanswered(context);
      }
      const sentences = sentencesIn(languageOf(text) ?? languageSpoken(context));
      return { text: formatAnswer(context, sentences, text), escalate: false };
    }
  }
}

/** Asks the model once more after an unusable answer, and hands over to a person the second time. */
function askAgain(state: AnswerState, why: string): AgentAnswer | undefined {
  state.unusable += 1;
  if (state.unusable === UNUSABLE_MAX) return handOverUnanswered(state.context);
  const { wish } = lengthOf(state.context.channel);
  state.messages.push(
    { role: 'assistant', content: '(not sent)' },
    { role: 'user', content: `[From the shop's program] ${why} Write it with ${wish} characters.` },
  );
  return undefined;
}

function runCalls(
  state: AnswerState,
  text: string,
  calls: readonly ToolCall[],
): AgentAnswer | undefined {
  const { context, knowledge, quotes, messages } = state;
  const results = calls.map((call, at) =>
    at < CALLS_PER_REQUEST
      ? runTool(call, context, knowledge, quotes.quote)
      : ({ kind: 'text', text: 'Too many calls at once.' } as const),
  );
  const handover = results.find((result) => result.kind === 'handover');
  if (handover !== undefined) {
    const { isAsked, summary } = handover;
    const answer = isAsked ? handOverOnRequest(context) : handOverUnanswered(context);
    return { ...answer, ...(summary && { summary }) };
  }
  state.calls += calls.length;
  messages.push({
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: calls.map(({ id, name, arguments: json }) => ({
      id,
      type: 'function',
      // Invalid JSON is replaced, because some endpoints parse it and refuse the request.
      function: { name, arguments: isJson(json) ? json : '{}' },
    })),
  });
  for (const [at, result] of results.entries()) {
    if (result.kind !== 'text') continue;
    messages.push({ role: 'tool', tool_call_id: calls[at]?.id ?? '', content: result.text });
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
