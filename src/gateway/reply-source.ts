import {
  CursorRefused,
  PAGE,
  PageTooLarge,
  type ReplySource,
} from '../channels/chat/replies/message-reader.ts';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { cursorOf } from '../platform-api/addresses.ts';
import type { Message } from '../platform-api/resources.ts';
import type { Current } from '../runtime/current.ts';
import type { ShopId } from '../domain/ids.ts';
import type { ShopClient } from './platforms.ts';

const REFUSALS: ReadonlySet<number> = new Set([400, 404, 410, 422]);

/** The source from which the chat channel reads the agent's replies. */
export function replySource(
  shops: Current<readonly Pick<ShopClient, 'shopId' | 'client'>[]>,
): ReplySource {
  const clientOf = (shopId: ShopId): PlatformClient | undefined =>
    shops.value.find((shop) => shop.shopId === shopId)?.client;
  /** Platforms that refuse pages of this size; the maximum `limit` is not documented (API §8). */
  const strict = new Set<ShopId>();
  return {
    listMessages: async (shopId, conversationIds, cursor, signal, limit = PAGE) => {
      const client = clientOf(shopId);
      if (client === undefined) return { results: [] };
      const list = async (most?: number) => {
        const query = {
          conversation_id__in: conversationIds,
          ...(cursor !== undefined && { cursor }),
          ...(most !== undefined && { limit: most }),
        };
        const { results, next } = await client.listMessages(query, signal);
        return { results: client.isEmbedded ? results : results.map(plain), next: cursorOf(next) };
      };
      const listLargely = async () => {
        if (limit < PAGE) return list(limit);
        if (strict.has(shopId)) return list();
        try {
          return await list(PAGE);
        } catch (error) {
          if (!isRefusedSize(error)) throw error;
          const page = await list();
          strict.add(shopId);
          return page;
        }
      };
      try {
        return await listLargely();
      } catch (error) {
        if (isTooLarge(error) || (limit > 1 && limit < PAGE && isRefusedSize(error))) {
          throw new PageTooLarge(`a page of ${limit}`, { cause: error });
        }
        if (cursor === undefined || !isRefusal(error)) throw error;
        throw new CursorRefused('the platform refuses a cursor', { cause: error });
      }
    },
  };
}

/** What another platform means by `choices` is not known. */
const plain = ({ choices: _, ...message }: Message): Message => message;

/**
 * A refusal of the request as such. The documentation does not say how an expired cursor is
 * refused.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof PlatformError && REFUSALS.has(error.status ?? 0);
}

function isRefusedSize(error: unknown): boolean {
  return error instanceof PlatformError && (error.status === 400 || error.status === 422);
}

function isTooLarge(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'too_large';
}
