const HOUR_MS = 3_600_000;

/**
 * The milliseconds to wait according to a `Retry-After` header (RFC 9110 §10.2.3): seconds or an
 * HTTP-date. Between zero and one hour; undefined for any other value.
 *
 * Seconds may have any number of digits. `Date.parse` is called only for values that begin like a
 * date, because it would read "-5" as a year.
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
