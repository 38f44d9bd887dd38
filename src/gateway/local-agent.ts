import { fileURLToPath } from 'node:url';
import type { CompleteConfig } from '../config/complete.ts';
import type { LocalPlatformOptions } from '../local-platform/local-platform.ts';

/** The sample shop's knowledge, beside the program. */
const SAMPLE_KNOWLEDGE = fileURLToPath(new URL('../../config/knowledge/demo', import.meta.url));

type AgentOptions = Pick<LocalPlatformOptions, 'agent' | 'agentGiveUpAfterMs' | 'withoutAgent'>;

/** What answers on the local platform, and where nobody does but people. */
export function localAgent(config: CompleteConfig): AgentOptions {
  const { agent } = config.localPlatform;
  return {
    agent: agentChoice(agent),
    agentGiveUpAfterMs: agent.giveUpAfter,
    withoutAgent: withoutAgent(config),
  };
}

/** The shops whose tickets wait for people. */
export function withoutAgent({ shops }: CompleteConfig): string[] {
  return shops.filter((shop) => shop.agent === 'off').map(({ shopId }) => shopId);
}

function agentChoice(agent: CompleteConfig['localPlatform']['agent']): AgentOptions['agent'] {
  const knowledgeDir = agent.knowledge ?? SAMPLE_KNOWLEDGE;
  if (agent.kind !== 'openai') return { kind: agent.kind, knowledgeDir };
  const { baseUrl, model, apiKey, stallTimeout, timeout } = agent;
  if (model === undefined || apiKey === undefined) {
    throw new Error('an endpoint without model or key: the configuration was not checked');
  }
  return {
    kind: 'openai',
    knowledgeDir,
    endpoint: { baseUrl, model, apiKey: apiKey.reveal(), stallTimeoutMs: stallTimeout },
    timeoutMs: timeout,
  };
}
