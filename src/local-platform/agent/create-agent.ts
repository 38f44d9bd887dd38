import type { Logger } from '../../observability/logger.ts';
import type { Agent } from './agent.ts';
import { BuiltinAgent } from './builtin/builtin-agent.ts';
import { KnowledgeFolder } from './knowledge/knowledge-folder.ts';
import type { EndpointOptions } from './openai/endpoint.ts';
import { OpenAiAgent } from './openai/openai-agent.ts';

/** Who answers. */
export type AgentChoice =
  | { readonly kind: 'builtin'; readonly knowledgeDir: string }
  | {
      readonly kind: 'openai';
      readonly knowledgeDir: string;
      readonly endpoint: EndpointOptions;
      /** One answer with everything that belongs to it, in milliseconds. */
      readonly timeoutMs: number;
    }
  | { readonly kind: 'custom'; readonly agent: Agent }
  | { readonly kind: 'off' };

/** @throws when the knowledge folder cannot be read */
export function createAgent(choice: AgentChoice, logger: Logger): Agent | undefined {
  switch (choice.kind) {
    case 'off':
      return undefined;
    case 'custom':
      return choice.agent;
    case 'builtin':
      return new BuiltinAgent(new KnowledgeFolder(choice.knowledgeDir, logger));
    case 'openai':
      return new OpenAiAgent({
        knowledge: new KnowledgeFolder(choice.knowledgeDir, logger),
        endpoint: choice.endpoint,
        timeoutMs: choice.timeoutMs,
        logger,
      });
  }
}
