import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

const STATUS: Readonly<Record<string, [status: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'too_large',
    'the headers and the query are larger than 64 KiB',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'invalid',
    'the request did not arrive in time',
  ],
};

/**
 * Answers what Node cannot read as a request, in the form of any other error: above all a query
 * that is too long, such as a filter with a thousand ids.
 */
export function refuseUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, code, message] = STATUS[error.code ?? ''] ?? [
      '400 Bad Request',
      'invalid',
      'the request is not HTTP',
    ];
    const body = JSON.stringify({ error: { code, message, fields: {} } });
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
