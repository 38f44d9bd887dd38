import { createTextSender, TextNotSent } from '../channels/sms/providers/twilio/send-text.ts';
import type { TwilioAccount } from '../channels/sms/shop.ts';
import type { CompleteConfig } from '../config/complete.ts';
import { SendFailed } from '../local-platform/outbound/outbound.ts';
import type { TextSender } from '../local-platform/outbound/twilio-sms.ts';
import type { RepliesOptions } from '../local-platform/outbound/ways-out.ts';
import { relayOf } from './relay-options.ts';
import { twilioAccount } from './shops.ts';

/**
 * How the embedded platform's answers leave, by the configuration.
 * @throws when the file of the relay's authority cannot be read
 */
export function localReplies(
  config: CompleteConfig,
  senders: ReadonlyMap<string, TextSender> = twilioSenders(config),
): RepliesOptions {
  const relay = relayOf(config.localPlatform.replies, config.smtp.hostname);
  return {
    ...(relay && { relay }),
    ...(config.localPlatform.replies.sms === 'twilio' && { twilio: senders }),
  };
}

/** The Twilio accounts by the shop's id; for `localReplies`, which looks into the map as it goes. */
export function twilioSenders({ shops }: CompleteConfig): Map<string, TextSender> {
  return new Map(
    shops.flatMap(({ shopId, sms }): [string, TextSender][] => {
      if (sms === undefined) return [];
      return [[shopId, textSender(twilioAccount(sms.twilio), sms.whatsappTemplate)]];
    }),
  );
}

/** The platform's port over the channel's sender. */
export function textSender(
  account: TwilioAccount,
  whatsappTemplate?: string,
  timeoutMs?: number,
): TextSender {
  const sender = createTextSender(account, timeoutMs);
  return {
    sendText: (text) => sender.sendText(text).catch(asSendFailed),
    findSent: (text, since) => sender.findSent(text, since).catch(asSendFailed),
    ...(whatsappTemplate !== undefined && { whatsappTemplate }),
  };
}

function asSendFailed(error: unknown): never {
  if (!(error instanceof TextNotSent)) throw error;
  throw new SendFailed(error.kind, error.message, { code: error.code });
}
