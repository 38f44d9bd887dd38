import { join } from 'node:path';
import type { EmailMeta } from '../../../../src/channels/email/stored.ts';
import type { EmailJob } from '../../../../src/channels/email/normalize/job.ts';
import type { ShopMailSettings } from '../../../../src/channels/email/shop.ts';
import { type Claimed, type RawForm, WAITS_FOR } from '../../../../src/spool/entry.ts';
import { asEntryId, asShopId } from '../../../../src/domain/ids.ts';

export const SHOP = asShopId('7b0d5a3e-1f2c-4a3b-8c4d-000000000001');
/** Half an hour after the Date header of the fixtures. */
export const RECEIVED_AT = Date.parse('2026-01-05T09:30:00Z');

export const shopSettings: ShopMailSettings = {
  shopId: SHOP,
  addresses: ['support@acme.example'],
  formSenders: [],
  allowSenders: [],
  replyDomains: [],
  body: 'auto',
  quotes: 'known',
  forwarders: [],
  suppress: ['auto-reply', 'bounce', 'complaint', 'report', 'loop', 'bulk'],
  loop: { per10min: 10, perHour: 25, perThreadPer10min: 5, sameBodyPerHour: 3 },
};

export const meta: EmailMeta = {
  remoteAddress: '192.0.2.1',
  heloName: 'mx.customer.example',
  tls: false,
  trustedRelay: false,
  envelopeFrom: 'ann@customer.example',
  envelopeTo: ['support@acme.example'],
  agentContact: 'support@acme.example',
  ourAddressesMatched: ['support@acme.example'],
  receivedHeader: 'Received: from mx.customer.example',
};

export function emailJob(
  bytes: Uint8Array,
  scratch: string,
  part: Partial<EmailJob> = {},
): EmailJob {
  return {
    shopId: SHOP,
    remoteId: '<one@customer.example>',
    receivedAt: RECEIVED_AT,
    released: false,
    meta,
    raw: { kind: 'bytes', bytes },
    scratch: join(scratch, 'job'),
    ...part,
  };
}

export function claimedEmail(raw: RawForm, part: Partial<Claimed> = {}): Claimed {
  const id = asEntryId('entry-1');
  return {
    entry: {
      id,
      kind: 'message',
      shopId: SHOP,
      channel: 'email',
      lane: 'ann@customer.example support@acme.example',
      remoteId: '<one@customer.example>',
      receivedAt: RECEIVED_AT,
      meta: { ...meta },
      state: 'delivering',
      attempts: 0,
      failures: 0,
      waitsFor: WAITS_FOR.time,
      failingMs: 0,
      lastAttemptAt: 0,
      nextAttemptAt: 0,
      detached: false,
      rawSize: raw.kind === 'inline' ? raw.bytes.length : raw.size,
    },
    lease: { id, generation: 1 },
    raw,
    media: new Map(),
    released: false,
    isUnended: false,
    notes: {},
    ...part,
  };
}

export function inline(text: string): Extract<RawForm, { kind: 'inline' }> {
  return { kind: 'inline', bytes: Buffer.from(text.replaceAll(/\r?\n/g, '\r\n')) };
}
