import type { HealthPart, PartHealth } from '../spool/shop-health.ts';

/** What is sent to each endpoint, for people. */
export const PART_WORDS: Readonly<Record<HealthPart, string>> = {
  messages: 'messages',
  media: 'attachments',
};

export type ShopState = 'flows' | 'in doubt' | 'stopped' | 'stopped (reads fail)' | 'being tried';

/** @param isServed a gateway is running; otherwise no probe can be under way */
export function stateWords(
  { state, probing, readsFail }: Pick<PartHealth, 'state' | 'probing' | 'readsFail'>,
  isServed: boolean,
): ShopState {
  if (state === 'steady') return 'flows';
  if (probing && isServed) return 'being tried';
  if (state === 'doubted') return 'in doubt';
  return readsFail ? 'stopped (reads fail)' : 'stopped';
}
