import { join } from 'node:path';
import type { CompleteConfig } from '../config/complete.ts';
import { createLocalPlatform, type LocalPlatform } from '../local-platform/local-platform.ts';
import type { Logger } from '../observability/logger.ts';
import { localAgent, withoutAgent } from './local-agent.ts';
import { localReplies, twilioSenders } from './local-replies.ts';
import { LOCAL, platformUrlOf } from './platform-url.ts';
import { type RoutedStore, textRoutes } from './text-routes.ts';

export interface RunningLocal {
  readonly platform: LocalPlatform;
  /** Takes up the shops: their keys, whether the agent answers, and their Twilio accounts. */
  serve(config: CompleteConfig): void;
}

/** Starts the embedded platform when a shop uses it. On loopback: it is for one machine. */
export async function startLocalPlatform(
  config: CompleteConfig,
  store: RoutedStore,
  logger: Logger,
): Promise<RunningLocal | undefined> {
  const shops = localShops(config);
  if (shops.length === 0) return undefined;
  const senders = twilioSenders(config);
  const platform = createLocalPlatform({
    dir: join(config.dataDir, 'platform'),
    host: '127.0.0.1',
    port: config.localPlatform.port,
    ...(config.localPlatform.requestsPerSecond !== undefined && {
      requestsPerSecond: config.localPlatform.requestsPerSecond,
    }),
    shops,
    logger,
    ...localAgent(config),
    replies: { ...localReplies(config, senders), findTextRoute: textRoutes(store) },
    onReply: (reply) => logger.info('agent.replied', { ...reply }),
  });
  await platform.start();
  return {
    platform,
    serve: (next) => {
      platform.serve(localShops(next), withoutAgent(next));
      senders.clear();
      for (const [shop, sender] of twilioSenders(next)) senders.set(shop, sender);
    },
  };
}

function localShops(config: CompleteConfig) {
  return config.shops
    .filter((shop) => platformUrlOf(config, shop) === LOCAL)
    .map(({ shopId, name, apiKey }) => ({ shopId, name, apiKey: apiKey.reveal() }));
}
