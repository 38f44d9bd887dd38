import { join } from 'node:path';
import { createChatNormalizer } from '../channels/chat/normalize.ts';
import type { Authenticator } from '../channels/email/authentication/authenticator.ts';
import { createEmailNormalizer } from '../channels/email/normalize.ts';
import { createSmsNormalizer } from '../channels/sms/normalize.ts';
import { type Normalizer, NotYet } from '../intake/normalizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Current } from '../runtime/current.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { Store } from '../spool/sqlite/open.ts';
import type { Channel } from '../domain/channel.ts';
import type { ShopId } from '../domain/ids.ts';
import type { LiveConfig } from './live-config.ts';
import { mailSettings, smsShops, trustingShops } from './shops.ts';

export interface NormalizerParts {
  readonly live: LiveConfig;
  readonly store: Store;
  readonly authenticator: Authenticator;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly stack: StopStack;
}

/** When an entry is tried again whose shop no longer has its channel. */
const RETRY_AFTER_MS = 60_000;

/** The normalizer of each channel, for the current shops. */
export function createNormalizers(parts: NormalizerParts): Record<Channel, Normalizer> {
  const { live, store, clock, logger, metrics, stack } = parts;
  const { dataDir } = live.value;
  const email = createEmailNormalizer(
    { shops: mailSettings(live.value), scratchFolder: join(dataDir, 'tmp', 'email') },
    {
      blobs: store.spool.blobs,
      knownRemoteIds: async (shopId, ids) =>
        (await store.spool.knownEmailIds(shopId, ids)).size > 0,
      countMessage: (message, limits) => store.spool.countMessage(message, limits),
      authenticator: parts.authenticator,
      logger,
    },
  );
  stack.push('email normalizer', () => email.stop());
  live.add({
    name: 'email normalizer',
    reads: ['shops'],
    prepare: (next) => {
      const shops = mailSettings(next);
      return { commit: () => email.serve(shops) };
    },
  });
  const texts = live.derive('sms normalizer', ['shops'], smsShops);
  const sms = createSmsNormalizer(
    {
      get shops() {
        return texts.value;
      },
      scratchDir: join(dataDir, 'tmp', 'sms'),
    },
    {
      optOuts: store.optOuts,
      countMessage: (message, limits) => store.spool.countMessage(message, limits),
      ...{ clock, logger, metrics },
    },
  );
  const trusting = live.derive('chat normalizer', ['shops'], trustingShops);
  const withEmail = live.derive('shops with email', ['shops'], (config) => idsOf(config, 'email'));
  const withSms = live.derive('shops with sms', ['shops'], (config) => idsOf(config, 'sms'));
  return {
    email: postponeUnserved(email.normalize, withEmail),
    sms: postponeUnserved(sms, withSms),
    web_chat: createChatNormalizer({
      blobs: store.spool.blobs,
      trustUnverifiedEmail: (shopId) => trusting.value.has(shopId),
    }),
  };
}

const idsOf = ({ shops }: LiveConfig['value'], channel: 'email' | 'sms'): ReadonlySet<ShopId> =>
  new Set(shops.filter((shop) => shop[channel] !== undefined).map(({ shopId }) => shopId));

/**
 * Postpones entries of a channel that their shop no longer has, for as long as it takes: the
 * settings for reading them are in the configuration.
 */
function postponeUnserved(normalize: Normalizer, served: Current<ReadonlySet<ShopId>>): Normalizer {
  return (claimed, signal) => {
    const { shopId, channel } = claimed.entry;
    if (served.value.has(shopId)) return normalize(claimed, signal);
    return Promise.reject(
      new NotYet(`the shop has no ${channel} in the configuration`, RETRY_AFTER_MS),
    );
  };
}
