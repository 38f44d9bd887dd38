import type { Response } from 'express';

/** Answers with JSON. Written with `end`: `send` costs a hash and a content negotiation more. */
export function sendJson(
  response: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const fault: unknown = response.locals['fault'];
  if (fault === 'reset-after-commit') response.socket?.resetAndDestroy();
  else if (fault === 'empty' && status < 300) sendRaw(response, 201, '');
  else {
    sendRaw(response, status, JSON.stringify(body), {
      'Content-Type': 'application/json; charset=utf-8',
      ...headers,
    });
  }
}

export function sendRaw(
  response: Response,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // A client that has gone, or an answer that is under way, leaves nothing to say.
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(text);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}
