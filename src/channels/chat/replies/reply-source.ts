import type { Message } from '../../../platform-api/resources.ts';
import type { ShopId } from '../../../domain/ids.ts';

export interface MessagePage {
  readonly results: readonly Message[];
  /** The `cursor` of the next page; absent or null on the last one. */
  readonly next?: string | null | undefined;
}

/** The platform refused the requested page: its cursor has expired. */
export class CursorRefused extends Error {
  override name = 'CursorRefused';
}

/** A page of this many messages is larger than the reader accepts. */
export class PageTooLarge extends Error {
  override name = 'PageTooLarge';
}

/** Messages per page: needs fewer requests than the platform's default, which is not documented. */
export const PAGE = 200;

/**
 * The source of replies: `GET /messages/?conversation_id__in=…` (API §4.5). It is injected, because
 * a channel does not import the platform's client. It rejects if the platform cannot be read now,
 * with `CursorRefused` if the requested page is refused, and with `PageTooLarge` if fewer messages
 * have to be requested.
 */
export interface ReplySource {
  listMessages(
    shopId: ShopId,
    conversationIds: readonly string[],
    cursor: string | undefined,
    signal: AbortSignal,
    /** The maximum number of messages per page; `PAGE` by default. */
    limit?: number,
  ): Promise<MessagePage>;
}
