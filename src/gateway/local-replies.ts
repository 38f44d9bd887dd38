import { connectTwilio } from '../channels/sms/providers/twilio/transport.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { TwilioSender } from '../local-platform/outbound/twilio-sms.ts';
import type { RepliesOptions } from '../local-platform/outbound/ways-out.ts';
import { relayOf } from './relay-options.ts';

const TWILIO_TIMEOUT_MS = 30_000;

/**
 * How the embedded platform's answers leave, by the configuration.
 * @throws when the file of the relay's authority cannot be read
 */
export function localReplies(
  config: CompleteConfig,
  senders: ReadonlyMap<string, TwilioSender> = twilioSenders(config),
): RepliesOptions {
  const relay = relayOf(config.localPlatform.replies, config.smtp.hostname);
  return {
    ...(relay && { relay }),
    ...(config.localPlatform.replies.sms === 'twilio' && { twilio: senders }),
  };
}

/** The Twilio accounts by the shop's id; for `localReplies`, which looks into the map as it goes. */
export function twilioSenders({ shops }: CompleteConfig): Map<string, TwilioSender> {
  return new Map(
    shops.flatMap(({ shopId, sms }): [string, TwilioSender][] => {
      if (sms === undefined) return [];
      const { accountSid, authTokens, apiKeySid, apiKeySecret, baseUrl } = sms.twilio;
      const [username, password] =
        apiKeySid !== undefined && apiKeySecret !== undefined
          ? [apiKeySid, apiKeySecret]
          : [accountSid, authTokens[0]];
      const connect = () =>
        connectTwilio({
          accountSid,
          username,
          password: password?.reveal() ?? '',
          baseUrl,
          timeoutMs: TWILIO_TIMEOUT_MS,
        });
      const { whatsappTemplate } = sms;
      return [[shopId, { connect, ...(whatsappTemplate !== undefined && { whatsappTemplate }) }]];
    }),
  );
}
