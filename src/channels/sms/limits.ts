import { hash } from 'node:crypto';
import type { Verdict } from '../../intake/normalizer.ts';
import type { Entry } from '../../spool/entry.ts';
import type { CountedMessage, RateLimit, RateLimits } from '../../spool/sender-rates.ts';
import { subscriberOf } from '../../domain/phone-forms.ts';

/** People also repeat shorter texts ("Yes", "Thank you"). */
const MIN_REPEAT_CHARS = 20;

/** Counts a person's message, once; returns the limit that is exceeded. */
export type CountMessage = (
  message: CountedMessage,
  limits: RateLimits,
) => Promise<RateLimit | undefined>;

/**
 * Holds messages of a number above the shop's limits: a flood, or a machine that answers ours. Call
 * it only for messages that would be submitted. A person is counted under both forms of their
 * number, and across all of a shop's numbers and transports.
 */
export async function floodHold(
  { shopId, remoteId, receivedAt }: Entry,
  text: { readonly from: string; readonly content: string; readonly media: readonly string[] },
  limits: RateLimits,
  countMessage: CountMessage,
): Promise<Verdict | undefined> {
  const body = bodyKey(text.content, text.media);
  const limit = await countMessage(
    {
      shopId,
      message: remoteId,
      person: subscriberOf(text.from),
      ...(body !== undefined && { body }),
      at: receivedAt,
    },
    limits,
  );
  if (limit === undefined) return undefined;
  return { kind: 'held', reason: { code: 'rate_limit', params: { limit } } };
}

/**
 * A key for the content of a message; undefined if it is too short to indicate a machine. Each
 * medium has an id or URL of its own, so five pictures with the same caption are five different bodies.
 */
function bodyKey(content: string, media: readonly string[]): string | undefined {
  const text = content.trim();
  if (Array.from(text).length < MIN_REPEAT_CHARS) return undefined;
  return hash('sha256', [text, ...media].join('\0'));
}
