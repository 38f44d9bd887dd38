import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type WhatsAppAccount,
  type WhatsAppShopAccount,
  whatsappShopAccount,
} from '../../src/channels/sms/providers/whatsapp-cloud/account.ts';
import { postWebhook, type WebhookAnswer } from './twilio-stand-in.ts';

/** Meta as the gateway meets it: signed events in, the Graph API out. */

export const APP_SECRET = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
export const ACCESS_TOKEN = 'EAAJB-of-the-system-user';
export const VERIFY_TOKEN = 'a-verify-token-that-we-made-up';
export const PHONE_NUMBER_ID = '106540352242922';
export const WHATSAPP_NUMBER = '+15550783881';
export const PERSON = '16505551234';

/** A well-formed message id that is different for each number. */
export const wamid = (n: number): string =>
  `wamid.${Buffer.from(`HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRB${n}`).toString('base64')}`;

export type Members = Readonly<Record<string, unknown>>;

/** A message as documented. A member that is undefined is left out. */
export const whatsappMessage = (changes: Members = {}): Members => ({
  from: PERSON,
  id: wamid(1),
  timestamp: '1749416383',
  type: 'text',
  text: { body: 'Does it come in another color?' },
  ...changes,
});

export const contactOf = (
  wa_id = PERSON,
  profile: Members = { name: 'Sheena Nelson' },
): Members => ({
  ...{ profile, wa_id },
});

export const METADATA: Members = {
  display_phone_number: WHATSAPP_NUMBER.slice(1),
  phone_number_id: PHONE_NUMBER_ID,
};

/** The change of a number: its messages, statuses and errors. */
export const changeOf = (value: Members, field = 'messages'): Members => ({
  value: { messaging_product: 'whatsapp', metadata: METADATA, ...value },
  field,
});

/** One of our messages, as documented. */
export const whatsappStatus = (changes: Members = {}): Members => ({
  id: wamid(500),
  status: 'delivered',
  timestamp: '1750030073',
  recipient_id: PERSON,
  pricing: { billable: true, pricing_model: 'PMP', category: 'service', type: 'regular' },
  ...changes,
});

export const FAILED: Members = {
  status: 'failed',
  errors: [
    {
      code: 131026,
      title: 'Message undeliverable',
      message: 'Message undeliverable',
      error_data: { details: 'Message Undeliverable.' },
      href: '/documentation/business-messaging/whatsapp/support/error-codes',
    },
  ],
};

export const eventOf = (...changes: readonly Members[]): string =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '102290129340398', changes }],
  });

/** The event of one message. */
export const messageEvent = (message: Members = {}, contact: Members = contactOf()): string =>
  eventOf(changeOf({ contacts: [contact], messages: [whatsappMessage(message)] }));

export const statusEvent = (...statuses: readonly Members[]): string =>
  eventOf(changeOf({ statuses: statuses.map(whatsappStatus) }));

/** When the tests run, in seconds: in files, `NOW`. */
export const NOW = Math.floor(Date.now() / 1000);

/** The requests of a file of `test/fixtures/texts/`. */
export function requestsOf(name: string): string[] {
  const text = readFileSync(new URL(`../fixtures/texts/${name}`, import.meta.url), 'utf8');
  const dated = text.replace(/"NOW(-\d+)?"/g, (_, ago = '0') => `"${NOW + Number(ago)}"`);
  const given: unknown = JSON.parse(dated);
  return (Array.isArray(given) ? given : [given]).map((each) => JSON.stringify(each));
}

/** The headers of a genuine request: HMAC-SHA256 of its bytes, with the secret of the app. */
export const signedHeaders = (body: string | Buffer, secret = APP_SECRET) => ({
  'Content-Type': 'application/json',
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

/** Posts an event as Meta does. */
export const postEvent = (
  httpUrl: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = signedHeaders(body),
): Promise<WebhookAnswer> => postWebhook({ target: `${httpUrl}/sms/whatsapp`, body, headers });

/** The account of a shop with one number. */
export const whatsappAccount = (changes: Partial<WhatsAppAccount> = {}): WhatsAppShopAccount =>
  whatsappShopAccount({
    accessToken: ACCESS_TOKEN,
    appSecrets: [APP_SECRET],
    verifyToken: VERIFY_TOKEN,
    senders: [{ number: WHATSAPP_NUMBER, phoneNumberId: PHONE_NUMBER_ID }],
    ...changes,
  });
