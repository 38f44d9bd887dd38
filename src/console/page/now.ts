import { signal } from '@preact/signals';

/** Differences below this are ignored, since the answer itself takes time. */
const SAME_MS = 5_000;
/** How far the gateway's clock is ahead of this machine's. */
let aheadMs = 0;

/** The time of the gateway, by whose clock every time on the page is. */
export const gatewayNow = (): number => Date.now() + aheadMs;

/** The gateway's time, updated each second, for everything that shows an age. */
export const now = signal(gatewayNow());
const tick = (): void => {
  now.value = gatewayNow();
};
setInterval(tick, 1_000);

/** The gateway has just said what time it is. */
export function setClock(at: number): void {
  const ahead = at - Date.now();
  if (Math.abs(ahead - aheadMs) < SAME_MS) return;
  aheadMs = Math.abs(ahead) < SAME_MS ? 0 : ahead;
  tick();
}
