import { signal } from '@preact/signals';

/** Smaller differences are ignored: they may come from the duration of the request. */
const TOLERANCE_MS = 5_000;
/** How far the gateway's clock is ahead of the browser's. */
let aheadMs = 0;

/** The current time by the gateway's clock; all times on the page use it. */
export const gatewayNow = (): number => Date.now() + aheadMs;

/** `gatewayNow()`, updated every second. Components that show an age read it. */
export const now = signal(gatewayNow());
const tick = (): void => {
  now.value = gatewayNow();
};
setInterval(tick, 1_000);

/** Sets the clock from a time in a response of the gateway. */
export function setClock(at: number): void {
  const ahead = at - Date.now();
  if (Math.abs(ahead - aheadMs) < TOLERANCE_MS) return;
  aheadMs = Math.abs(ahead) < TOLERANCE_MS ? 0 : ahead;
  tick();
}
