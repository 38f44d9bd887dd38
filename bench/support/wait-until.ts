import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 20;

/** Resolves with the first value that is not undefined. @throws after `withinMs` */
export async function waitUntil<Value>(
  what: string,
  withinMs: number,
  look: () => Promise<Value | undefined> | Value | undefined,
): Promise<Value> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await delay(EVERY_MS);
  }
}

/** The time of day with fractions of a millisecond, comparable across processes. */
export const timeOfDay = (): number => performance.timeOrigin + performance.now();
