import type { Agent } from '../../src/local-platform/agent/agent.ts';
import { ChatClient } from '../support/chat-client.ts';
import { CHAT_KEY, type ConfigChoices } from '../support/gateway-config.ts';
import { PlatformFront } from '../support/platform-front.ts';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

export interface Scene {
  readonly dataDir: string;
  readonly platform: PlatformFront;
  readonly gateway: RunningGateway;
  /** One tab of a new visitor, or of the one whose token is given. */
  readonly chat: (auth?: Record<string, unknown>) => Promise<ChatClient>;
}

export type SceneChoices = Partial<ConfigChoices> & { readonly agent?: Agent };

/** A gateway and its platform, whole, in a folder and on ports of their own. */
export async function scene({ agent, ...choices }: SceneChoices = {}): Promise<Scene> {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new PlatformFront({ dir: dir.path, ...(agent && { agent }) });
  ends(() => platform.stop());
  await platform.start();
  const gateway = await startGateway({ dataDir: dir.path, platformUrl: platform.url, ...choices });
  ends(() => gateway.stop());
  return {
    dataDir: dir.path,
    platform,
    gateway,
    chat: async (auth = {}) => {
      const client = await ChatClient.connect({
        url: gateway.httpUrl,
        auth: { key: CHAT_KEY, ...auth },
      });
      ends(() => client.close());
      return client;
    },
  };
}

/** An agent that answers each message with its own words. */
export const echoAgent: Agent = {
  answer: ({ text }) => Promise.resolve({ text: `You said: ${text}`, escalate: false }),
};
