import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createChatNormalizer } from '../channels/chat/normalize.ts';
import type { Authenticator } from '../channels/email/authentication/authenticator.ts';
import { DNS_DEFAULTS, DnsResolver } from '../channels/email/authentication/dns-resolver.ts';
import { createEmailNormalizer, type EmailNormalizerOptions } from '../channels/email/normalize.ts';
import { createSmsNormalizer, type SmsNormalizerOptions } from '../channels/sms/normalize.ts';
import { type Normalizer, NotYet } from '../intake/normalizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Current } from '../runtime/current.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { Spool } from '../spool/spool.ts';
import type { DeliveryStore } from '../spool/store.ts';
import type { Channel } from '../domain/channel.ts';
import type { ShopId } from '../domain/ids.ts';
import { partOf, type Share } from './delivery/share.ts';
import type { LiveConfig } from './live-config.ts';
import { mailSettings, smsShops, trustingShops } from './shops.ts';

export interface ReadingParts {
  readonly live: LiveConfig;
  readonly store: Pick<DeliveryStore, 'spool' | 'optOuts'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly stack: StopStack;
  /** Whether one of these message-ids is that of a reply of the embedded platform. */
  readonly hasReply: (shopId: ShopId, ids: readonly string[]) => boolean | Promise<boolean>;
}

export interface ReadingOptions {
  /** The prefix of the names of the normalizers and of their scratch folders. */
  readonly prefix: '' | 'console-';
  /** The end of the names of the scratch folders: each reader empties its own at its start. */
  readonly suffix?: string;
  readonly countMessage: Spool['countMessage'];
  /** Without it, senders of emails are not checked. */
  readonly authenticator?: Authenticator;
  readonly email?: Pick<EmailNormalizerOptions, 'workers' | 'deadlineMs' | 'explain'>;
  readonly media?: SmsNormalizerOptions['media'];
}

/** A normalizer of each channel, for the current shops. */
export function channelNormalizers(
  { live, store, clock, logger, metrics, stack, hasReply }: ReadingParts,
  { prefix, suffix = '', countMessage, authenticator, ...options }: ReadingOptions,
): Record<Channel, Normalizer> {
  const folderOf = (channel: Channel) => join(live.value.dataDir, 'tmp', prefix + channel + suffix);
  const { blobs } = store.spool;
  const dns = new DnsResolver({ ...DNS_DEFAULTS, servers: live.value.dns.servers }, clock);
  stack.push(`${prefix}DNS of forwarders`, () => dns.close());
  const email = createEmailNormalizer(
    { shops: mailSettings(live.value), scratchFolder: folderOf('email'), ...options.email },
    {
      knownRemoteIds: async (shopId, ids) =>
        (await store.spool.knownEmailIds(shopId, ids)).size > 0 || hasReply(shopId, ids),
      ...(authenticator && { authenticator }),
      resolve: (name, type) => dns.resolve(name, type),
      ...{ blobs, countMessage, clock, logger },
    },
  );
  stack.push(`${prefix}email normalizer`, () => email.stop());
  live.add({
    name: `${prefix}email normalizer`,
    reads: ['shops'],
    prepare: (next) => {
      const shops = mailSettings(next);
      return { commit: () => email.serve(shops) };
    },
  });
  const texts = live.derive(`${prefix}sms normalizer`, ['shops', 'platform'], smsShops);
  const sms = createSmsNormalizer(
    {
      get shops() {
        return texts.value;
      },
      scratchDir: folderOf('sms'),
      ...(options.media && { media: options.media }),
    },
    {
      ...{ optOuts: store.optOuts, personOf: (lane) => store.spool.personOf(lane) },
      ...{ countMessage, clock, logger, metrics },
    },
  );
  const trusting = live.derive(`${prefix}chat normalizer`, ['shops'], trustingShops);
  const chat = createChatNormalizer({
    blobs,
    trustUnverifiedEmail: (shopId) => trusting.value.has(shopId),
  });
  return { email: email.normalize, sms, web_chat: chat };
}

/** The delay after which an entry is tried again if its shop no longer has its channel. */
const RETRY_AFTER_MS = 60_000;

/** Threads that read emails, of all threads that deliver together. */
const READERS = 2;

/** The normalizers of delivery, or of one of its threads. */
export function createNormalizers(
  parts: ReadingParts & { readonly authenticator: Authenticator; readonly share: Share },
): Record<Channel, Normalizer> {
  const { live, store, authenticator, share } = parts;
  if (share.index === 0) sweepOfEnded(join(live.value.dataDir, 'tmp'), share);
  const { email, sms, web_chat } = channelNormalizers(parts, {
    prefix: '',
    suffix: suffixOf(share),
    email: { workers: partOf(share, READERS) },
    countMessage: (message, limits) => store.spool.countMessage(message, limits),
    authenticator,
  });
  const withEmail = live.derive('shops with email', ['shops'], (config) => idsOf(config, 'email'));
  const withSms = live.derive('shops with sms', ['shops'], (config) => idsOf(config, 'sms'));
  return {
    email: postponeUnserved(email, withEmail),
    sms: postponeUnserved(sms, withSms),
    web_chat,
  };
}

const suffixOf = ({ index }: Share): string => (index === 0 ? '' : `-${index + 1}`);

/** Removes the scratch folders of threads that there were before the last start. */
function sweepOfEnded(folder: string, { of }: Share): void {
  for (const name of namesIn(folder)) {
    const [, thread] = /^(?:email|sms)-(\d+)$/.exec(name) ?? [];
    if (Number(thread) > of) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It does not exist yet.
    return [];
  }
}

const idsOf = ({ shops }: LiveConfig['value'], channel: 'email' | 'sms'): ReadonlySet<ShopId> =>
  new Set(shops.filter((shop) => shop[channel] !== undefined).map(({ shopId }) => shopId));

/**
 * Postpones entries of a channel that their shop no longer has, until it is configured again: the
 * settings for reading them are in the configuration.
 */
function postponeUnserved(normalize: Normalizer, served: Current<ReadonlySet<ShopId>>): Normalizer {
  return (claimed, signal) => {
    const { shopId, channel } = claimed.entry;
    if (served.value.has(shopId)) return normalize(claimed, signal);
    return Promise.reject(
      new NotYet({ code: 'channel_not_configured', params: { channel } }, RETRY_AFTER_MS),
    );
  };
}
