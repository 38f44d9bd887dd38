import { EmailOutbox, Relay } from './email.ts';
import type { Outbound } from './outbound.ts';
import type { RelayOptions } from '../../runtime/relay-transport.ts';
import type { RetrySchedule } from './reply-sender.ts';
import { SmsLog } from './sms.ts';
import type { FindTextRoute } from './text-route.ts';
import { type TextSender, TwilioSms } from './twilio-sms.ts';

/** How replies leave; what is not given stays on this machine's disk. */
export interface RepliesOptions {
  /** For email; without one, each lands as an .eml file in the outbox. */
  readonly relay?: RelayOptions;
  /** For SMS, by the shop's id; without an account, each lands as a line in `sms.log`. */
  readonly twilio?: ReadonlyMap<string, TextSender>;
  /** How texts came, and who has opted out; without it, texts are answered by SMS. */
  readonly findTextRoute?: FindTextRoute;
  readonly schedule?: RetrySchedule;
}

/** The ways out by the type of the conversation. */
export function waysOut(
  outbox: string,
  { relay, twilio }: RepliesOptions,
): Readonly<Record<string, Outbound>> {
  const log = new SmsLog(outbox);
  return {
    email: relay ? new Relay(relay) : new EmailOutbox(outbox),
    sms: twilio ? new TwilioSms(twilio, log) : log,
    web_chat: webChat,
  };
}

/**
 * Web chat has nothing to send: a stored reply is published on the socket at once, and the visitor's
 * gateway reads the list of messages.
 */
const webChat: Outbound = {
  inOrder: true,
  canRepeat: true,
  send: () => Promise.resolve({}),
};
