const HOUR_MS = 3_600_000;

/**
 * The milliseconds to wait according to a `Retry-After` header (RFC 9110 §10.2.3): seconds or an
 * HTTP-date. Between zero and one hour; undefined for any other value, and for a longer wait, which no
 * server means for one request.
 *
 * Seconds may have any number of digits. `Date.parse` is called only for values that begin like a
 * date, because it would read "-5" as a year.
 */
export function parseRetryAfter(
  value: string | null | undefined,
  nowMs: number,
): number | undefined {
  const text = value?.trim() ?? '';
  const isDate = /^[A-Za-z]{3,9},? /.test(text);
  if (!isDate && !/^\d+(\.\d+)?$/.test(text)) return undefined;
  const ms = isDate ? Date.parse(text) - nowMs : Number(text) * 1000;
  return ms >= 0 && ms <= HOUR_MS ? ms : undefined;
}
