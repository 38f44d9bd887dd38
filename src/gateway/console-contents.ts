import { join } from 'node:path';
import { z } from 'zod';
import { chatRaw } from '../channels/chat/stored.ts';
import { createChatNormalizer } from '../channels/chat/normalize.ts';
import { createEmailNormalizer } from '../channels/email/normalize.ts';
import type { RawSource } from '../channels/email/stored.ts';
import { MessageViewer } from '../channels/email/view/message-viewer.ts';
import { readStored } from '../channels/sms/stored.ts';
import { createSmsNormalizer } from '../channels/sms/normalize.ts';
import { type EntryContents, NotReadable } from '../console/server/content-routes.ts';
import type { Normalizer } from '../intake/normalizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { StopStack } from '../runtime/stop-stack.ts';
import type { Claimed, Entry, RawForm } from '../spool/entry.ts';
import type { Store } from '../spool/sqlite/open.ts';
import type { Channel } from '../domain/channel.ts';
import type { LiveConfig } from './live-config.ts';
import { mailSettings, smsShops, trustingShops } from './shops.ts';

export interface ContentParts {
  readonly live: LiveConfig;
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly stack: StopStack;
}

const pairsSchema = z.array(z.tuple([z.string(), z.string()]));

/**
 * Reads entries for the console with the channels' own normalizers, separate from those of
 * delivery. Reading has no side effects: nothing is counted, no opt-out is recorded and no sender
 * is looked up.
 */
export function consoleContents(parts: ContentParts): EntryContents {
  const { live, store, stack } = parts;
  const viewer = new MessageViewer({
    scratchFolder: join(live.value.dataDir, 'tmp', 'console-view'),
  });
  stack.push('message viewer', () => viewer.stop());
  const normalizers = previews(parts);
  const view = async (raw: RawForm, html: boolean) => {
    try {
      return await viewer.view(sourceOf(raw, store), { html });
    } catch (cause) {
      throw new NotReadable('the message cannot be read', { cause });
    }
  };
  return {
    rawText: (entry, head) => rawText(entry, head),
    async received(entry, raw) {
      if (entry.kind === 'event') return { hasHtml: false };
      if (entry.channel === 'email') {
        const { text, hasHtml } = await view(raw, false);
        return { hasHtml, ...(text !== undefined && { text }) };
      }
      return { text: shortText(entry, raw), hasHtml: false };
    },
    async html(entry, raw) {
      if (entry.channel !== 'email' || entry.kind === 'event') return undefined;
      return (await view(raw, true)).html;
    },
    async prepared(entry, raw, signal) {
      if (entry.kind === 'event') return eventRequest(raw);
      try {
        return await normalizers[entry.channel](claimOf(entry, raw), signal);
      } catch (cause) {
        throw new NotReadable('the message cannot be read', { cause });
      }
    },
  };
}

function previews({ live, store, logger, metrics, clock, stack }: ContentParts) {
  const { dataDir } = live.value;
  const email = createEmailNormalizer(
    {
      shops: mailSettings(live.value),
      scratchFolder: join(dataDir, 'tmp', 'console-email'),
      workers: 1,
      deadlineMs: 20_000,
    },
    {
      blobs: store.spool.blobs,
      knownRemoteIds: async (shopId, ids) =>
        (await store.spool.knownEmailIds(shopId, ids)).size > 0,
      countMessage: () => Promise.resolve(undefined),
      logger,
    },
  );
  stack.push('console email', () => email.stop());
  live.add({
    name: 'console email',
    reads: ['shops'],
    prepare: (next) => {
      const shops = mailSettings(next);
      return { commit: () => email.serve(shops) };
    },
  });
  const texts = live.derive('console sms', ['shops'], smsShops);
  const trusting = live.derive('console chat', ['shops'], trustingShops);
  const sms = createSmsNormalizer(
    {
      get shops() {
        return texts.value;
      },
      scratchDir: join(dataDir, 'tmp', 'console-sms'),
      // An operator waits for a single entry here, while delivery has to share its time.
      media: { overdueMs: 10 * 60_000 },
    },
    {
      optOuts: store.optOuts,
      countMessage: () => Promise.resolve(undefined),
      ...{ clock, logger, metrics },
    },
  );
  const chat = createChatNormalizer({
    blobs: store.spool.blobs,
    trustUnverifiedEmail: (shopId) => trusting.value.has(shopId),
  });
  return { email: email.normalize, sms, web_chat: chat } satisfies Record<Channel, Normalizer>;
}

/** The claim as if an operator had released the entry: it is read without checks of its sender. */
const claimOf = (entry: Entry, raw: RawForm): Claimed => ({
  entry,
  raw,
  lease: { id: entry.id, generation: 0 },
  media: new Map(),
  released: true,
  notes: {},
});

function eventRequest(raw: RawForm) {
  const request: unknown = raw.kind === 'inline' ? parsed(raw.bytes) : undefined;
  return { request, attachments: [], dispose: () => Promise.resolve() };
}

function sourceOf(raw: RawForm, { spool }: Store): RawSource {
  if (raw.kind === 'file') return { kind: 'file', path: spool.blobs.path(raw.blob) };
  // Copied, because transferring a view to a worker would transfer its whole underlying buffer.
  return { kind: 'bytes', bytes: new Uint8Array(raw.bytes) };
}

function rawText(entry: Entry, head: Uint8Array): { text: string; type: string } {
  if (entry.channel === 'email' && entry.kind === 'message') {
    return { text: decoded(head), type: 'message/rfc822' };
  }
  const form = entry.channel === 'sms' ? pairsSchema.safeParse(parsed(head)).data : undefined;
  if (form !== undefined) {
    const text = form.map(([name, value]) => `${name}: ${value}`).join('\n');
    return { text, type: 'application/x-www-form-urlencoded' };
  }
  const object = parsed(head);
  const text = object === undefined ? decoded(head) : JSON.stringify(object, null, 2);
  return { text, type: 'application/json' };
}

/** Decodes UTF-8, or byte by byte (Latin-1) when the head is not UTF-8, so that nothing is lost. */
function decoded(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  return text.slice(0, -4).includes('\ufffd') ? buffer.toString('latin1') : text;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

function shortText(entry: Entry, raw: RawForm): string {
  try {
    if (raw.kind !== 'inline') throw new Error('a text is always stored inline');
    if (entry.channel === 'web_chat') return chatRaw(raw.bytes).text;
    return readStored(claimOf(entry, raw)).fields.first('Body') ?? '';
  } catch (cause) {
    throw new NotReadable('the message cannot be read', { cause });
  }
}
