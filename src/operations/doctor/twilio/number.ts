import { parseAddress } from '../../../channels/sms/address.ts';
import { type CheckResult, verdicts } from '../check-result.ts';
import { webhookUrl } from '../webhook-url.ts';
import { checkInbound } from './inbound.ts';
import type { InboundSettings, Sender } from './settings.ts';

/** What decides where a number's texts go (Twilio, IncomingPhoneNumber and Service resources). */
export type Handler =
  | { readonly kind: 'own' }
  | { readonly kind: 'application'; readonly sid: string; readonly settings: InboundSettings }
  | { readonly kind: 'service'; readonly sid: string };

/** What Twilio says of one configured number. */
export type NumberFacts =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly said: string }
  | { readonly kind: 'there'; readonly sender: Sender; readonly handler: Handler };

/** Why a configured address cannot be looked up among an account's numbers, if it cannot. */
export function whyNotLookedUp(address: string): string | undefined {
  const { transport } = parseAddress(address);
  if (transport === 'sms') return undefined;
  return (
    `${transport} senders are not among an account's numbers: ` +
    'compare their webhook in the console with the one to set'
  );
}

/** @param why in words for an operator */
export const numberSkipped = (shop: string, number: string, why: string): CheckResult =>
  verdicts('twilio.number', `${shop} ${number}`, EXISTS).skipped(why);

const EXISTS = 'a number of the account';

/** Whether a number is in the account, and whether its texts come here. */
export function checkNumber(
  shop: string,
  number: string,
  facts: NumberFacts,
  publicUrl: string,
): CheckResult[] {
  const subject = `${shop} ${number}`;
  const exists = verdicts('twilio.number', subject, EXISTS);
  if (facts.kind === 'missing') {
    const todo = 'buy or port it into this account, or correct sms.numbers and accountSid';
    return [exists.failed('the account has no such number', todo)];
  }
  if (facts.kind === 'unknown') {
    return [exists.failed(facts.said, 'try again; the credentials may not read this')];
  }
  const { sender, handler } = facts;
  const there = exists.ok(`${sender.kind} ${sender.sid}`);
  if (handler.kind === 'service') {
    const wanted = `POST ${webhookUrl(publicUrl)}`;
    const ignored =
      `ignored: messaging service ${handler.sid} handles its texts, ` +
      'and does not use the webhook of the number';
    return [
      there,
      verdicts('twilio.webhook', subject, wanted).skipped(ignored),
      verdicts('twilio.fallback', subject, wanted).skipped(ignored),
    ];
  }
  const asked =
    handler.kind === 'own'
      ? { todo: `set it in Twilio's console, or run doctor --fix` }
      : {
          by: `SmsUrl is ignored, application ${handler.sid} decides`,
          todo:
            `set it at that application, or clear the number's SmsApplicationSid and run ` +
            'doctor --fix (--fix leaves applications alone: others may use them)',
        };
  const settings = handler.kind === 'own' ? sender : handler.settings;
  return [there, ...checkInbound({ name: subject, ...asked }, settings, publicUrl)];
}
