import * as z from 'zod/mini';
import type { ShopId } from '../../domain/ids.ts';
import type { Arrival, ChatArrival } from '../../intake/intake.ts';
import { eventArrival } from '../../intake/timeline-event.ts';
import type { CreateEventRequest } from '../../platform-api/schemas.ts';
import type { VisitorRecord } from '../../spool/chat-store.ts';
import {
  type ErrorWord,
  type HistoryRequest,
  MAX_COMMENT,
  MAX_FILES,
  MAX_PAGE,
  MAX_TEXT,
  type MessageRequest,
  type ProfileRequest,
  type RateRequest,
  type SeenRequest,
} from './events.ts';
import { REMOTE_ID_PREFIX, storedForm, type WrittenMessage } from './stored.ts';

/**
 * Excludes blanks, controls, unpaired surrogates and characters without a glyph (UAX #44; U+2800:
 * Braille).
 */
const VISIBLE = /[^\s\p{Cc}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text has a visible character. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

/** A name without control characters and characters that reorder the text around it. */
export const cleanName = (name: string): string =>
  name.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '').trim();

/** The schemas for all requests of clients. */

/**
 * The size of `text` is checked separately, because its error is `too_large` rather than `invalid`.
 */
export const messageRequestSchema: Schema<MessageRequest> = z.object({
  id: z.guid(),
  text: z.string(),
  uploads: z.optional(z.array(z.string().check(z.minLength(1), z.maxLength(64)))),
  page: z.optional(
    z.object({
      url: z.string().check(z.overwrite(cleanName), z.maxLength(MAX_PAGE.url)),
      title: z.optional(z.string().check(z.overwrite(cleanName), z.maxLength(MAX_PAGE.title))),
      cart: z.optional(z.string().check(z.overwrite(cleanName), z.maxLength(MAX_PAGE.cart))),
    }),
  ),
});

const seq = z.int().check(z.nonnegative());

export const historyRequestSchema: Schema<HistoryRequest> = z.object({
  before: z.optional(seq),
  limit: z.optional(z.int().check(z.positive())),
});

export const seenRequestSchema: Schema<SeenRequest> = z.object({ seq });

export const profileRequestSchema: Schema<ProfileRequest> = z.object({
  name: z.optional(z.string().check(z.overwrite(cleanName), z.minLength(1), z.maxLength(200))),
  email: z.optional(
    z
      .string()
      .check(
        z.trim(),
        z.maxLength(254, { abort: true }),
        z.regex(/^[^\s@<>"]+@[^\s@<>".]+\.[^\s@<>"]+$/),
      ),
  ),
  notify: z.optional(
    z.object({
      language: z.optional(
        z
          .string()
          .check(z.maxLength(35, { abort: true }), z.regex(/^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i)),
      ),
    }),
  ),
});

export const rateRequestSchema: Schema<RateRequest> = z.object({
  value: z.int().check(z.minimum(1), z.maximum(5)),
  comment: z.optional(z.string().check(z.trim(), z.maxLength(MAX_COMMENT))),
});

/** A schema whose output has exactly the type in events.ts. */
type Schema<Output> = z.ZodMiniType<Output>;

/** Why a well-formed message is refused; undefined if it is accepted. */
export function faultOf({ text, uploads = [] }: MessageRequest): ErrorWord | undefined {
  // The limit is in code points; the faster count of code units is never smaller.
  if (text.length > MAX_TEXT && Array.from(text).length > MAX_TEXT) return 'too_large';
  if (uploads.length > MAX_FILES) return 'too_large';
  if (new Set(uploads).size !== uploads.length) return 'invalid';
  return !isVisible(text) && uploads.length === 0 ? 'invalid' : undefined;
}

/**
 * The arrival of a visitor's message. The client chooses the message id and could choose that of
 * another customer's message, so `remote_id` and dedup key contain the visitor.
 */
export function chatArrival(
  shopId: ShopId,
  visitor: VisitorRecord,
  message: WrittenMessage & { readonly receivedAt: number },
): ChatArrival {
  const key = `${visitor.id}:${message.id}`;
  return {
    shopId,
    channel: 'web_chat',
    dedupKey: key,
    remoteId: REMOTE_ID_PREFIX + key,
    receivedAt: message.receivedAt,
    ...storedForm(visitor, message),
  };
}

const RATING_METRIC = 'chat_rating';

/**
 * The arrival of a visitor's rating of a conversation: a metric event on the conversation, because
 * an anonymous visitor has no contact (API §4.1). Each conversation has one rating.
 */
export function ratingArrival(
  { shopId, id, conversation, lane }: VisitorRecord,
  { value, comment }: RateRequest,
  conversationId: string,
  at: number,
): Arrival {
  const key = `rating/${id}/${conversation}`;
  const event: CreateEventRequest = {
    name: `Chat rated ${value} of 5`,
    ...(comment !== undefined && comment !== '' && { description: comment }),
    event_time: new Date(at).toISOString(),
    metric: {
      metric_name: RATING_METRIC,
      value,
      deduping_key: REMOTE_ID_PREFIX + key,
      metric_object_type: 'conversation',
      metric_object_id: conversationId,
    },
  };
  return eventArrival(event, { shopId, channel: 'web_chat', lane, dedupKey: key });
}
