import type { Message, Page, Ticket } from '../../src/platform-api/resources.ts';
import { type LogFields, type Logger, silentLogger } from '../../src/observability/logger.ts';
import { ends } from '../support/ends.ts';
import { ACME, type ConfigChoices } from '../support/gateway-config.ts';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

export interface EmbeddedScene {
  readonly dataDir: string;
  readonly gateway: RunningGateway;
  /** The embedded platform's base URL. */
  readonly platformUrl: string;
  /** Everything that was said, oldest first. */
  readonly messages: () => Promise<readonly Message[]>;
  readonly tickets: () => Promise<readonly Ticket[]>;
  /** The agent's messages, once there are so many and all of them have left. */
  readonly delivered: (count: number) => Promise<readonly Message[]>;
  /** Every line of the log, as text. */
  readonly log: readonly string[];
}

/** A gateway with its own platform and agent, configured as an operator does. Nothing is replaced. */
export async function embeddedScene(choices: Partial<ConfigChoices> = {}): Promise<EmbeddedScene> {
  const dir = tempDir();
  ends(() => dir.remove());
  const log: string[] = [];
  let platformUrl = '';
  const line = (event: string, fields: LogFields = {}) => {
    log.push(JSON.stringify({ event, ...fields }));
    if (event === 'platform.listening') platformUrl = String(fields['url']);
  };
  const logger: Logger = {
    ...silentLogger,
    ...{ error: line, warn: line, info: line, debug: line, with: () => logger },
  };
  const gateway = await startGateway({ dataDir: dir.path, ...choices }, logger);
  ends(() => gateway.stop());

  const list = async <T>(path: string): Promise<readonly T[]> => {
    const response = await fetch(`${platformUrl}/v2026-04/${path}/?limit=200`, {
      headers: { authorization: `Bearer ${ACME.apiKey}`, 'x-shop-id': ACME.shopId },
    });
    // What the API answers; the assertions that follow check it.
    return ((await response.json()) as Page<T>).results.toReversed();
  };
  const messages = () => list<Message>('messages');
  return {
    dataDir: dir.path,
    gateway,
    platformUrl,
    messages,
    tickets: () => list<Ticket>('tickets'),
    log,
    delivered: (count) =>
      waitFor(`${count} replies`, async () => {
        const replies = (await messages()).filter(({ role }) => role === 'agent');
        const hasLeft = replies.every(({ status }) => status === 'DELIVERED');
        return replies.length === count && hasLeft ? replies : undefined;
      }),
  };
}
