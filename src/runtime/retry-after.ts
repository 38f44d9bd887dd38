const HOUR_MS = 3_600_000;

/**
 * Milliseconds to wait according to a `Retry-After` header (RFC 9110 §10.2.3): seconds or an
 * HTTP-date. At most one hour, never negative; undefined for anything else.
 *
 * Seconds may have any number of digits. Only what begins like a date is given to `Date.parse`,
 * which would make a year of "-5".
 */
export function parseRetryAfter(
  value: string | null | undefined,
  nowMs: number,
): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, HOUR_MS);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - nowMs, 0), HOUR_MS);
}
