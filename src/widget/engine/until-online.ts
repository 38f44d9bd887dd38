import type { ReadonlySignal } from '@preact/signals-core';
import type { Connection } from './chat.ts';

/** Resolves when there is a connection, when none is to be expected, or after a while without. */
export async function untilOnline(
  connection: ReadonlySignal<Connection>,
  timeoutMs: number,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let unsubscribe: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
    unsubscribe = connection.subscribe(({ state }) => {
      if (state === 'online' || state === 'idle') resolve();
    });
  });
  clearTimeout(timer);
  unsubscribe?.();
}
