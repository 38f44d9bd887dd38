import { type ReadonlySignal, signal } from '@preact/signals-core';
import type { Settings } from '../../settings.ts';
import type { Parts } from '../part/part.tsx';

const CHECK_EVERY_MS = 60_000;

/**
 * When the shop opens next; undefined while it is open, and without opening hours. What reads the
 * opening hours is loaded only for shops that have some.
 */
export function watchHours(
  { hours }: Settings,
  { away }: Parts,
  removed: AbortSignal,
): ReadonlySignal<number | undefined> {
  const awayUntil = signal<number | undefined>(undefined);
  const check = async (): Promise<void> => {
    if (!hours) return;
    const { nextOpening } = await away();
    awayUntil.value = nextOpening(hours, Date.now());
  };
  // Without the file, the shop counts as open; the next check tries again.
  const tick = (): void => void check().catch(() => undefined);
  if (hours) {
    tick();
    const timer = setInterval(tick, CHECK_EVERY_MS);
    removed.addEventListener('abort', () => clearInterval(timer));
  }
  return awayUntil;
}
