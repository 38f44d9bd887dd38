import { randomBytes } from 'node:crypto';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';

export const SMS_PATH = '/sms/twilio';

/** One inbound text, as Twilio posts it to the webhook. */
export interface SignedWebhook {
  readonly params: Readonly<Record<string, string>>;
  readonly signature: string;
}

export interface SampleText {
  readonly accountSid: string;
  readonly authToken: string;
  /** `http.publicUrl`: the signature covers the public URL of the webhook. */
  readonly publicUrl: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
}

/** Generates a new MessageSid each time, because a repeated one would be a duplicate. */
export function signedWebhook(text: SampleText): SignedWebhook {
  const params = {
    MessageSid: `SM${randomBytes(16).toString('hex')}`,
    AccountSid: text.accountSid,
    From: text.from,
    To: text.to,
    Body: text.body,
    NumMedia: '0',
    SmsStatus: 'received',
    ApiVersion: '2010-04-01',
  };
  const url = text.publicUrl + SMS_PATH;
  return { params, signature: getExpectedTwilioSignature(text.authToken, url, params) };
}
