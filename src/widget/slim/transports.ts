import { Fetch, WebSocket } from 'socket.io-client';

/**
 * The ways that the gateway offers: no WebTransport, and one kind of polling.
 * Looked up when they are asked for, as this module comes before theirs.
 */
export const transports = {
  get websocket() {
    return WebSocket;
  },
  get polling() {
    return Fetch;
  },
};

/** What engine.io-client would export as its own. */
export const WT = undefined;
