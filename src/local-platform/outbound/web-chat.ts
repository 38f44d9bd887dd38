import type { Outbound } from './outbound.ts';

/**
 * Web chat has nothing to send: a stored reply is published on the socket at once, and the visitor's
 * gateway reads the list of messages.
 */
export const webChat: Outbound = {
  inOrder: true,
  canRepeat: true,
  send: () => Promise.resolve({}),
};
