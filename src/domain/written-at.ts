const OLDEST_MS = 30 * 24 * 60 * 60 * 1000;
const AHEAD_MS = 5 * 60 * 1000;

/**
 * When a message was written: what it says itself, if that is between 30 days before the arrival
 * and 5 minutes after it; otherwise the arrival. All in milliseconds since the epoch.
 * @param claimed NaN if it says nothing that can be read
 */
export const writtenAt = (claimed: number, receivedAt: number): number =>
  claimed >= receivedAt - OLDEST_MS && claimed <= receivedAt + AHEAD_MS ? claimed : receivedAt;
