const STEP_MS = 50;

/**
 * Calls back after `ms` during which this thread ran. If it gets no processor time, a timer fires
 * late, and before the answers are read that arrived meanwhile. So the time is counted in steps
 * with a turn of the event loop between them, and a late step counts as if it had been on time.
 * @param counts whether the current step counts
 * @returns cancels it
 */
export function afterNoticed(ms: number, callback: () => void, counts = () => true): () => void {
  const stepMs = Math.min(STEP_MS, ms);
  let leftMs = ms;
  const timer = setInterval(() => {
    if (counts()) leftMs -= stepMs;
    if (leftMs > 0) return;
    clearInterval(timer);
    callback();
  }, stepMs).unref();
  return () => clearInterval(timer);
}
