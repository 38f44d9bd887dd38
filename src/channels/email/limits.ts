import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ipNetwork, type Networks } from '../../runtime/ip-addresses.ts';
import { SmtpRefusal } from './refusals.ts';

export interface MessageRateOptions {
  readonly messages: number;
  readonly perMs: number;
}

/**
 * Counts the messages that each client begins; trusted relays have no limit. The returned function
 * rejects with the refusal `rate` if the client is above it.
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
      // The limiter rejects with its own result, which is not an Error.
      throw error instanceof RateLimiterRes ? new SmtpRefusal('rate') : error;
    }
  };
}
