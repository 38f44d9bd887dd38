import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Logger } from '../../../observability/logger.ts';
import { type Agent, type AgentAnswer, type AgentContext, AgentUnavailable } from '../agent.ts';
import { handedOver, inForm, languageSpoken, passedOn, sentencesIn } from '../sentences.ts';
import { intentOf } from '../intent.ts';
import type { Knowledge } from '../knowledge.ts';
import type { KnowledgeFolder } from '../knowledge-folder.ts';
import { languageOf } from '../language.ts';
import type { Completion, ToolCall } from './completion.ts';
import { Endpoint, type EndpointOptions, RequestRefused } from './endpoint.ts';
import { conversationFor, createQuotes, lengthOf, type Quotes } from './prompt.ts';
import { found, runTool, TOOLS } from './tools.ts';

interface OpenAiAgentOptions {
  readonly knowledge: KnowledgeFolder;
  readonly endpoint: EndpointOptions;
  /** One answer with everything that belongs to it, in milliseconds. */
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** Requests for one answer: each can bring tool calls, or an answer that is of no use. */
const ROUNDS_MAX = 6;
const CALLS_PER_ROUND = 4;
const UNUSABLE_MAX = 2;
/** Some models think aloud, before what they want to say. */
const THOUGHTS = /^\s*<think>[^]*?<\/think>/;

/** One answer in the making. */
interface Work {
  readonly context: AgentContext;
  readonly knowledge: Knowledge;
  readonly quotes: Quotes;
  readonly messages: ChatCompletionMessageParam[];
  calls: number;
  unusable: number;
}

/**
 * Lets a language model answer, behind any endpoint that speaks the chat completions API.
 *
 * What customers write is data for it; what it can look up is this contact's tickets and the
 * knowledge folder. It says a whole answer or none: what is cut, too long, empty or refused is asked
 * for once more and then handed to a person.
 */
export class OpenAiAgent implements Agent {
  readonly #options: OpenAiAgentOptions;
  readonly #endpoint: Endpoint;

  constructor(options: OpenAiAgentOptions) {
    this.#options = options;
    this.#endpoint = new Endpoint(options.endpoint, options.logger);
  }

  async answer(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer> {
    // Who asks for a person gets one, whatever the model thinks of it, and when there is none.
    if (intentOf(context.text, undefined) === 'person') return handedOver(context);
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      return await this.#converse(context, AbortSignal.any([signal, deadline]));
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw new AgentUnavailable('timeout');
      if (!(error instanceof RequestRefused)) throw error;
      this.#options.logger.error('agent.request_refused', { code: error.code });
      return passedOn(context);
    }
  }

  async #converse(context: AgentContext, signal: AbortSignal): Promise<AgentAnswer> {
    const { logger } = this.#options;
    const knowledge = await this.#options.knowledge.current();
    const quotes = createQuotes();
    const texts = found(knowledge, `${context.subject ?? ''}\n${context.text}`, context);
    const messages = conversationFor(context, quotes, texts);
    const work: Work = { context, knowledge, quotes, messages, calls: 0, unusable: 0 };
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const completion = await this.#endpoint.complete({ messages, tools: TOOLS }, signal);
      const answer = next(work, completion);
      if (answer === undefined) continue;
      logger.info('agent.model_answered', {
        ...{ rounds: round, calls: work.calls, escalated: answer.escalate },
      });
      return answer;
    }
    logger.warn('agent.model_undecided', { rounds: ROUNDS_MAX, calls: work.calls });
    return passedOn(context);
  }
}

/** The answer, or undefined when the model is to be asked again. */
function next(work: Work, completion: Completion): AgentAnswer | undefined {
  const { context } = work;
  switch (completion.kind) {
    case 'refused':
      return passedOn(context);
    case 'cut':
      return again(work, 'Your answer was too long.');
    case 'calls':
      return called(work, completion.text, completion.calls);
    case 'text': {
      const text = completion.text.replace(THOUGHTS, '').trim();
      // A model that gives its rules away has been talked into something.
      if (text.includes(work.quotes.mark)) return passedOn(context);
      if (text === '') return again(work, 'Your answer was empty.');
      if (text.length > lengthOf(context.channel).most) {
        return again(work, 'Your answer was too long.');
      }
      const sentences = sentencesIn(languageOf(text) ?? languageSpoken(context));
      return { text: inForm(context, sentences, text), escalate: false };
    }
  }
}

/** Half an answer, or none, is never sent: it is asked for once more, and then for a person. */
function again(work: Work, why: string): AgentAnswer | undefined {
  work.unusable += 1;
  if (work.unusable === UNUSABLE_MAX) return passedOn(work.context);
  const { wish } = lengthOf(work.context.channel);
  work.messages.push(
    { role: 'assistant', content: '(not sent)' },
    { role: 'user', content: `[From the shop's program] ${why} Write it with ${wish} characters.` },
  );
  return undefined;
}

function called(work: Work, text: string, calls: readonly ToolCall[]): AgentAnswer | undefined {
  const { context, knowledge, quotes, messages } = work;
  const results = calls.map((call, at) =>
    at < CALLS_PER_ROUND
      ? runTool(call, context, knowledge, quotes.quote)
      : ({ kind: 'text', text: 'Too many calls at once.' } as const),
  );
  const handover = results.find((result) => result.kind === 'handover');
  if (handover !== undefined) return handover.isAsked ? handedOver(context) : passedOn(context);
  work.calls += calls.length;
  messages.push({
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: calls.map(({ id, name, arguments: json }) => ({
      id,
      type: 'function',
      // Endpoints that parse it again must not stumble over what the model got wrong.
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
