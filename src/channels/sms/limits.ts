import { hash } from 'node:crypto';
import type { Verdict } from '../../intake/normalizer.ts';
import type { Entry } from '../../spool/entry.ts';
import type { CountedMessage, RateLimit, RateLimits } from '../../spool/sender-rates.ts';
import { subscriberOf } from './address.ts';

/** Shorter texts ("Yes", "Thank you") are sent again and again by people too. */
const TELLING_CHARS = 20;

/** Counts a message of a person, once; answers the limit that it is over. */
export type CountMessage = (
  message: CountedMessage,
  limits: RateLimits,
) => Promise<RateLimit | undefined>;

/**
 * Holds messages of one number over the shop's limits: a flood, or a machine that answers ours. Call
 * it only for messages that would be submitted. One person is counted under both forms of
 * their number, and on all of a shop's numbers and transports together.
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
  return limit === undefined ? undefined : { kind: 'held', reason: `loop: ${limit}` };
}

/**
 * A key of what the person sent; undefined when it is too short to show a machine. Each medium
 * has a SID of its own, so five pictures under one caption are five bodies.
 */
function bodyKey(content: string, media: readonly string[]): string | undefined {
  const text = content.trim();
  if (Array.from(text).length < TELLING_CHARS) return undefined;
  return hash('sha256', [text, ...media].join('\0'));
}
