import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ipNetwork, type Networks } from '../../runtime/ip-addresses.ts';
import { SmtpRefusal } from './refusals.ts';

export interface MessageRateOptions {
  readonly messages: number;
  readonly perMs: number;
}

/**
 * Counts the messages that each client begins; trusted relays have no limit.
 * The function rejects with the refusal `rate` when the client is over it.
 */
export function createMessageRate(
  { messages, perMs }: MessageRateOptions,
  trusted: Networks,
): (remoteAddress: string) => Promise<void> {
  const rate = new RateLimiterMemory({ points: messages, duration: perMs / 1000 });
  return async (remoteAddress) => {
    if (trusted.has(remoteAddress)) return;
    try {
      await rate.consume(ipNetwork(remoteAddress));
    } catch (error) {
      // The limiter rejects with its own verdict, which is no Error.
      throw error instanceof RateLimiterRes ? new SmtpRefusal('rate') : error;
    }
  };
}
