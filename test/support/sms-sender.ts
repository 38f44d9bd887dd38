import { createHash } from 'node:crypto';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { PUBLIC_URL } from './gateway-config.ts';
import {
  encodeForm,
  inboundForm,
  postWebhook,
  AUTH_TOKEN,
  type WebhookAnswer,
} from './twilio-stand-in.ts';

const PATH = '/sms/twilio';

/** A well-formed MessageSid that is always the same for the same name. */
export function sidOf(name: string, kind: 'SM' | 'MM' = 'SM'): string {
  return kind + createHash('md5').update(name).digest('hex');
}

/** Posts one inbound message as Twilio does, signed with Twilio's own library. */
export function sendSms(
  httpUrl: string,
  parameters: Readonly<Record<string, string>> & { readonly MessageSid: string },
): Promise<WebhookAnswer> {
  const pairs = inboundForm(parameters);
  return postWebhook({
    target: httpUrl + PATH,
    body: encodeForm(pairs),
    signature: getExpectedTwilioSignature(AUTH_TOKEN, PUBLIC_URL + PATH, Object.fromEntries(pairs)),
  });
}
