const STEP_MS = 50;
/** On a quiet machine, the steps take 1.03 times as long as they should, and 1.5 times at a load of 40 on two processors. */
const STARVED_FROM = 1.2;

export interface NoticedTime {
  readonly cancel: () => void;
  /** This thread did not get the processor time that it needed. */
  readonly isStarved: () => boolean;
}

/**
 * Calls back after `ms` during which this thread ran. If it gets no processor time, a timer fires
 * late, and before the answers are read that arrived meanwhile. So the time is counted in steps
 * with a turn of the event loop between them, and a late step counts as if it had been on time.
 * @param counts whether the current step counts
 */
export function afterNoticed(
  ms: number,
  callback: (time: NoticedTime) => void,
  counts = () => true,
): NoticedTime {
  const stepMs = Math.min(STEP_MS, ms);
  const startedAt = performance.now();
  let leftMs = ms;
  let stepsMs = 0;
  const timer = setInterval(() => {
    stepsMs += stepMs;
    if (counts()) leftMs -= stepMs;
    if (leftMs > 0) return;
    time.cancel();
    callback(time);
  }, stepMs).unref();
  const time: NoticedTime = {
    cancel: () => clearInterval(timer),
    isStarved: () => performance.now() - startedAt > STARVED_FROM * stepsMs + STEP_MS,
  };
  return time;
}
