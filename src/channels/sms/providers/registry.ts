import type { SmsProvider } from '../provider.ts';
import { telnyxApi } from './telnyx/api.ts';
import { telnyxTexts } from './telnyx/texts.ts';
import { telnyxWebhook } from './telnyx/webhook.ts';
import { twilioApi } from './twilio/api.ts';
import { twilioTexts } from './twilio/texts.ts';
import { twilioWebhook } from './twilio/webhook.ts';
import { whatsappApi } from './whatsapp-cloud/api.ts';
import { whatsappTexts } from './whatsapp-cloud/texts.ts';
import { whatsappWebhook } from './whatsapp-cloud/webhook.ts';

/**
 * The providers of texts. Each list has one part of all of them, so that the bundle of a thread
 * contains only the parts that it uses.
 */

export const WEBHOOKS: readonly SmsProvider['webhook'][] = [
  twilioWebhook,
  telnyxWebhook,
  whatsappWebhook,
];
const TEXTS: readonly SmsProvider['texts'][] = [twilioTexts, telnyxTexts, whatsappTexts];
export const APIS: readonly SmsProvider['api'][] = [twilioApi, telnyxApi, whatsappApi];

/**
 * The provider of a stored text.
 * @param name as in the meta: undefined in entries of the first provider
 * @returns undefined if this version does not know it
 */
export const textsOf = (name: unknown): SmsProvider['texts'] | undefined =>
  name === undefined ? twilioTexts : TEXTS.find((texts) => texts.name === name);

/** Whether a message of any provider could have this id. */
export const isMessageId = (id: string): boolean => TEXTS.some((texts) => texts.isMessageId(id));

/** @throws {Error} there is none of this name */
export function apiOf(name: string): SmsProvider['api'] {
  const found = APIS.find((api) => api.name === name);
  if (found === undefined) throw new Error(`There is no SMS provider ${name}`);
  return found;
}
