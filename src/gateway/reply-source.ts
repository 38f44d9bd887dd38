import { CursorRefused, type ReplySource } from '../channels/chat/replies/reply-source.ts';
import type { ShopPlatform } from '../delivery/shop-platform.ts';
import type { PlatformClient } from '../platform-api/client.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { cursorOf } from '../platform-api/pages.ts';
import type { Current } from '../runtime/current.ts';
import type { ShopId } from '../types/ids.ts';

/** Messages of a page: fewer requests than by the platform's default, which is not documented. */
const PAGE = 200;

const REFUSALS: ReadonlySet<number> = new Set([400, 404, 410, 422]);

/** Where the chat channel reads the agent's replies. */
export function replySource(shops: Current<readonly ShopPlatform[]>): ReplySource {
  const clientOf = (shopId: ShopId): PlatformClient | undefined =>
    shops.value.find(({ settings }) => settings.shopId === shopId)?.client;
  /** Platforms that refuse pages of this size: the greatest `limit` is not documented either (API §8). */
  const strict = new Set<ShopId>();
  return {
    listMessages: async (shopId, conversationIds, cursor, signal) => {
      const client = clientOf(shopId);
      if (client === undefined) return { results: [] };
      const list = async (limit?: number) => {
        const query = {
          conversation_id__in: conversationIds,
          ...(cursor !== undefined && { cursor }),
          ...(limit !== undefined && { limit }),
        };
        const { results, next } = await client.listMessages(query, signal);
        return { results, next: cursorOf(next) };
      };
      const listLargely = async () => {
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
        if (cursor === undefined || !isRefusal(error)) throw error;
        throw new CursorRefused('the platform refuses a cursor', { cause: error });
      }
    },
  };
}

/** An answer that says "not this"; which cursors end, and how they are refused, is not documented. */
function isRefusal(error: unknown): boolean {
  return error instanceof PlatformError && REFUSALS.has(error.status ?? 0);
}

function isRefusedSize(error: unknown): boolean {
  if (!(error instanceof PlatformError)) return false;
  return error.status === 400 || error.status === 422 || error.code === 'too_large';
}
