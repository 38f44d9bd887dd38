import type { Message } from '../../../platform-api/resources.ts';
import type { ShopId } from '../../../domain/ids.ts';

export interface MessagePage {
  readonly results: readonly Message[];
  /** What to pass as `cursor` for the next page; absent or null on the last one. */
  readonly next?: string | null | undefined;
}

/** The platform knows nothing of the page that was asked for: its cursor has ended. */
export class CursorRefused extends Error {
  override name = 'CursorRefused';
}

/** A page of this many messages is larger than the reader accepts. */
export class PageTooLarge extends Error {
  override name = 'PageTooLarge';
}

/** Messages of a page: fewer requests than by the platform's default, which is not documented. */
export const PAGE = 200;

/**
 * Where replies come from: `GET /messages/?conversation_id__in=…` (API §4.5), injected, because a
 * channel does not know the platform's client. Rejects when the platform cannot be read now, and
 * with `CursorRefused` when it refuses the page that was asked for, and with `PageTooLarge` when
 * fewer messages have to be asked for.
 */
export interface ReplySource {
  listMessages(
    shopId: ShopId,
    conversationIds: readonly string[],
    cursor: string | undefined,
    signal: AbortSignal,
    /** Messages of the page at most; `PAGE` when absent, or the platform's own number. */
    limit?: number,
  ): Promise<MessagePage>;
}
