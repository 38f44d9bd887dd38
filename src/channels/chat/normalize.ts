import { NO_TEXT } from '../../domain/no-text.ts';
import {
  type Attachment,
  AttachmentUnavailable,
  missingAttachment,
  type Normalized,
  type Normalizer,
} from '../../intake/normalizer.ts';
import { UNKNOWN_NETWORK } from '../../platform-api/schemas.ts';
import { assertIntact, type BlobReader } from '../../spool/blobs.ts';
import type { UploadRecord } from '../../spool/chat-store.ts';
import type { ShopId } from '../../domain/ids.ts';
import { isVisible } from './receive.ts';
import { type ChatMeta, chatMeta, type ChatRaw, chatRaw, visitorName } from './stored.ts';

export interface ChatNormalizerParts {
  readonly blobs: BlobReader;
  /**
   * Whether a shop uses addresses that visitors typed. Anyone can type another person's address and
   * would then see that person's conversations.
   */
  readonly trustUnverifiedEmail: (shopId: ShopId) => boolean;
}

/** Turns a visitor's message into a create-message request. */
export function createChatNormalizer(parts: ChatNormalizerParts): Normalizer {
  return (claimed): Promise<Normalized> => {
    // The work is synchronous; a damaged entry must reject rather than throw.
    return new Promise((resolve) => resolve(normalize(claimed, parts)));
  };
}

function normalize(
  { entry, raw, conversation }: Parameters<Normalizer>[0],
  { blobs, trustUnverifiedEmail }: ChatNormalizerParts,
): Normalized {
  if (raw.kind !== 'inline') throw new Error('a chat entry whose raw form is a file');
  const meta = chatMeta(entry);
  const { text, uploads, page } = chatRaw(raw.bytes);
  const words = isVisible(text) ? text : NO_TEXT;
  return {
    verdict: { kind: 'deliver' },
    request: {
      contact: contactOf(meta, trustUnverifiedEmail(entry.shopId)),
      // API §4.7: `agent_contact` is omitted for web_chat.
      conversation: { direction: 'inbound', type: 'web_chat' },
      message: {
        // The API has no field for the page. The agent is told once.
        content: page && !conversation ? `${words}\n\n${pageLine(page)}` : words,
        format: 'TEXT',
        remote_id: entry.remoteId,
        timestamp: new Date(entry.receivedAt).toISOString(),
      },
    },
    attachments: uploads.map((upload) => attachmentOf(upload, blobs)),
    findings: { characters: text.length, attachments: uploads.length },
    ...(!meta.verified && { unverifiedFrom: meta.network ?? UNKNOWN_NETWORK }),
    dispose: () => Promise.resolve(),
  };
}

/** In brackets, because the visitor did not write it. */
function pageLine({ url, title, cart }: NonNullable<ChatRaw['page']>): string {
  const parts = [title, url, cart && `cart: ${cart}`].filter(Boolean);
  return `[Written on: ${parts.join(' · ')}]`;
}

function contactOf(meta: ChatMeta, trustUnverified: boolean): { name: string; email?: string } {
  return {
    name: meta.name ?? visitorName(meta.visitorId),
    ...(meta.email !== undefined && (meta.verified || trustUnverified) && { email: meta.email }),
  };
}

function attachmentOf(upload: UploadRecord, blobs: BlobReader): Attachment {
  const { id, name, type, size, blob } = upload;
  return {
    part: id,
    placeholder: missingAttachment('delivered', name, type),
    about: { name, type, size },
    open: async () => {
      if (!(await blobs.exists(blob))) throw new AttachmentUnavailable('the uploaded file is gone');
      // Before the upload: a read error during it would count as a failure of the platform.
      await assertIntact({ kind: 'file', ...upload }, blobs);
      return { name, type, size, stream: () => blobs.read(blob) };
    },
  };
}
