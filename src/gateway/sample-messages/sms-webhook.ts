import { randomBytes } from 'node:crypto';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import type { ShopConfig } from '../../config/config.ts';
import { NoAnswer } from './unsent.ts';

export const SMS_PATH = '/sms/twilio';
const TIMEOUT_MS = 20_000;

type SmsConfig = NonNullable<ShopConfig['sms']>;
/** Only texts to a number at Twilio can be made up: Telnyx signs with a key that nobody else has. */
export type TwilioNumbers = Pick<SmsConfig, 'numbers'> & {
  readonly twilio: NonNullable<SmsConfig['twilio']>;
};

/** One inbound text, as Twilio posts it to the webhook. */
export interface SignedWebhook {
  readonly params: Readonly<Record<string, string>>;
  readonly signature: string;
}

export interface SampleText {
  readonly from: string;
  /** Default: the shop's first number. */
  readonly to?: string | undefined;
  readonly body: string;
}

/**
 * Generates a new MessageSid each time, because a repeated one would be a duplicate.
 * @param publicUrl `http.publicUrl`: the signature covers the public URL of the webhook
 */
export function signedWebhook(
  { twilio, numbers }: TwilioNumbers,
  publicUrl: string,
  { from, to = numbers[0] ?? '', body }: SampleText,
): SignedWebhook {
  const params = {
    MessageSid: `SM${randomBytes(16).toString('hex')}`,
    AccountSid: twilio.accountSid,
    From: from,
    To: to,
    Body: body,
    NumMedia: '0',
    SmsStatus: 'received',
    ApiVersion: '2010-04-01',
  };
  const token = twilio.authTokens[0]?.reveal() ?? '';
  return { params, signature: getExpectedTwilioSignature(token, publicUrl + SMS_PATH, params) };
}

/**
 * Posts a text to a gateway's webhook.
 * @throws {NoAnswer}
 */
export async function postWebhook(
  where: URL,
  { params, signature }: SignedWebhook,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(new URL(SMS_PATH, where), {
      method: 'POST',
      headers: { 'x-twilio-signature': signature },
      body: new URLSearchParams(params),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    throw new NoAnswer('the webhook', where, { cause });
  }
}
