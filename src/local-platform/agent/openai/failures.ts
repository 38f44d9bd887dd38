import { APIConnectionError, APIError } from 'openai';
import { parseRetryAfter } from '../../../runtime/retry-after.ts';
import { AgentUnavailable } from '../agent.ts';
import { BrokenStream } from './completion.ts';

/** The request itself was refused: the same one will be again, another may not. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
  readonly code: string;

  constructor(status: number, cause: unknown) {
    super('the endpoint refused the request', { cause });
    this.code = `http_${status}`;
  }
}

/** Its answer went on for longer than any answer does. */
export class EndlessAnswer extends Error {
  override name = 'EndlessAnswer';
}

/**
 * What a failed request means:
 *
 * | the endpoint | then |
 * | --- | --- |
 * | is not reached, breaks off, stalls, 408, 409, 425, 429, 5xx | `AgentUnavailable`, passing |
 * | 401, 402, 403, 404, 405, 3xx: key, account, URL or model are wrong | `AgentUnavailable`, not passing |
 * | other 4xx: it does not like this request | `RequestRefused` |
 *
 * @param nowMs milliseconds since the epoch, for a Retry-After that is a date
 */
export function failureOf(error: unknown, nowMs: number): Error {
  if (error instanceof APIConnectionError)
    return new AgentUnavailable('no_connection', bare(error));
  if (error instanceof APIError) {
    // What the class leaves open: there is neither when the stream itself says that it failed.
    const { status, headers } = error as Pick<APIError, 'status' | 'headers'>;
    if (status !== undefined) return statusFailure(status, headers, error, nowMs);
  }
  if (error instanceof BrokenStream) return new AgentUnavailable('broken_stream', { cause: error });
  // An event of the stream that says there was an error; JSON that is none; a body that broke off.
  return new AgentUnavailable('broken_stream', bare(error));
}

function statusFailure(
  status: number,
  headers: Headers | undefined,
  error: unknown,
  nowMs: number,
): Error {
  const code = `http_${status}`;
  if (status >= 500 || [408, 409, 425, 429].includes(status)) {
    const retryAfterMs = parseRetryAfter(headers?.get('retry-after'), nowMs);
    return new AgentUnavailable(code, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  if (status < 400 || [401, 402, 403, 404, 405].includes(status)) {
    return new AgentUnavailable(code, { isPassing: false });
  }
  return new RequestRefused(status, bare(error).cause);
}

/** The package's errors carry the answer's headers and text: only their kind goes on from here. */
function bare(error: unknown): { cause: Error } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  const kind = new Error('the request failed');
  kind.name = cause instanceof Error ? cause.name : typeof cause;
  return { cause: code === undefined ? kind : Object.assign(kind, { code }) };
}
