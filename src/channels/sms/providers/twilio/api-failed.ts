import { parseRetryAfter } from '../../../../runtime/retry-after.ts';

/** A request to Twilio's REST API that failed. `message` is a short reason that may stand in a log. */
export class ApiFailed extends Error {
  override name = 'ApiFailed';
  /**
   * `later`: it may work another time. `credentials`: Twilio refused ours.
   * `never`: not the same request again.
   */
  readonly kind: 'later' | 'credentials' | 'never';
  readonly retryAfterMs: number | undefined;
  constructor(kind: ApiFailed['kind'], reason: string, retryAfterMs?: number) {
    super(reason);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * What a status that is no success means (Twilio, "Twilio's response" and "REST API: errors").
 * Undefined for 200.
 */
export function failureOf(
  status: number,
  retryAfter: string | undefined,
  now: number,
): ApiFailed | undefined {
  if (status === 200) return undefined;
  const reason = `http-${status}`;
  if (status === 401 || status === 403) return new ApiFailed('credentials', reason);
  const mayPass = status < 400 || [408, 425, 429].includes(status) || status >= 500;
  return mayPass
    ? new ApiFailed('later', reason, parseRetryAfter(retryAfter, now))
    : new ApiFailed('never', reason);
}
