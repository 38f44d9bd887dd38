import type { Agent, AgentAnswer, AgentContext } from '../../../src/local-platform/agent/agent.ts';

/** An answer of a platform's agent. */
export interface Reply {
  readonly content: string;
  readonly format: 'TEXT' | 'RICH_TEXT' | 'MARKDOWN' | 'HTML';
}

/** Messages with this prefix get no answer. */
export const QUIET = 'Quietly: ';

/**
 * Repeats what it is told, or says what a test has told it to. The local platform stores every
 * answer as Markdown; `inItsFormat` gives each the format it was meant in.
 */
export class ScriptedAgent implements Agent {
  readonly #scripts = new Map<string, Reply>();
  readonly #formats = new Map<string, Reply['format']>();

  script(words: string, reply: Reply): void {
    this.#scripts.set(words, reply);
    this.#formats.set(reply.content, reply.format);
  }

  answer({ text }: AgentContext): Promise<AgentAnswer | undefined> {
    if (text.startsWith(QUIET)) return Promise.resolve(undefined);
    const answer = this.#scripts.get(text)?.content ?? `You said: ${text}`;
    return Promise.resolve({ text: answer, escalate: false });
  }

  /** @param list the platform's answer to `GET /messages/` */
  inItsFormat(list: unknown): unknown {
    // As the platform writes it.
    const { results, ...rest } = list as { results: Record<string, unknown>[] };
    return {
      ...rest,
      results: results.map((message) => {
        const { content } = message;
        const format = typeof content === 'string' ? this.#formats.get(content) : undefined;
        if (format === undefined) return message;
        return { ...message, format, ...(format.endsWith('TEXT') && { text: content }) };
      }),
    };
  }
}
