import { signal } from '@preact/signals';

/** The time, each second: whatever shows an age reads it. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1_000);
