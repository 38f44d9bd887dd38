import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { ProviderWebhook, WebhookContent, WebhookRequest } from '../../provider.ts';
import { ACCOUNT_ID, type TelnyxShopAccount } from './account.ts';
import { OPT_OUT_CODE, readEvent, readMessage, readStatuses, type TelnyxEvent } from './event.ts';
import { receivedEcho, receivedText } from './texts.ts';

/** The difference of clocks that Telnyx documents, and its libraries allow. */
const TOLERANCE_MS = 5 * 60_000;

/** Telnyx's webhook, whose response is not interpreted. A 2xx ends its tries. */
export const telnyxWebhook: ProviderWebhook<TelnyxShopAccount> = {
  name: 'telnyx',
  contentTypes: ['application/json'],
  optOutCode: OPT_OUT_CODE,
  accepted: { type: 'application/json', body: '{}' },
  read: (request) => {
    const event = readEvent(request.body);
    const signed = signatureOf(request);
    return {
      contents: [contentOf(event, request.body)],
      isSignedBy: ({ publicKey }) =>
        typeof signed !== 'string' &&
        verify(null, signed.bytes, keyOf(publicKey), signed.signature),
      unsigned: typeof signed === 'string' ? signed : 'wrong',
    };
  },
};

/** @throws {BadParameter} */
function contentOf(event: TelnyxEvent, body: Uint8Array): WebhookContent {
  const { type, payload } = event;
  if (type === 'message.sent' || type === 'message.finalized') {
    return { kind: 'status', account: ACCOUNT_ID, ...readStatuses(payload) };
  }
  if (type === 'message.received') {
    const message = readMessage(payload);
    if (message.direction === 'inbound')
      return { kind: 'message', text: receivedText(message, body) };
  }
  if (type === 'message.echo') {
    return { kind: 'echo', text: receivedEcho(readMessage(payload), body) };
  }
  return { kind: 'other', account: ACCOUNT_ID, event: type.slice(0, 100) };
}

/**
 * Ed25519 over the timestamp, a `|` and the raw body (Telnyx, "Webhook signing"). The timestamp is
 * in seconds; an old request may be a repetition by somebody who recorded it.
 */
function signatureOf({
  headers,
  body,
  now,
}: WebhookRequest):
  | { readonly signature: Buffer; readonly bytes: Buffer }
  | 'missing'
  | 'wrong'
  | 'old' {
  const written = headers['telnyx-signature-ed25519'];
  const timestamp = headers['telnyx-timestamp'];
  if (typeof written !== 'string' || typeof timestamp !== 'string') return 'missing';
  const signature = Buffer.from(written, 'base64');
  if (signature.length !== 64 || !/^\d{1,12}$/.test(timestamp)) return 'wrong';
  if (Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS) return 'old';
  return { signature, bytes: Buffer.concat([Buffer.from(`${timestamp}|`), body]) };
}

/** @param publicKey 32 bytes in base64 (RFC 8037 §2) */
function keyOf(publicKey: string): KeyObject {
  const x = Buffer.from(publicKey, 'base64').toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
