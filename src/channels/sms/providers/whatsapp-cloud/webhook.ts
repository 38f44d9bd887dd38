import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ProviderWebhook, WebhookRequest } from '../../provider.ts';
import type { WhatsAppShopAccount } from './account.ts';
import { readEvent } from './event.ts';
import { noteSent } from '../sent-texts.ts';

/**
 * Meta's webhook (Meta, "Webhooks": "Create a webhook endpoint"). A request has up to 3 MB and
 * several messages; without a 200 it is repeated for up to seven days.
 */
export const whatsappWebhook: ProviderWebhook<WhatsAppShopAccount> = {
  name: 'whatsapp',
  contentTypes: ['application/json'],
  maxBodyBytes: 3 * 1024 * 1024,
  accepted: { type: 'application/json', body: '{}' },
  notedStatus: 200,
  read: (request) => {
    const isSigned = signatureOf(request);
    return {
      contents: () => readEvent(request.body),
      isSignedBy: ({ appSecrets }) => isSigned !== undefined && appSecrets.some(isSigned),
      unsigned: isSigned === undefined ? 'missing' : 'wrong',
    };
  },
  challenge: (query, accounts) => {
    const challenge = query.get('hub.challenge') ?? '';
    const token = digestOf(query.get('hub.verify_token') ?? '');
    const isOurs = accounts.some((each) => timingSafeEqual(digestOf(each.verifyToken), token));
    const isAsked = query.get('hub.mode') === 'subscribe' && /^[\w-]{1,128}$/.test(challenge);
    return isOurs && isAsked ? challenge : undefined;
  },
  note: ({ id, tag, statuses }, at) => {
    const hasFailed = statuses.some(({ status }) => status === 'failed');
    if (tag !== undefined) noteSent(id, { tag, hasFailed, at });
  },
};

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Tells whether a secret made the signature: HMAC-SHA256 of the raw body (Meta, "Validate
 * payloads"). Asked for each message of the request, so each secret is used once.
 */
function signatureOf({ headers, body }: WebhookRequest): ((secret: string) => boolean) | undefined {
  const written = headers['x-hub-signature-256'];
  if (typeof written !== 'string') return undefined;
  const [, hex = ''] = /^sha256=([0-9a-f]{64})$/i.exec(written) ?? [];
  const signature = Buffer.from(hex, 'hex');
  const known = new Map<string, boolean>();
  return (secret) => {
    const isRight =
      known.get(secret) ??
      (signature.length === 32 &&
        timingSafeEqual(signature, createHmac('sha256', secret).update(body).digest()));
    known.set(secret, isRight);
    return isRight;
  };
}
