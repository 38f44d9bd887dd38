import { timingSafeEqual } from 'node:crypto';

/** Whether two secrets are equal, without telling by the time it takes where they differ. */
export function areEqualSecrets(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
