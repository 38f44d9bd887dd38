const OLDEST_MS = 30 * 24 * 60 * 60 * 1000;
const AHEAD_MS = 5 * 60 * 1000;
const MAX_DATE_LENGTH = 100;

/**
 * When a message was written: its Date header, when that lies between 30 days before the arrival
 * and 5 minutes after it; else the arrival. Milliseconds since the epoch.
 */
export function readSentAt(date: string | undefined, receivedAt: number): number {
  const sentAt = parseDate(date);
  if (sentAt === undefined) return receivedAt;
  return sentAt >= receivedAt - OLDEST_MS && sentAt <= receivedAt + AHEAD_MS ? sentAt : receivedAt;
}

/** RFC 5322 §3.3, comments aside; without a zone the time is read as UTC (§4.3: `-0000`). */
function parseDate(date: string | undefined): number | undefined {
  const text = date
    ?.slice(0, MAX_DATE_LENGTH)
    .replace(/\([^()]*\)/g, ' ')
    .trim();
  if (text === undefined || text === '') return undefined;
  const zoned = /(?:[+-]\d{4}|\b[A-Z]{1,4}|Z)$/i.test(text) ? text : `${text} +0000`;
  const time = Date.parse(zoned);
  return Number.isNaN(time) ? undefined : time;
}
