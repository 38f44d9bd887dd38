import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { postWebhook, type WebhookAnswer } from './twilio-stand-in.ts';

/** Telnyx as the gateway meets it: signed events in, the Messaging API v2 out. */

const OURS = generateKeyPairSync('ed25519');
const ANOTHER = generateKeyPairSync('ed25519');
export const ANOTHER_KEY = ANOTHER.privateKey;

/** As the portal shows it: the 32 bytes of the key, in base64. */
const shownKey = ({ publicKey }: { readonly publicKey: KeyObject }): string =>
  Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
export const PUBLIC_KEY = shownKey(OURS);
export const ANOTHER_PUBLIC_KEY = shownKey(ANOTHER);
export const API_KEY = 'KEY0123456789_of-telnyx';
export const TELNYX_NUMBER = '+15550002222';

/** A well-formed message id that is different for each number. */
export const telnyxId = (n: number): string =>
  `7ee4241c-f127-47e5-9c34-${n.toString(16).padStart(12, '0')}`;

export type Members = Readonly<Record<string, unknown>>;

/** The payload of `message.received` as documented. A member that is undefined is left out. */
export const inboundPayload = (changes: Members = {}): Members => ({
  record_type: 'message',
  direction: 'inbound',
  id: telnyxId(1),
  type: 'SMS',
  messaging_profile_id: '0f512bda-ae1e-4597-8e11-e5f5686b97d3',
  organization_id: 'b448f9cc-a842-4784-98e9-03c1a5872950',
  from: { phone_number: '+14155552671', carrier: 'T-MOBILE USA, INC.', line_type: 'Wireless' },
  to: [
    {
      phone_number: TELNYX_NUMBER,
      status: 'webhook_delivered',
      carrier: 'TELNYX LLC',
      line_type: 'VoIP',
    },
  ],
  cc: [],
  text: 'Where is my order?',
  subject: '',
  media: [],
  webhook_url: 'https://gw.acme.example/sms/telnyx',
  webhook_failover_url: null,
  encoding: 'GSM-7',
  parts: 1,
  tags: [],
  cost: { amount: '0.0051', currency: 'USD' },
  received_at: '2026-01-23T18:10:02.574Z',
  sent_at: null,
  completed_at: null,
  valid_until: null,
  errors: [],
  ...changes,
});

/** The payload of `message.sent` and `message.finalized` as documented. */
export const outboundPayload = (changes: Members = {}): Members =>
  inboundPayload({
    direction: 'outbound',
    from: { phone_number: TELNYX_NUMBER, carrier: 'TELNYX LLC', line_type: 'VoIP' },
    to: [{ phone_number: '+14155552671', status: 'delivered', carrier: 'T-MOBILE USA, INC.' }],
    ...changes,
  });

export const telnyxEvent = (payload: Members, type = 'message.received'): string =>
  JSON.stringify({
    data: {
      record_type: 'event',
      id: 'bf6307bd-884d-4c1f-b6ea-c62b8c495d3c',
      event_type: type,
      occurred_at: '2026-01-23T18:10:02.574Z',
      payload,
    },
    meta: { attempt: 1, delivered_to: 'https://gw.acme.example/sms/telnyx' },
  });

/** `telnyx-signature-ed25519`: over the timestamp in seconds, a `|` and the body. */
export const telnyxSignature = (
  body: string | Buffer,
  timestamp: string,
  key: KeyObject = OURS.privateKey,
): string => {
  const bytes = Buffer.concat([Buffer.from(`${timestamp}|`), Buffer.from(body)]);
  return sign(null, bytes, key).toString('base64');
};

/** @param agoSeconds before now; negative for a time to come */
export const timestampOf = (agoSeconds = 0): string =>
  String(Math.floor(Date.now() / 1000) - agoSeconds);

/** The headers of a genuine request. */
export function signedHeaders(
  body: string | Buffer,
  timestamp = timestampOf(),
  key: KeyObject = OURS.privateKey,
) {
  return {
    'Content-Type': 'application/json',
    'telnyx-timestamp': timestamp,
    'telnyx-signature-ed25519': telnyxSignature(body, timestamp, key),
  };
}

/** Posts an event as Telnyx does. */
export const postEvent = (
  httpUrl: string,
  body: string,
  headers: Readonly<Record<string, string>> = signedHeaders(body),
): Promise<WebhookAnswer> => postWebhook({ target: `${httpUrl}/sms/telnyx`, body, headers });
