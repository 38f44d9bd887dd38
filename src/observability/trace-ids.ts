import { createHash } from 'node:crypto';

/**
 * The trace of an entry is its id without the dashes: a UUID is as long as a trace id (W3C Trace
 * Context §3.2.2.3), every process finds the same one, and an operator can paste it either way.
 */
export function traceIdOf(entryId: string): string {
  const id = entryId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : hashed(entryId, 32);
}

/** The span of the intake, below which all attempts are, in whatever process. */
export const intakeSpanIdOf = (entryId: string): string => hashed(`intake/${entryId}`, 16);

/** Whether an entry is traced: of a share of 0.1, the same tenth of all entries in every process. */
export function isSampled(entryId: string, ratio: number): boolean {
  if (ratio >= 1) return true;
  return parseInt(hashed(`sample/${entryId}`, 8), 16) / 2 ** 32 < ratio;
}

/** When a UUID of version 7 was made (RFC 9562 §5.7), in milliseconds since the epoch. */
export function madeAt(entryId: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(entryId) ?? [];
  return high === undefined || low === undefined ? undefined : parseInt(high + low, 16);
}

const hashed = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
