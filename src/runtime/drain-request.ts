import type { IncomingMessage } from 'node:http';

/** How long a refused body is still read, so that the answer gets through. */
const DRAIN_TIMEOUT_MS = 10_000;

/**
 * Reads on for a while after a refusal. A connection that is closed on a client that still sends
 * is reset, and the reset overtakes the answer.
 */
export function drainRequest(request: IncomingMessage, maxBytes: number): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), DRAIN_TIMEOUT_MS);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) request.destroy();
  });
  request.on('error', () => undefined);
  request.on('close', () => clearTimeout(timer));
  request.resume();
}
