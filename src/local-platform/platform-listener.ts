import type { RequestListener } from 'node:http';
import {
  createHttpListener,
  type HttpListener,
  type RefusedStatus,
} from '../runtime/http-listener.ts';
import { LIMITS } from './open-points.ts';

const WORDS: Readonly<Record<RefusedStatus, readonly [code: string, message: string]>> = {
  400: ['invalid', 'the request is not HTTP'],
  408: ['invalid', 'the request did not arrive in time'],
  413: ['too_large', 'the chunk extensions of the body are too large'],
  431: ['too_large', 'the headers and the query are larger than 64 KiB'],
  503: ['unavailable', 'too many connections are open'],
};

/**
 * Answers what cannot be read as a request in the form of any other error: above all a query that
 * is too long, such as a filter with a thousand ids. All its clients are on this machine, the
 * gateway among them, so that none has a limit of its own.
 */
export function createPlatformListener(app: RequestListener): HttpListener {
  return createHttpListener(app, {
    maxHeaderBytes: LIMITS.headersMaxBytes,
    trusted: { has: () => true },
    finalAnswer: (status) => {
      const [code, message] = WORDS[status];
      return {
        type: 'application/json; charset=utf-8',
        body: JSON.stringify({ error: { code, message, fields: {} } }),
      };
    },
  });
}
