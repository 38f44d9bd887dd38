import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const SECOND = 1000;

export interface HttpListener {
  readonly server: Server;
  listen(host: string, port: number): Promise<number>;
  /** No new connections; requests in flight get `graceMs`, idle connections none. */
  stop(graceMs: number): Promise<void>;
}

/** An HTTP server with bounds on slow clients, and an end. */
export function createHttpListener(onRequest: RequestListener): HttpListener {
  const server = createServer(
    {
      headersTimeout: 15 * SECOND,
      // An upload of 25 MiB over a poor line; the routes have tighter bounds of their own.
      requestTimeout: 300 * SECOND,
      keepAliveTimeout: 65 * SECOND,
      connectionsCheckingInterval: 5 * SECOND,
      maxHeaderSize: 16 * 1024,
    },
    onRequest,
  );
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    else socket.destroy();
  });
  return {
    server,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          // Later errors (EMFILE on accept) pass; each connection has its own end.
          server.on('error', () => undefined);
          // A listening TCP server has an AddressInfo; the other types are for pipes.
          resolve((server.address() as AddressInfo).port);
        });
      }),
    stop: async (graceMs) => {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
