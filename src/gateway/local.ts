import { join } from 'node:path';
import type { CompleteConfig } from '../config/complete.ts';
import { createLocalPlatform, type LocalPlatform } from '../local-platform/local-platform.ts';
import type { Logger } from '../observability/logger.ts';
import { localAgent } from './local-agent.ts';
import { localReplies } from './local-replies.ts';
import { LOCAL, platformUrlOf } from './platforms.ts';

/** Starts the embedded platform when a shop uses it. On loopback: it is for one machine. */
export async function startLocalPlatform(
  config: CompleteConfig,
  logger: Logger,
): Promise<LocalPlatform | undefined> {
  const shops = config.shops.filter((shop) => platformUrlOf(config, shop) === LOCAL);
  if (shops.length === 0) return undefined;
  const platform = createLocalPlatform({
    dir: join(config.dataDir, 'platform'),
    host: '127.0.0.1',
    port: config.localPlatform.port,
    ...(config.localPlatform.requestsPerSecond !== undefined && {
      requestsPerSecond: config.localPlatform.requestsPerSecond,
    }),
    shops: shops.map(({ shopId, name, apiKey }) => ({ shopId, name, apiKey: apiKey.reveal() })),
    logger,
    ...localAgent(config),
    replies: localReplies(config),
    onReply: (reply) => logger.info('agent.replied', { ...reply }),
  });
  await platform.start();
  return platform;
}
