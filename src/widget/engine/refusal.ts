import type { HandshakeCode } from '../../channels/chat/events.ts';

/** Why a server did not let us in, and when it may. */
export interface Refusal {
  readonly code: HandshakeCode;
  /** Seconds. */
  readonly retryAfter?: number;
}

const CODES: readonly unknown[] = [
  'unknown_key',
  'origin',
  'bad_identity',
  'rate_limited',
  'busy',
] satisfies HandshakeCode[];

/**
 * Reads a `connect_error`. The handshake's own refusal comes in `data`; one of the HTTP request
 * below it is the answer's body, which only long polling gets to see.
 * @returns undefined for an error of the network
 */
export function refusalOf(error: unknown): Refusal | undefined {
  const { data, context } = asRecord(error);
  const { code, retryAfter } = asRecord(data);
  if (isCode(code)) return { code, ...(typeof retryAfter === 'number' && { retryAfter }) };
  const { message } = asRecord(bodyOf(context));
  return isCode(message) ? { code: message } : undefined;
}

const isCode = (value: unknown): value is HandshakeCode => CODES.includes(value);

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function bodyOf(request: unknown): unknown {
  try {
    // A body of another type makes this getter throw.
    const { responseText } = asRecord(request);
    return typeof responseText === 'string' ? JSON.parse(responseText) : undefined;
  } catch {
    return undefined;
  }
}
