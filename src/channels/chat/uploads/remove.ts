import type { Request, Response } from 'express';
import type { Logger } from '../../../observability/logger.ts';
import type { BlobStore } from '../../../spool/blobs.ts';
import type { ChatStore } from '../../../spool/chat-store.ts';
import type { ChatShop } from '../shop.ts';
import type { ChatLimits } from '../limits.ts';
import { Answer, assertStands, type UploadBearer } from './bearer.ts';

export interface RemovalParts {
  readonly store: ChatStore;
  readonly blobs: BlobStore;
  readonly limits: (shop: ChatShop) => ChatLimits;
  readonly logger: Logger;
}

/**
 * Forgets a file that the visitor has taken back before any message used it. A file that is used,
 * another's or unknown stays what it is, and the answer is the same: asking twice is no mistake.
 * @throws {Answer} 401, 429
 */
export async function removeUpload(
  { store, blobs, limits, logger }: RemovalParts,
  bearer: UploadBearer,
  request: Request,
  response: Response,
): Promise<void> {
  const { shop, visitorId } = bearer;
  const limited = await limits(shop).call(visitorId);
  if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
  await assertStands({ store }, bearer);
  const id = String(request.params['id']);
  const blob = id.length > 64 ? undefined : await store.removeUpload(shop.shopId, visitorId, id);
  if (blob !== undefined) {
    // After its row: a file that no row names is cleared away at the next start.
    await blobs.remove(blob);
    logger.info('chat.upload_removed', { upload: id, visitor: visitorId });
  }
  response.set('Cache-Control', 'no-store').status(204).end();
}
